/**
 * Finds text that says the same over and over in other words.
 *
 * Two numbers over the latest content words tell it from honest text: how many of them are
 * different from each other, and how many had not been said before. Measured over some thirty
 * words, the sum of both shares is 1.0 and more in labelled honest prose, above 0.78 in every honest
 * passage of the recordings, and falls to 0.2 to 0.7 in the labelled drifting ones.
 * New identifiers and numbers are facts: while they come, nothing is turned over.
 */

import { BoundedSet } from "../text/bounded_set.ts";
import { contentWords, meaningfulWords, type Word } from "../text/words.ts";
import { NumberWatch } from "./numbers.ts";
import { FEWEST_WORDS, ParaphraseWatch } from "./paraphrase.ts";

export interface WordingLimits {
  /** Content words that are looked back at. */
  readonly window: number;
  /** Highest sum of the two shares that counts as turning over. */
  readonly sum: number;
  /** Words in a row, at most, that the sum must have stayed under the limit. */
  readonly lasting: number;
}

/**
 * Words with which a mind goes back on itself. Three of them in a window, and the other signs may be
 * a little weaker: labelled honest reasoning uses them as often, but its sum stays above 1.
 */
const CUES =
  /\b(?:wait|hmm+|again|actually|once more|one more time|reconsider|on second thought|alternatively|then again|but then|let me (?:re-?\w+|think|check|look|see)|moment|noch einmal|wieder|doch|vielleicht|encore|peut-être|otra vez|quizás|снова|опять|может быть)\b|再|还是|重新|也许|もう一度|やはり|かもしれ/giu;
const MANY_CUES = 3;
const CUE_ALLOWANCE = 0.14;
const CUE_WINDOW = 0.75;
/** Words of scripts without spaces are overlapping pairs of characters: they vary more. */
const GRAM_ALLOWANCE = 0.3;
/**
 * Honest text that comes to its end repeats what it said: the longer it was, the longer it may.
 * Documentation and licences of up to 20,000 characters decided this number.
 */
const EARNED = 10;
const SHORT_TEXT = 120;
const MOST_WORDS = 20_000;
/**
 * Not one new word for so many words, and for more than twice as many as there are different ones:
 * whatever the text is, it goes round (labelled: lists in permuted order, reworded lists).
 */
const WORN_OUT = 60;
const WORN_ROUNDS = 1.75;

