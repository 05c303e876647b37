/**
 * Finds sentences that say one thing in ever other words.
 *
 * Most of the latest sentences share the same few words (what is talked about) while their wording
 * differs. A form that is filled in (`Bavaria: no incidents`, `Saxony: no incidents`) shares its
 * words, too, but in the same order and with something new in each: it is no paraphrase. Of 506
 * pieces of documentation and 464 passages of recordings no honest one meets the condition.
 */

import { BoundedSet } from "../text/bounded_set.ts";

/** Sentences that are looked back at, how many of them a shared word is in, and how many such. */
const SENTENCES = 7;
const SHARED_BY = 5;
/** Items of a list among them: requirements and cases are listed in the same few words. */
const MOST_LISTED = 1;
/** A shorter sentence is a fragment and is read with the next one. */
export const FEWEST_WORDS = 3;
/** Two sentences are one form if so many words at most are not shared in the same order. */
const SLOTS = 2;
/** A short sentence has one place to fill in. */
const SHORT_FORM = 5;
/** Words of a sentence that are compared for that. */
const COMPARED = 24;
/** Of the latest sentences, so many are of one form with a sentence that fills it in again. */
const FORMS = 2;
const MOST_SENTENCES = 2_000;

/**
 * Words that most of the latest sentences must share, and for how many sentences in a row: three
 * words say soon enough that one thing is talked about, two take a sentence longer.
 */
const RULES: readonly Rule[] = [
  { shared: 3, fresh: 0.35, lasting: 2 },
  { shared: 2, fresh: 0.2, lasting: 3 },
];

interface Rule {
  readonly shared: number;
  /** Share of the words that may be new: definitions and stories share words and go on. */
  readonly fresh: number;
  readonly lasting: number;
}

/** A sentence as its content words. */
export interface Sentence {
  readonly stems: readonly string[];
  /** How many of them had not been said before. */
  readonly fresh: number;
  /** How many new identifiers and numbers it names. */
  readonly facts: number;
  /** It is an item of a list. */
  readonly listed: boolean;
  readonly at: number;
}

interface Remembered extends Sentence {
  /** It tells something, or is not worded anew: no sign of a paraphrase. */
  readonly telling: boolean;
}

export class ParaphraseWatch {
  readonly #said = new BoundedSet<string>(MOST_SENTENCES);
  #latest: Remembered[] = [];
  #lasting = RULES.map(() => 0);

  /** Takes in a sentence; says where the paraphrasing began, if it is enough. */
  push(sentence: Sentence): number | undefined {
    const known = !this.#said.add(sentence.stems.join(" "));
    const alike = this.#latest.filter((other) => isSameForm(sentence.stems, other.stems));
    const form = alike.length >= FORMS;
    const telling = sentence.facts > 0 || known || (form && sentence.fresh > 0);
    this.#latest = [...this.#latest, { ...sentence, telling }].slice(-SENTENCES);
    const shared = this.#sharedWords();
    const fresh = this.#freshShare();
    this.#lasting = RULES.map((rule, at) =>
      shared >= rule.shared && fresh <= rule.fresh ? (this.#lasting[at] as number) + 1 : 0,
    );
    const found = RULES.some((rule, at) => (this.#lasting[at] as number) >= rule.lasting);
    return found ? (this.#latest[0] as Remembered).at : undefined;
  }

  /** Something was shown in between that is no prose: what follows may speak of it. */
  interrupt(): void {
    this.#latest = [];
    this.#lasting = RULES.map(() => 0);
  }

  #freshShare(): number {
    const said = this.#latest.reduce((sum, { stems }) => sum + stems.length, 0);
    return this.#latest.reduce((sum, { fresh }) => sum + fresh, 0) / said;
  }

  /** How many words most of the latest sentences share; 0 if these tell anything. */
  #sharedWords(): number {
    if (this.#latest.length < SENTENCES || this.#latest.some(({ telling }) => telling)) return 0;
    if (this.#latest.filter(({ listed }) => listed).length > MOST_LISTED) return 0;
    const shared = new Map<string, number>();
    for (const { stems } of this.#latest) {
      for (const stem of new Set(stems)) shared.set(stem, (shared.get(stem) ?? 0) + 1);
    }
    return [...shared.values()].filter((n) => n >= SHARED_BY).length;
  }
}

/** Compares by the longest common subsequence. */
function isSameForm(one: readonly string[], other: readonly string[]): boolean {
  const long = Math.min(COMPARED, Math.max(one.length, other.length));
  let row = new Array<number>(COMPARED + 1).fill(0);
  for (const stem of one.slice(0, COMPARED)) {
    const next = [0];
    for (let at = 1; at <= COMPARED; at++) {
      const same = other[at - 1] === stem;
      const best = Math.max(row[at] as number, next[at - 1] as number);
      next.push(same ? (row[at - 1] as number) + 1 : best);
    }
    row = next;
  }
  return long - (row[COMPARED] as number) <= (long < SHORT_FORM ? 1 : SLOTS);
}
