/** What came back from a call, reduced to what matters for "did this bring anything new?". */

import { hashText } from "./hash.ts";
import { skeleton, withoutNoise } from "./volatile.ts";

export interface Outcome {
  readonly isError: boolean;
  /** Hash of the text without volatile parts. */
  readonly print: number;
  /** Hash of the text with every number masked. */
  readonly shape: number;
  /** The first numbers that the text holds, volatile ones left out. */
  readonly numbers: readonly string[];
  /** The text without volatile parts, cut. */
  readonly plain: string;
  /** It says that something goes on and is not finished. */
  readonly waiting: boolean;
  /** It only says that something was done. */
  readonly acknowledgement: boolean;
}

/** Words of a state that changes by itself (rows 6 to 8: honest polling). */
const UNFINISHED =
  /\b(?:pending|queued|running|in[ _-]?progress|waiting|not[ _-](?:yet|ready|done|finished|available|started)|starting|initiali[sz]ing|(?:container)?creating|provisioning|scheduled|processing|building|deploying|pulling|booting|syncing|connecting|unfinished|ausstehend|läuft|en attente|pendiente)\b|等待|排队|进行中|処理中|待機/i;
/** Faults that pass by themselves: a service that is not up yet, a limit that refills. */
const TRANSIENT =
  /\b(?:connection refused|econnrefused|timed? ?out|temporarily|try again|too many requests|rate limit(?:ed)?|service unavailable|bad gateway|gateway timeout|resource busy|lock(?:ed)? by)\b/i;
/** What a test or a compiler says: final, whatever else is in the text. */
const FINAL = /\b(?:assert\w*|expected|traceback|fatal|denied|invalid|syntax\w*)\b/i;
/** A state is reported in a line or two; a longer text that holds such a word is a report. */
const LONGEST_STATE = 240;
/** "ok", "Clicked.", `{"inserted":1}`: shorter than this says no more than that it was done. */
const LONGEST_ACKNOWLEDGEMENT = 24;
const KEPT = 1_000;
const LONGEST_MEASURED = 40_000;

/** @param measured times and durations are what was asked for, not noise. */
export function outcomeOf(text: string, isError: boolean, measured = false): Outcome {
  const plain = measured ? text.trim().slice(0, LONGEST_MEASURED) : withoutNoise(text);
  const { shape, numbers } = skeleton(plain);
  return {
    isError,
    print: hashText(plain),
    shape: hashText(shape),
    numbers,
    plain: plain.slice(0, KEPT),
    waiting: isWaiting(plain, isError),
    acknowledgement: !isError && plain.length <= LONGEST_ACKNOWLEDGEMENT,
  };
}

function isWaiting(plain: string, isError: boolean): boolean {
  if (plain.length > LONGEST_STATE || FINAL.test(plain)) return false;
  if (TRANSIENT.test(plain)) return true;
  return !isError && UNFINISHED.test(plain) && !/\b(?:failed|error)\b/i.test(plain);
}

/** What it means that of two outcomes only numbers differ. */
export type NumberChange = "progress" | "counter" | "unclear";

const PROGRESS =
  /[%/]|\b(?:of|done|total|remaining|left|complete[d]?|finished|processed|copied|downloaded|uploaded|bytes|[kmgt]i?b|rows|lines|files|items|passed|failed|epoch|step|stage|phase|page|loss|score|accuracy|progress|open|size|percent)\b/i;
const COUNTER =
  /\b(?:attempts?|tries|try|retry|retries|requests?|run|iteration|seq|count(?:er)?|calls?|ticks?|no\.?|number|visit|nonce|revision|round)\W{0,3}$/i;

/**
 * Compares two outcomes of the same shape by the words around the numbers that differ. "30%" after
 * "20%" is progress (row 6), "attempt 4" after "attempt 3" is noise (row 25).
 */
export function numberChange(before: Outcome, after: Outcome): NumberChange {
  let index = 0;
  let unclear = false;
  for (const match of after.plain.matchAll(/\d+(?:[.,]\d+)*/g)) {
    const was = before.numbers[index++];
    if (was === match[0]) continue;
    const start = match.index;
    const end = start + match[0].length;
    const ahead = after.plain.slice(Math.max(0, start - 20), start);
    if (COUNTER.test(ahead)) continue;
    if (PROGRESS.test(ahead) || PROGRESS.test(after.plain.slice(end, end + 14))) return "progress";
    unclear = true;
  }
  return unclear ? "unclear" : "counter";
}
