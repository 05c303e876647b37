/**
 * Watches the tool calls: is the next one going to bring anything?
 *
 * Everything rests on one idea. A call brings something if its answer was not seen before (lines,
 * hits, states), or if it changed something. A loop is a run of calls that bring nothing. So a
 * refusal needs two things: this very call (or its kind: the same fault, the same hits) has
 * brought nothing several times, and nothing has happened in between that could change that.
 */

import { BoundedMap } from "../../detectors/bounded_map.ts";
import type { Call, Detection } from "../../detectors/types.ts";
import { BoundedSet } from "../text/bounded_set.ts";
import { type Outcome, outcomeOf } from "../text/outcome.ts";
import { Echoes } from "./echoes.ts";
import { Failures, saysNothing } from "./failures.ts";
import {
  emptyAnswers,
  noHits,
  redundantRead,
  repeatedCall,
  sameAnswers,
  sameFault,
  sameHits,
  uselessWait,
} from "./findings.ts";
import { type Profile, profileOf } from "./profile.ts";
import { ReadCoverage } from "./reads.ts";
import { RepeatLedger, type Repeats } from "./repeats.ts";
import { SearchHits } from "./searches.ts";

/** Runs without a new answer after which the next one is refused. */
const LIMITS = {
  /** Row 14 lets a call stand five times; row 21 and the engine's rule refuse the sixth. */
  look: 5,
  action: 5,
  /** The same fault for the same arguments: rows 24 and 32; three in a row are an honest retry. */
  error: 4,
  /** What others get to see (rows 26 and 35) is worse with each copy. */
  send: 3,
  /** Row 6 waits through four equal answers; labelled polls end within six. */
  poll: 8,
  /** The same, where the model sleeps in between as it was told to. */
  patientPoll: 12,
  /** Keys and scrolls with no answer but "ok": a dozen is still navigation. */
  step: 12,
  /** Only numbers differ, and nothing says that they count towards an end: a notice. */
  unclear: 12,
} as const;
/** The engine's window: six equal calls within twenty (`sixth_in_20` of the recordings). */
const WINDOW = 20;
/**
 * Calls in a row that brought nothing, whichever they were, and runs of the one asked for. Nobody
 * is refused before its third equal answer; two full rounds of a cycle are a second look (the
 * labelled audits read everything twice), the third round is a loop (rows 20, 34, 36).
 */
const CYCLES: readonly { stale: number; runs: number }[] = [
  { stale: 4, runs: 3 },
  { stale: 5, runs: 2 },
];
/** What something new takes off the count of calls that brought nothing. */
const RELIEF = 2;
const MOST_STALE = 24;
/** Reads of seen lines of one file, by whatever ranges, within the window. */
const COVERED_READS = 5;
/** Searches that found exactly what was known, or less of it (a half each), in a row. */
const SAME_HITS = 3;
/** Searches that found nothing: names are guessed in honest work, too (labelled: up to five). */
const NO_HITS = 8;
/** So many calls ago at most, a sleep was meant for the call that comes now. */
const SLEPT = 4;
/** What a sleep may be meant to change is short: a state, an address, a count. */
const LONGEST_STATE = 160;
const MOST_PENDING = 256;
const MOST_CHANGES = 256;

export class CallsWatch {
  readonly #repeats = new RepeatLedger();
  readonly #reads = new ReadCoverage();
  readonly #hits = new SearchHits();
  readonly #failures = new Failures();
  readonly #echoes = new Echoes();
  readonly #pending = new BoundedMap<string, Profile>(MOST_PENDING);
  readonly #changes = new BoundedSet<string>(MOST_CHANGES);
  /** Moves on when files or processes really changed: older answers no longer count. */
  #epoch = 0;
  #tick = 0;
  #stale = 0;
  #sameHits = 0;
  #noHits = 0;
  #waitedAt = -1;

