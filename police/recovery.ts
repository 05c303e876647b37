import type { Config } from "./config/keys.ts";
import type { Advice, Detection } from "./detectors/types.ts";
import { USER_TEXTS } from "./messages.ts";

/**
 * What becomes of a run that looped. A message that is sent while Pi aborts a run is lost, so the
 * model gets its recovery message only when the run has settled, in a new run:
 *
 *            a stream loops            the message ends             the run has settled
 *     idle ----------------> cutting ------------------> cut ----------------------------> idle
 *      ^                       (later text is ignored)  (trimmed)   the recovery message
 *      |                                                            starts a new run
 *      +-- other detections advise the model with its next request and cut nothing
 *
 * Once RECOVERY_LIMIT recoveries were of no use, the next loop stops the run:
 *
 *     idle or cutting ----------> stopping ----------> idle
 *                     (abort)               (settled: the user is told)
 *
 * Only the user's word, or ten turns in a row without a finding, clear the number of recoveries. A
 * recovery's own run clears nothing, and a turn without a loop clears the number in a row.
 */
type Phase = "idle" | "cutting" | "cut";

/** Turns without a finding after which earlier recoveries are forgiven: the run got on. */
const FORGIVING_TURNS = 10;

/** The part of a message that is cut off, and what for. */
export interface Cut {
  readonly event: Detection["event"];
  readonly block: number;
  readonly keep: number;
}

/** What is to be done once the run has settled. */
export type Aftermath =
  | { readonly kind: "recover"; readonly advice: Advice }
  | { readonly kind: "stopped"; readonly text: string };

export class Recovery {
  readonly #config: Readonly<Config>;
  #phase: Phase = "idle";
  #cut: Cut | undefined;
  #advice: Advice | undefined;
  #stopText: string | undefined;
  #inRow = 0;
  #recoveries = 0;
  #quietTurns = 0;

  constructor(config: Readonly<Config>) {
    this.#config = config;
  }

  /** How many messages in a row were cut. */
  get inRow(): number {
    return this.#inRow;
  }

  /** How many recoveries count against the limit. */
  get recoveries(): number {
    return this.#recoveries;
  }

  /** Whether the stream is being aborted, so that the rest of it is not looked at. */
  get cutting(): boolean {
    return this.#phase !== "idle";
  }

  /** Why the run is being stopped for good, if it is. */
  get stopText(): string | undefined {
    return this.#stopText;
  }

  /** A stream loops and is to be aborted. Tells whether the message to the model is escalated. */
  beginCut(cut: Cut, advice: Advice): boolean {
    this.#phase = "cutting";
    this.#cut = cut;
    this.#inRow++;
    this.noteFinding();
    const limit = this.#config.CONSECUTIVE_LOOP_LIMIT;
    const escalated = limit > 0 && this.#inRow >= limit;
    if (!this.#spendRecovery()) return escalated;
    this.#advice = escalated
      ? { key: "MSG_CONSECUTIVE_LOOP", values: { count: this.#inRow } }
      : advice;
    return escalated;
  }

  /** A message begins: whatever became of the one before, this one is looked at. */
  beginMessage(): void {
    this.#phase = "idle";
    this.#cut = undefined;
  }

  /** A message ended: what is to be cut off it, if it was being aborted. */
  endMessage(): Cut | undefined {
    if (this.#phase !== "cutting") return undefined;
    this.#phase = "cut";
    const cut = this.#cut;
    this.#cut = undefined;
    return cut;
  }

  /** A message came to its end by itself, and nothing was cut. */
  soundMessage(): void {
    this.#inRow = 0;
  }

  /** A finding that only needs a word. False if that was of no use before: the run is to stop. */
  advise(): boolean {
    this.noteFinding();
    return this.#spendRecovery();
  }

  /** The run is to be stopped for good, and the user told this. */
  stop(text: string): void {
    this.#stopText = text;
    this.#advice = undefined;
  }

  /** A finding of any kind: this turn does not count as quiet. */
  noteFinding(): void {
    this.#quietTurns = -1;
  }

  /** A turn ended. */
  endTurn(): void {
    this.#quietTurns++;
    if (this.#quietTurns >= FORGIVING_TURNS) this.#recoveries = 0;
  }

  /** The run has settled: what is to be done now. */
  settle(): Aftermath | undefined {
    const advice = this.#advice;
    const text = this.#stopText;
    this.#phase = "idle";
    this.#cut = undefined;
    this.#advice = undefined;
    this.#stopText = undefined;
    if (text !== undefined) return { kind: "stopped", text };
    return advice === undefined ? undefined : { kind: "recover", advice };
  }

  /** The user spoke. A recovery that is on its way still arrives: its run was cut short. */
  forgive(): void {
    this.#inRow = 0;
    this.#recoveries = 0;
    this.#quietTurns = 0;
    this.#stopText = undefined;
  }

  #spendRecovery(): boolean {
    const limit = this.#config.RECOVERY_LIMIT;
    if (limit > 0 && this.#recoveries >= limit) {
      this.stop(USER_TEXTS.recoveryLimit(limit));
      return false;
    }
    this.#recoveries++;
    return true;
  }
}
