/** Decides how much verbatim repetition is too much, by what is repeated. */

import { PeriodTracker } from "./period.ts";
import { isRegular, surfaceOf } from "./surface.ts";

/**
 * What is too much: so many copies, over so many characters, and so much of both (copies times
 * characters), because a short row may come more often than a long one.
 */
interface Allowance {
  readonly copies: number;
  readonly covered: number;
  readonly product: number;
}

/**
 * Each number stands well above what honest text of the kind does, and far below what the reported
 * loops reach.
 */
const ALLOWED = {
  /**
   * Rules, boxes and encoded data reach some hundreds (row 2: 200); row 31 is 46,576 backslashes.
   */
  signs: { copies: 40, covered: 3_000, product: 0 },
  /** A matrix of zeros (row 19) has as many equal rows as it is high. */
  digits: { copies: 100, covered: 3_000, product: 0 },
  /** Blank space: a page of it says nothing, in indented code some hundreds are usual. */
  space: { copies: 40, covered: 3_000, product: 0 },
  /** "The the the" (row 29): a dozen equal words are a quotation, no more. */
  words: { copies: 16, covered: 240, product: 0 },
  /**
   * Code, tables, results, logs (rows 3 to 5, 19): 40 equal rows of a small table, 80 of `ok ok ok`,
   * 30 equal lines of a log, 14 equal functions are filler in a fixture.
   */
  regular: { copies: 6, covered: 600, product: 60_000 },
  /** A sentence (row 30): refrains and litanies come three times. */
  sentence: { copies: 4, covered: 240, product: 0 },
} as const satisfies Record<string, Allowance>;

/** Up to here a block is one or a few words. */
const SHORT_BLOCK = 24;
/** Repetition is judged from this length on; nothing shorter is ever too much. */
const JUDGED_FROM = 200;
/** Checked once in so many characters; a power of two. */
const STRIDE = 32;

export class VerbatimWatch {
  readonly #tracker = new PeriodTracker();
  /** What the block of each distance is allowed; asked for once in the life of a repetition. */
  readonly #allowed = new Map<number, Allowance>();

  /** Takes in one character; says where the first copy ends if the text loops. */
  push(unit: number, inFence: boolean): number | undefined {
    this.#tracker.push(unit);
    if (this.#tracker.length % STRIDE !== 0) return undefined;
    const found = this.#tracker.repetitions();
    if (found.length === 0) {
      if (this.#allowed.size > 0) this.#allowed.clear();
      return undefined;
    }
    for (const distance of this.#allowed.keys()) {
      if (!found.some((r) => r.period === distance)) this.#allowed.delete(distance);
    }
    for (const { period, covered } of found) {
      if (covered < JUDGED_FROM || covered < 3 * period) continue;
      const allowed = this.#allowanceOf(period, inFence);
      if (exceeds(allowed, covered, covered / period)) {
        return this.#tracker.length - covered + period;
      }
    }
    return undefined;
  }

  #allowanceOf(period: number, inFence: boolean): Allowance {
    const known = this.#allowed.get(period);
    if (known !== undefined) return known;
    const allowed = allowanceOf(this.#tracker.tail(2 * period), period, inFence);
    this.#allowed.set(period, allowed);
    return allowed;
  }
}

function exceeds(allowed: Allowance, covered: number, copies: number): boolean {
  const enough = covered >= allowed.covered && copies >= allowed.copies;
  return enough && copies * covered >= allowed.product;
}

/** @param text two whole periods, so that each line is seen from its beginning. */
function allowanceOf(text: string, period: number, inFence: boolean): Allowance {
  if (text.trim() === "") return ALLOWED.space;
  if (!/[\p{L}\p{N}]/u.test(text) || /^[\w+/=]+$/.test(text)) return ALLOWED.signs;
  if (!/\p{L}/u.test(text)) return ALLOWED.digits;
  const lines = text.split("\n").slice(1, -1);
  const shown = lines.filter((line) => line.trim() !== "").map(surfaceOf);
  if (inFence || (shown.length > 0 && shown.every(isRegular))) return ALLOWED.regular;
  return period <= SHORT_BLOCK ? ALLOWED.words : ALLOWED.sentence;
}
