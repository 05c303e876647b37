/** Tells a message that says what will be done from one that reports or answers. */

/** How an intention begins, in the languages that models are mostly used in. */
const INTENTION: readonly RegExp[] = [
  /\b(?:i['’]ll|i will|i can now|i(?:['’]m| am) (?:\w+ )?(?:going|about) to|i shall|let me|let['’]s|i['’]d like to|i need to|i should|i must|i have to|time to)\b/i,
  /\b(?:next|now|first|then)\b[,:]? (?:i|we)\b/i,
  /(?:^|[.!,] )(?:now |right,? |okay,? |so,? )*(?:starting|running|fixing|editing|updating|applying|opening|writing|creating|making|adding|sending|checking|reading|implementing|proceeding|continuing|doing|moving|going|executing|beginning)\b/i,
  /\b(?:ich (?:werde|will|muss|sollte)|lass mich|lassen sie mich|als nächstes|(?:jetzt|nun) \p{L}+ ich|ich \p{L}+e (?:jetzt|nun|gleich))\b/iu,
  /\b(?:je vais|laissez-moi|laisse-moi|maintenant,? je|voy a|vamos a|déjame|ahora|vou|deixe-me|agora|adesso|sto per)\b/i,
  /(?:我现在|现在我|现在来|让我|我来|我将|接下来|我马上|我会|我要|我先|马上)/,
  /(?:これから|今から|それでは|では、|次に|しましょう|してみます|します。?$)/,
  /(?:сейчас я|я буду|давайте|позвольте|теперь я|지금|이제|하겠습니다)/iu,
];
/** An announcement is short; a longer text that holds such words is a plan or a report. */
const LONGEST = 400;
/** Words that ask or hand over: the model waits for the user, as it should. */
const HANDOVER = /[?？]\s*$/;

export function isAnnouncement(text: string): boolean {
  const calm = text.trim();
  if (calm === "" || calm.length > LONGEST || HANDOVER.test(calm)) return false;
  return INTENTION.some((pattern) => pattern.test(calm));
}