  /** Looks at a call that is about to run. */
  look(call: Call): Detection | undefined {
    const profile = profileOf(call);
    this.#pending.set(call.id, profile);
    const known = this.#repeats.of(profile, this.#epoch);
    return (
      (known && this.#judgeRepeats(profile, known)) ??
      this.#judgeRead(profile) ??
      this.#judgeSearch(profile) ??
      this.#judgeFault(profile)
    );
  }

  admitted(call: Call): void {
    this.#tick++;
    this.#repeats.begin(this.#profile(call), this.#epoch);
  }

  refused(call: Call): void {
    const profile = this.#profile(call);
    this.#pending.delete(call.id);
    this.#failures.relent(profile);
    this.#echoes.relent(profile);
    if (isSearch(profile)) {
      this.#sameHits = Math.min(this.#sameHits, SAME_HITS - 1);
      this.#noHits = Math.min(this.#noHits, NO_HITS - 1);
    }
  }

  /** Takes in the answer; `moves` says that something came in, or is being waited for. */
  result(
    call: Call,
    ran: boolean,
    isError: boolean,
    text: string,
  ): { moves: boolean; notice?: Detection } {
    const profile = this.#profile(call);
    this.#pending.delete(call.id);
    if (!ran) {
      this.#repeats.drop(profile, this.#epoch);
      return { moves: false };
    }
    const outcome = outcomeOf(text, isError, profile.measures && !isError);
    const fresh = this.#takeIn(profile, outcome, text);
    const { unclear, waits } = this.#standing(profile);
    this.#count(profile, outcome, fresh);
    const moves = fresh || waits;
    return unclear > 0 && unclear % LIMITS.unclear === 0
      ? { moves, notice: emptyAnswers(profile, unclear) }
      : { moves };
  }

  /** The user spoke: all of it may be wanted again. */
  prompt(): void {
    this.#changes.clear();
    this.#worldChanged();
    this.contextLost();
  }

  /** Somebody else changed files: what is known of answers no longer holds. */
  changed(): void {
    this.#worldChanged();
  }

  /** The model no longer sees what it read and found. */
  contextLost(): void {
    this.#reads.clear();
    this.#hits.clear();
    this.#stale = 0;
    this.#sameHits = 0;
    this.#noHits = 0;
  }

  get status(): string {
    return `${this.#stale} calls in a row brought nothing new`;
  }

  #profile(call: Call): Profile {
    return this.#pending.get(call.id) ?? profileOf(call);
  }

