/**
 * The language that the parts of this package speak with each other.
 *
 *   Pi event -> Observation (plain data) -> Detector -> Detection -> what is done about it
 *
 * An observation says what happened, a detection says what that means and what ought to be done.
 * Nothing in here knows Pi.
 */

import type { MessageKey } from "../messages.ts";

/** The two streams of an assistant message that are watched while they arrive. */
export type Stream = "thinking" | "output";

/** How a stream loops: the same characters again, or the same paragraphs. */
export type LoopKind = "character" | "semantic";

/** What a tool does to the paths it names, as far as its name (or a setting) tells. */
export type ToolRole = "read" | "write" | "search" | "other";

/** One tool call of the model, or of a tool that calls other tools. */
export interface Call {
  /** Pi's id of the call. */
  readonly id: string;
  readonly tool: string;
  /** Equal for two calls exactly when tool and input are equal; of bounded length. */
  readonly key: string;
  /** The arguments as the tool gets them; only to be read. */
  readonly input: unknown;
  readonly role: ToolRole;
  /** Every path that the call names, each written in its one canonical way. */
  readonly paths: readonly string[];
  /** What a search looks for. */
  readonly pattern?: string | undefined;
  /** The id of the call that made this one; absent for the model's own calls. */
  readonly parent?: string | undefined;
  /** When the call was asked for, in milliseconds. */
  readonly at: number;
}

/** Why Pi refused a call before any hook could see it. */
export type RejectionReason = "schema" | "json" | "unknown_tool";

/** Something that happened, as plain data. */
export type Observation =
  /** The user spoke: what was counted so far no longer counts. */
  | { readonly kind: "prompt" }
  /** The model no longer sees what it saw: compaction, or a jump in the session tree. */
  | { readonly kind: "context_lost" }
  /** An assistant message begins. */
  | { readonly kind: "message_start" }
  /** New characters of one block of the message; `block` is Pi's `contentIndex`. */
  | {
      readonly kind: "text";
      readonly stream: Stream;
      readonly block: number;
      readonly text: string;
    }
  /** An assistant message is complete and was not cut. */
  | {
      readonly kind: "message_end";
      /** The text of all its thinking blocks, and of all its text blocks. */
      readonly thinking: string;
      readonly output: string;
      /** How many tool calls it holds. */
      readonly calls: number;
    }
  /** An assistant message was cut; `thinking` is what is left of its reasoning. */
  | { readonly kind: "cut"; readonly thinking: string }
  /** Some detector found something. */
  | { readonly kind: "detected"; readonly event: EventName }
  /** A call is about to run: look, but do not count it yet. */
  | { readonly kind: "call"; readonly call: Call }
  /** No detector refused the call: count it. */
  | { readonly kind: "admitted"; readonly call: Call }
  /** A detector of ours refused the call, or another extension did (then seen at its end). */
  | { readonly kind: "refused"; readonly call: Call }
  /** An admitted call ended. `ran` is false if someone else kept it from running. */
  | {
      readonly kind: "result";
      readonly call: Call;
      readonly ran: boolean;
      readonly isError: boolean;
      /** The text of the result, at most `MAX_RESULT_CHARS` long. */
      readonly text: string;
      readonly at: number;
    }
  /** A call of another lane changed these files: what was known of them no longer holds. */
  | { readonly kind: "changed"; readonly paths: readonly string[] }
  /** Pi itself rejected a call, before any hook: the arguments or the name were wrong. */
  | {
      readonly kind: "rejected";
      readonly tool: string;
      readonly reason: RejectionReason;
      /** What Pi told the model. */
      readonly error: string;
      /** What a valid call looks like, or which tools there are. */
      readonly shape: string;
    };

/** Longest text of a result that detectors get, in UTF-16 units: far above Pi's own 50 kB limit. */
export const MAX_RESULT_CHARS = 200_000;

/** Every event name with the `details` of its payload: public, other programs read it. */
export interface DetailsOf {
  thinking_loop: StreamDetails;
  semantic_loop: StreamDetails;
  output_loop: StreamDetails;
  output_semantic_loop: StreamDetails;
  stagnation: { window: number; threshold: number };
  file_scan_loop: { toolName: string; path: string; count: number };
  redundant_reread: { toolName: string; path: string; count: number; window: number };
  search_spiral: { toolName: string; pattern: string; paths: number };
  tool_loop: { toolName: string; windowSize: number; banned: boolean };
  rederived_reasoning: { streak: number };
  rejected_call_loop: { toolName: string; count: number; reason: RejectionReason };
  refusal_ignored: { toolName: string; count: number };
}

/** `escalated` is filled in by the recovery, which knows how often it happened in a row. */
export interface StreamDetails {
  stream: Stream;
  kind: LoopKind;
  escalated: boolean;
}

export type EventName = keyof DetailsOf;

/** Which text the model gets, and what its `{placeholders}` stand for. */
export interface Advice {
  readonly key: MessageKey;
  readonly values: Readonly<Record<string, string | number>>;
}

/** What ought to be done about a detection. */
export type Response =
  /** Refuse the call; the advice is its result. `terminate` asks Pi to end the run. */
  | { readonly kind: "block"; readonly terminate: boolean }
  /** Abort the stream; keep the first `keep` UTF-16 units of this block. */
  | { readonly kind: "cut"; readonly block: number; readonly keep: number }
  /** Take the reasoning out of this message, and that of the last `scrub` ones out of requests. */
  | { readonly kind: "sanitize"; readonly scrub: number }
  /** Tell the model with its next request; force nothing, stop nothing. */
  | { readonly kind: "notice" }
  /** Tell the model with its next request; counts as a recovery. */
  | { readonly kind: "advise" };

/** What a detector found. */
export type Detection = {
  [E in EventName]: {
    readonly event: E;
    readonly details: DetailsOf[E];
    readonly advice: Advice;
    readonly response: Response;
  };
}[EventName];

/**
 * One detector: pure, without clock, files or Pi. It may keep state, all of it bounded.
 * A detector never throws on purpose; should it, the call goes through.
 */
export interface Detector {
  /** Takes note of what happened and says what it found, if anything. */
  observe(observation: Observation): Detection | undefined;
  /** Forgets everything, also what outlives a prompt. */
  reset(): void;
  /** A short line for `/loop-police`, like `"3 of 10 reads redundant"`. */
  status?(): string;
}
