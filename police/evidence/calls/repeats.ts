/** How often one and the same call brought nothing that it had not brought before. */

import { BoundedMap } from "../../detectors/bounded_map.ts";
import { numberChange, type Outcome } from "../text/outcome.ts";
import type { Profile } from "./profile.ts";

/** Calls that are remembered; far more than the longest cycle that is looked for (20). */
const MOST_CALLS = 256;
/** Different answers of one call that are remembered: a toggle has two, a poll has a few. */
const MOST_ANSWERS = 8;
/** Runs whose place in the session is remembered: more than the highest limit looks back. */
const MOST_TICKS = 16;

export interface Repeats {
  /** The latest runs in a row, this state of the world, with no answer that was new. */
  runs: number;
  /** When these runs happened, newest last. */
  ticks: number[];
  /** Runs whose answer differed only in numbers that may or may not mean something. */
  unclear: number;
  /** Asked for, not yet answered. */
  underway: number;
  last: Outcome;
  answers: number[];
  epoch: number;
}

export class RepeatLedger {
  #calls = new BoundedMap<number, Repeats>(MOST_CALLS);

  /** What is known of the call since the world last changed. */
  of(profile: Profile, epoch: number): Repeats | undefined {
    const known = this.#calls.get(profile.key);
    return known !== undefined && known.epoch === epoch ? known : undefined;
  }

  begin(profile: Profile, epoch: number): void {
    const known = this.of(profile, epoch);
    if (known === undefined) this.#calls.set(profile.key, blank(epoch));
    else this.#calls.set(profile.key, known);
    (this.of(profile, epoch) as Repeats).underway++;
  }

  /** Takes in an answer; says whether it was new. */
  end(profile: Profile, epoch: number, tick: number, outcome: Outcome): boolean {
    const known = this.of(profile, epoch) ?? blank(epoch);
    this.#calls.set(profile.key, known);
    known.underway = Math.max(0, known.underway - 1);
    const fresh = isFresh(profile, known, outcome);
    known.runs = fresh ? 1 : known.runs + 1;
    known.ticks = fresh ? [tick] : [...known.ticks, tick].slice(-MOST_TICKS);
    known.last = outcome;
    if (!known.answers.includes(outcome.print)) {
      known.answers = [...known.answers, outcome.print].slice(-MOST_ANSWERS);
    }
    return fresh;
  }

  /** A call that was asked for and never ran. */
  drop(profile: Profile, epoch: number): void {
    const known = this.of(profile, epoch);
    if (known !== undefined) known.underway = Math.max(0, known.underway - 1);
  }

  clear(): void {
    if (this.#calls.size > 0) this.#calls = new BoundedMap(MOST_CALLS);
  }
}

const NOTHING_YET: Outcome = {
  isError: false,
  print: Number.NaN,
  shape: Number.NaN,
  numbers: [],
  plain: "",
  waiting: false,
  acknowledgement: false,
};

function blank(epoch: number): Repeats {
  return { runs: 0, ticks: [], unclear: 0, underway: 0, last: NOTHING_YET, answers: [], epoch };
}

function isFresh(profile: Profile, known: Repeats, outcome: Outcome): boolean {
  if (known.answers.includes(outcome.print)) return false;
  if (known.last.shape !== outcome.shape) return true;
  const change = numberChange(known.last, outcome);
  // A number in the answer to something that was sent or made is the number of that (row 35).
  const makes = profile.kind === "send" || profile.kind === "change";
  if (change === "counter" || (change === "unclear" && makes)) return false;
  known.unclear = change === "unclear" ? known.unclear + 1 : 0;
  return true;
}
