/** The words of a text that carry its content, in any script. */

export interface Word {
  /** Equal for the forms of one word, as far as its ending tells. */
  readonly stem: string;
  /** An identifier, a path, a number: it is a fact, not wording. */
  readonly hard: boolean;
  /** It says how one thinks, not what one thinks of. */
  readonly musing: boolean;
}

/** Words that every English text is full of. */
const EMPTY_ENGLISH =
  "the and for that this with from have has had will would should could shall may might must can cannot not but are was were been being its it's into onto then than there here when where what which who why how also just only very much more most some any all both each other another such same own too yet still even ever now you your they them their these those she him her our out over under about after before while until unless because since though although however therefore thus hence does did done doing whether either neither nor per via one two";
/** Words with which a mind is turned over, or help is offered: they say little, but they say it. */
const MUSING_ENGLISH =
  "once again maybe perhaps actually really let lets let's i'll i'm i've get got gets getting make makes made making need needs needed want wants think thinks thought know knows seems seem look looks looking okay hmm wait well right sure yes yeah like going first second next last step way thing things something anything everything nothing able use used using";
/** The same for some other languages whose function words are long. */
const EMPTY_OTHERS = [
  "und der die das den dem des ein eine einen einem einer eines nicht auch noch aber oder wenn dann weil denn dass wird werden wurde worden kann könnte könnten sollte sollten muss müssen haben hat hatte sein sind ist war waren mit von für auf aus bei nach über unter sich also jetzt wieder mal doch nur sehr wir ich sie ihr mir mich uns wie was hier vielleicht immer schon einmal zum zur vom",
  "que los las una uno unos unas por con para como más pero sus este esta esto ese esa eso otra otro vez del hay está están ser son fue puede pueden debe debo cuando porque entonces quizás quizá también hace hacer voy vamos muy sin sobre entre desde hasta",
  "les des une dans pour pas sur est sont avec plus mais ses cette ces ont être fait donc aussi par qui que peut doit faut parce alors encore peut-être dois vais très sans entre comme tout tous",
  "uma não com dos das para mas pode deve então porque quando também talvez vou muito sem che non con per una sono dei del della nel nella come più anche quando perché allora forse devo molto",
  "это как что для или если также так уже ещё может быть надо нужно снова опять потом только когда потому",
].join(" ");
const EMPTY = new Set(`${EMPTY_ENGLISH} ${EMPTY_OTHERS}`.split(" "));
const MUSING = new Set(MUSING_ENGLISH.split(" "));

const TOKEN =
  /[\p{Script=Han}]+|[\p{Script=Katakana}ー]+|[\p{Script=Hiragana}]+|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+|[\p{L}\p{N}_$@][\p{L}\p{M}\p{N}_$'’./\\:@-]*/gu;
const HAN = /^\p{Script=Han}/u;
const KANA = /^[\p{Script=Katakana}ー]/u;
const HIRAGANA = /^\p{Script=Hiragana}/u;
const UNSPACED = /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Korean nouns are mostly two syllables; particles and endings follow without a space. */
const HANGUL = /^\p{Script=Hangul}/u;
/** Something that is spelled and not said: `a_b`, `aB`, `v2`, `x/y`, `f.ts`, `0x1f`. */
const SPELLED = /[_$\\@/]|\p{N}|[\p{Ll}][\p{Lu}]|[\p{L}]\.[\p{L}]/u;
/** The target of a link repeats what its label says. */
const LINK = /\]\([^)\s]*\)/g;
/** Longest piece of text that is cut into words at once. */
const LONGEST_WORD = 64;

/** The content words of a piece of text, in order. */
export function contentWords(text: string): Word[] {
  return meaningfulWords(text).filter((word) => !word.musing);
}

/** The content words and those that only muse. */
export function meaningfulWords(text: string): Word[] {
  const words: Word[] = [];
  for (const [token] of text.replace(LINK, "]").matchAll(TOKEN)) {
    if (HAN.test(token)) grams(token, 2, words);
    else if (UNSPACED.test(token)) grams(token, 3, words);
    else if (HIRAGANA.test(token)) continue;
    else if (KANA.test(token))
      words.push({ stem: token.slice(0, LONGEST_WORD), hard: false, musing: false });
    else pushSpaced(token, words);
  }
  return words;
}

/** Scripts without spaces: overlapping runs of characters stand for words. */
function grams(token: string, size: number, words: Word[]): void {
  const letters = Array.from(token);
  if (letters.length < size) return;
  for (let i = 0; i + size <= letters.length; i++) {
    words.push({ stem: letters.slice(i, i + size).join(""), hard: false, musing: false });
  }
}

function pushSpaced(token: string, words: Word[]): void {
  const bare = token.replace(/[.:'’/\\-]+$/, "").slice(0, LONGEST_WORD);
  if (SPELLED.test(bare)) {
    words.push({ stem: bare, hard: true, musing: false });
    return;
  }
  for (const part of bare.toLowerCase().split(/[-.:]/)) {
    const word = part.replace(/['’].*$/, "");
    if (word.length < 3 && !HANGUL.test(word)) continue;
    if (EMPTY.has(part) || EMPTY.has(word)) continue;
    const musing = MUSING.has(part) || MUSING.has(word);
    words.push({ stem: stemOf(word), hard: false, musing });
  }
}

/** Cuts the endings by which forms of one word differ; rough on purpose, it only has to be even. */
function stemOf(word: string): string {
  if (HANGUL.test(word)) return word.slice(0, 2);
  if (word.length <= 4) return word.replace(/s$/, "");
  const bare = word.replace(
    /(?:ations?|ingly|ments?|ings?|edly|ies|ers?|ed|es|ly|e|s|en|em|er|ung|t)$/,
    "",
  );
  return bare.length < 3 ? word : bare.slice(0, 8);
}
