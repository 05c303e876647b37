/**
 * Watches what is said from message to message while nothing is done: the same plan in other
 * words, the same intention without the act.
 *
 * Everything is forgotten as soon as a call brings something or the user speaks. A thought before
 * each of many different steps (row 18) is therefore never compared with the one before.
 */

import { BoundedSet } from "../text/bounded_set.ts";
import { contentWords, type Word } from "../text/words.ts";
import { isAnnouncement } from "./announcement.ts";

/** Why the message that streams in should be stopped. */
export type Standstill = "same plan" | "no action";

/**
 * Share of a message's content words that must have been said before, since anything was done, for
 * it to say nothing new. Labelled plans in other words reach 0.55 to 1 from the second message on,
 * labelled messages on different topics stay under 0.25.
 */
const WORN = 0.55;
/** Messages in a row that said nothing new before the next one is stopped. */
const SAME_PLANS = 3;
/** Announcements in a row, nothing done in between, before the next one is stopped. */
const ANNOUNCEMENTS = 3;
/** A message of this length that says what was announced is one more announcement. */
const SHORT = 120;
const FEWEST_SHORT = 2;
/** Content words that a message must have for its wording to tell anything. */
const FEWEST_WORDS = 4;
/** Content words of the streaming message after which it can be judged. */
const JUDGED_FROM = 5;
const MOST_WORDS = 5_000;
const LONGEST_TEXT = 2_000;

export class Deliberation {
  readonly #said = new BoundedSet<string>(MOST_WORDS);
  /** What was announced since anything was done; a prompt does not make it done. */
  readonly #announced = new BoundedSet<string>(MOST_WORDS);
  #samePlans = 0;
  #announcements = 0;
  #prompted = false;
  #message = new Message();

  messageStart(): void {
    this.#message = new Message();
  }

  /** Takes in new characters of the message; says whether it should be stopped. */
  text(stream: "thinking" | "output", piece: string): Standstill | undefined {
    this.#message.add(stream, piece);
    if (
      this.#samePlans >= SAME_PLANS &&
      this.#message.words.length >= JUDGED_FROM &&
      this.#isWorn()
    ) {
      return "same plan";
    }
    return this.#announcements >= ANNOUNCEMENTS && this.#announces() ? "no action" : undefined;
  }

  /** The message is complete. `calls` counts the tool calls that it holds. */
  messageEnd(calls: number): void {
    const message = this.#message;
    message.finish();
    if (message.isEmpty) return;
    if (message.words.length >= FEWEST_WORDS) {
      this.#samePlans = this.#isWorn() ? this.#samePlans + 1 : 0;
    }
    for (const word of message.words) this.#said.add(word.stem);
    if (calls > 0) this.acted();
    else if (message.output.trim() !== "") this.#countAnnouncement();
  }

  /** A call was made: whatever comes of it, the intention was followed. */
  acted(): void {
    this.#announcements = 0;
    this.#announced.clear();
    this.#prompted = false;
  }

  /** Something new came in. */
  progress(): void {
    this.#said.clear();
    this.#samePlans = 0;
    this.acted();
  }

  /** The user spoke: plans are made anew, but what was announced is still to be done. */
  prompt(): void {
    this.#said.clear();
    this.#samePlans = 0;
    this.#prompted = true;
  }

  get status(): string {
    return `${this.#samePlans} messages in a row said nothing new`;
  }

  #countAnnouncement(): void {
    const { words, output } = this.#message;
    const again = this.#announces();
    if (!again) this.acted();
    if (!again && !isAnnouncement(output)) return;
    this.#announcements++;
    for (const word of words) this.#announced.add(word.stem);
  }

  /** After a prompt only the same intention counts: the user may have asked for plans. */
  #announces(): boolean {
    const { words, output } = this.#message;
    const known = knownShare(words, this.#announced) >= WORN;
    if (isAnnouncement(output)) return known || !this.#prompted;
    // The same short words without the usual beginning: "Executing the tests now."
    const short = words.length >= FEWEST_SHORT && output.length <= SHORT;
    return known && short && this.#announcements > 0;
  }

  #isWorn(): boolean {
    const words = this.#message.words;
    const facts = words.filter((word) => word.hard && !this.#said.has(word.stem)).length;
    return facts <= 1 && knownShare(words, this.#said) >= WORN;
  }
}

/** Share of the words that were said before; nothing said is nothing new. */
function knownShare(words: readonly Word[], said: BoundedSet<string>): number {
  if (words.length === 0) return 1;
  return words.filter((word) => said.has(word.stem)).length / words.length;
}

/** What one message says, cut to a bounded length. */
class Message {
  output = "";
  words: Word[] = [];
  #open = { thinking: "", output: "" };
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(stream: "thinking" | "output", piece: string): void {
    if (piece.trim() !== "") this.#length += piece.length;
    if (this.#length > LONGEST_TEXT) return;
    if (stream === "output") this.output += piece;
    const text = this.#open[stream] + piece;
    // The last word may not be complete: it waits for what follows.
    const cut = Math.max(text.lastIndexOf(" "), text.lastIndexOf("\n"), lastUnspaced(text));
    this.words.push(...contentWords(text.slice(0, cut + 1)));
    this.#open[stream] = text.slice(cut + 1);
  }

  finish(): void {
    this.words.push(...contentWords(this.#open.thinking), ...contentWords(this.#open.output));
    this.#open = { thinking: "", output: "" };
  }
}

function lastUnspaced(text: string): number {
  return Math.max(text.lastIndexOf("。"), text.lastIndexOf("，"), text.lastIndexOf("、"));
}