  /** Tells everyone who remembers answers; says whether this one is new to all of them. */
  #takeIn(profile: Profile, outcome: Outcome, text: string): boolean {
    const answerIsNew = this.#repeats.end(profile, this.#epoch, this.#tick, outcome);
    const faultIsKnown = this.#failures.take(profile, outcome);
    const echoes = this.#echoes.take(profile, outcome);
    if (outcome.isError && profile.kind === "change") return false;
    return answerIsNew && !faultIsKnown && !echoes && this.#brings(profile, outcome.isError, text);
  }

  #standing(profile: Profile): { unclear: number; waits: boolean } {
    const known = this.#repeats.of(profile, this.#epoch) as Repeats;
    return { unclear: known.unclear, waits: this.#isPatient(profile, known) };
  }

  #count(profile: Profile, outcome: Outcome, fresh: boolean): void {
    if (profile.kind === "wait") this.#waitedAt = this.#tick;
    else if (fresh) this.#relieve(profile);
    else if (!outcome.waiting && !(outcome.isError && profile.kind === "change")) {
      this.#stale = Math.min(MOST_STALE, this.#stale + 1);
    }
    if (fresh && profile.kind === "change") this.#change(profile, outcome.shape);
  }

  #judgeRepeats(profile: Profile, known: Repeats): Detection | undefined {
    const runs = known.runs + known.underway;
    const limit = this.#limitFor(profile, known);
    const patient = this.#isPatient(profile, known);
    if (runs >= limit && (patient || this.#isDense(profile, known, limit))) {
      return patient ? uselessWait(profile, runs) : repeatedCall(profile, runs, 1);
    }
    if (patient) return undefined;
    const cycle = CYCLES.some((rule) => this.#stale >= rule.stale && known.runs >= rule.runs);
    if (!cycle) return undefined;
    return profile.kind === "read"
      ? redundantRead(profile, known.runs, WINDOW)
      : repeatedCall(profile, known.runs, 2);
  }

  /** Whether asking again and again is what one does: to wait, or to move on step by step. */
  #isPatient(profile: Profile, known: Repeats): boolean {
    const { waiting, acknowledgement, plain } = known.last;
    const state = profile.asksForState && !isLook(profile) && acknowledgement;
    const slept = this.#waitedAt >= 0 && this.#tick - this.#waitedAt < SLEPT;
    return (
      waiting ||
      state ||
      (slept && plain.length <= LONGEST_STATE) ||
      profile.kind === "wait" ||
      isNavigation(profile, known)
    );
  }

  /** Whether the runs lie close enough together to be one loop. */
  #isDense(profile: Profile, known: Repeats, limit: number): boolean {
    if (!isLook(profile)) return this.#stale + known.underway >= limit - 1;
    const first = known.ticks.at(-Math.min(limit, known.ticks.length)) ?? this.#tick;
    return this.#tick - first < WINDOW;
  }

  #limitFor(profile: Profile, known: Repeats): number {
    if (isNavigation(profile, known)) return LIMITS.step;
    if (this.#isPatient(profile, known)) {
      return this.#waitedAt >= 0 || profile.waits ? LIMITS.patientPoll : LIMITS.poll;
    }
    if (known.last.isError) return LIMITS.error;
    if (profile.kind === "send") return LIMITS.send;
    return isLook(profile) ? LIMITS.look : LIMITS.action;
  }

  #judgeRead(profile: Profile): Detection | undefined {
    const [range, second] = profile.ranges;
    if (range === undefined || second !== undefined) return undefined;
    const again = this.#reads.timesAgain(range, this.#tick, WINDOW);
    if (again === undefined) return undefined;
    const known = this.#repeats.of(profile, this.#epoch)?.runs ?? 0;
    const stuck = this.#stale >= COVERED_READS && known + again >= 2;
    return again >= COVERED_READS || stuck ? redundantRead(profile, again, WINDOW) : undefined;
  }

  #judgeSearch(profile: Profile): Detection | undefined {
    if (!isSearch(profile)) return undefined;
    if (this.#sameHits >= SAME_HITS) return sameHits(profile, Math.ceil(this.#sameHits) + 1);
    return this.#noHits >= NO_HITS ? noHits(profile, this.#noHits) : undefined;
  }

  #judgeFault(profile: Profile): Detection | undefined {
    const stuck = this.#failures.stuck(profile);
    if (stuck !== undefined) return sameFault(profile, stuck.count, stuck.text);
    const echoes = this.#echoes.stuck(profile);
    return echoes === undefined ? undefined : sameAnswers(profile, echoes);
  }

  /** Whether an answer that is new for this call tells the model anything that it has not seen. */
  #brings(profile: Profile, isError: boolean, text: string): boolean {
    if (isError && isSearch(profile) && saysNothing(text)) return this.#bringsHits(profile, "");
    if (isError) return true;
    const [range, second] = profile.ranges;
    if (range !== undefined) {
      return second !== undefined || this.#reads.show(range, text, this.#tick);
    }
    return isSearch(profile) ? this.#bringsHits(profile, text) : true;
  }

  #bringsHits(profile: Profile, text: string): boolean {
    const finding = this.#hits.take(profile, text);
    if (finding === "new") {
      this.#sameHits = 0;
      this.#noHits = 0;
    } else if (finding === "nothing") {
      this.#noHits++;
    } else {
      this.#sameHits += finding === "same" ? 1 : 0.5;
    }
    return finding === "new" || finding === "nothing";
  }

  #relieve(profile: Profile): void {
    this.#stale = Math.max(0, this.#stale - RELIEF);
    if (!isSearch(profile)) this.#sameHits = Math.max(0, this.#sameHits - 1);
  }

  /** A change that was made before changes nothing more: an edit to and fro is a cycle. */
  #change(profile: Profile, shape: number): void {
    if (!this.#changes.add(`${profile.key} ${shape}`)) return;
    this.#worldChanged();
  }

  #worldChanged(): void {
    this.#epoch++;
    // Nobody asks for what was known of an earlier state.
    this.#repeats.clear();
    this.#stale = 0;
    this.#sameHits = 0;
    this.#noHits = 0;
    this.#waitedAt = -1;
    this.#reads.clear();
    this.#hits.clear();
    this.#failures.clear();
    this.#echoes.clear();
  }
}

function isLook(profile: Profile): boolean {
  return profile.kind === "read" || isSearch(profile);
}

function isSearch(profile: Profile): boolean {
  return profile.kind === "search" || profile.kind === "list";
}

function isNavigation(profile: Profile, known: Repeats): boolean {
  return profile.kind === "step" && known.last.acknowledgement;
}