export class WordingWatch {
  readonly #limits: WordingLimits;
  readonly #seen = new BoundedSet<string>(MOST_WORDS);
  readonly #counts = new Map<string, number>();
  readonly #window: {
    stem: string;
    fresh: boolean;
    gram: boolean;
    listed: boolean;
    cues: number;
    at: number;
  }[] = [];
  readonly #paraphrase = new ParaphraseWatch();
  #sentence: { stems: string[]; fresh: number; facts: number } = { stems: [], fresh: 0, facts: 0 };
  readonly #numbers = new NumberWatch();
  #head = 0;
  #fresh = 0;
  #grams = 0;
  #listed = 0;
  #facts = 0;
  #total = 0;
  #cues = 0;
  #low = 0;
  #sinceFact = 0;
  #sinceFresh = 0;
  #lastNumber = Number.NaN;

  constructor(limits: WordingLimits) {
    this.#limits = limits;
  }

  /**
   * Takes in a phrase that begins at `at`; says where the turning over began, if it is enough.
   *
   * @param listed it is part of an item of a list
   * @param closes a sentence ends with it
   */
  push(phrase: string, at: number, listed: boolean, closes: boolean): number | undefined {
    let cues = phrase.match(CUES)?.length ?? 0;
    for (const word of meaningfulWords(phrase)) {
      if (word.musing) {
        this.#sentence.stems.push(word.stem);
        continue;
      }
      this.#take(word, at, listed, cues);
      cues = 0;
      if (this.#isTurningOver() || this.#isWornOut()) return this.#oldest();
    }
    return closes ? this.#endSentence(at, listed) : undefined;
  }

  /** Takes in text that repeats by nature (code, tables): only what is new in it counts. */
  pass(text: string): void {
    for (const word of contentWords(text)) {
      if (!this.#seen.add(word.stem)) continue;
      this.#sinceFresh = 0;
      this.#sinceFact = 0;
      if (word.hard) this.#facts++;
      this.#paraphrase.interrupt();
    }
  }

  /** How many new identifiers and numbers have been named so far. */
  get facts(): number {
    return this.#facts;
  }

  #endSentence(at: number, listed: boolean): number | undefined {
    const { stems, fresh, facts } = this.#sentence;
    if (stems.length < FEWEST_WORDS) return undefined;
    this.#sentence = { stems: [], fresh: 0, facts: 0 };
    const news = this.#numbers.areNews(stems.filter((stem) => /^\d+$/.test(stem)));
    if (news) this.#sinceFact = 0;
    return this.#paraphrase.push({ stems, fresh, facts: facts + (news ? 1 : 0), listed, at });
  }

  #take(word: Word, at: number, listed: boolean, cues: number): void {
    const fresh = this.#seen.add(word.stem);
    this.#sinceFresh = fresh && !this.#isCounter(word) ? 0 : this.#sinceFresh + 1;
    const fact = word.hard && this.#sinceFresh === 0;
    this.#sinceFact = fact ? 0 : this.#sinceFact + 1;
    if (fact) this.#facts++;
    this.#sentence.stems.push(word.stem);
    if (fact) this.#sentence.facts++;
    if (this.#sinceFresh === 0) this.#sentence.fresh++;
    if (word.hard && /^\d+$/.test(word.stem)) this.#lastNumber = Number(word.stem);
    const gram =
      /^[^\p{L}]*[\p{Script=Han}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(
        word.stem,
      );
    this.#window.push({ stem: word.stem, fresh: this.#sinceFresh === 0, gram, listed, cues, at });
    this.#cues += cues;
    this.#counts.set(word.stem, (this.#counts.get(word.stem) ?? 0) + 1);
    if (this.#sinceFresh === 0) this.#fresh++;
    this.#total += gram ? 0.5 : 1;
    if (gram) this.#grams++;
    if (listed) this.#listed++;
    if (this.#size() > this.#limits.window) this.#shift();
  }

  /** "Attempt 12" after "Attempt 11": counting is no fact. */
  #isCounter(word: Word): boolean {
    return /^\d+$/.test(word.stem) && Number(word.stem) === this.#lastNumber + 1;
  }

  #shift(): void {
    const oldest = this.#window[this.#head++] as {
      stem: string;
      fresh: boolean;
      gram: boolean;
      listed: boolean;
      cues: number;
    };
    const count = (this.#counts.get(oldest.stem) as number) - 1;
    if (count === 0) this.#counts.delete(oldest.stem);
    else this.#counts.set(oldest.stem, count);
    if (oldest.fresh) this.#fresh--;
    if (oldest.gram) this.#grams--;
    if (oldest.listed) this.#listed--;
    this.#cues -= oldest.cues;
    if (this.#head >= this.#limits.window) {
      this.#window.splice(0, this.#head);
      this.#head = 0;
    }
  }

  #size(): number {
    return this.#window.length - this.#head;
  }

  #oldest(): number {
    return (this.#window[this.#head] as { at: number }).at;
  }

  #isTurningOver(): boolean {
    const size = this.#size();
    // Items enumerate combinations of the same words in honest lists (a recorded list of test cases).
    const wavers = this.#cues >= MANY_CUES;
    const enough = this.#limits.window * (wavers ? CUE_WINDOW : 1);
    if (size < enough || this.#listed * 2 >= size) return false;
    const sum = (this.#counts.size + this.#fresh) / size;
    const limit =
      this.#limits.sum + (GRAM_ALLOWANCE * this.#grams) / size + (wavers ? CUE_ALLOWANCE : 0);
    this.#low = sum <= limit && this.#sinceFact >= enough ? this.#low + 1 : 0;
    return this.#low >= this.#limits.lasting + Math.max(0, this.#total - SHORT_TEXT) / EARNED;
  }

  #isWornOut(): boolean {
    return this.#sinceFresh >= WORN_OUT && this.#sinceFresh >= WORN_ROUNDS * this.#seen.size;
  }
}
