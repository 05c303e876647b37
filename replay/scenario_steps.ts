/**
 * Groups a scenario's events into what Pi sees of them: prompts, compactions and assistant messages.
 *
 * A message is at most one block of thinking, then at most one of text, then at most one call or
 * batch. So thinking or text right before a call belongs to the call's message, a call that follows
 * a call is a message of its own, and so is a second thinking or text in a row.
 */

import type { CallEvent, InvalidEvent, Scenario, ScenarioEvent } from "./scenario.ts";

/** Characters that arrive at a time where a scenario does not say so. */
const DEFAULT_CHUNK = 20;

/** One block of a message that streams. */
export interface StepStream {
  /** The number of its event, 1 for the first of the scenario. */
  readonly event: number;
  readonly type: "thinking" | "text";
  readonly text: string;
  readonly chunk: number;
}

/** The calls of a message. */
export interface StepCalls {
  readonly event: number;
  readonly calls: readonly (CallEvent | InvalidEvent)[];
}

export interface MessageStep {
  readonly kind: "message";
  readonly streams: readonly StepStream[];
  readonly batch: StepCalls | undefined;
}

export type Step =
  | { readonly kind: "prompt"; readonly event: number; readonly text: string }
  | { readonly kind: "compaction"; readonly event: number }
  | MessageStep;

/** The steps of a scenario, in order. */
export function* stepsOf({ events }: Pick<Scenario, "events">): Generator<Step> {
  let streams: StepStream[] = [];
  for (const [index, event] of events.entries()) {
    const stream = streamOf(event, index + 1);
    if (stream !== undefined) {
      if (!mayFollow(streams, stream)) {
        yield { kind: "message", streams, batch: undefined };
        streams = [];
      }
      streams.push(stream);
      continue;
    }
    const calls = callsOf(event);
    if (calls !== undefined) {
      yield { kind: "message", streams, batch: { event: index + 1, calls } };
    } else {
      if (streams.length > 0) yield { kind: "message", streams, batch: undefined };
      if ("user" in event) yield { kind: "prompt", event: index + 1, text: event.user };
      else yield { kind: "compaction", event: index + 1 };
    }
    streams = [];
  }
  if (streams.length > 0) yield { kind: "message", streams, batch: undefined };
}

function mayFollow(streams: readonly StepStream[], next: StepStream): boolean {
  const last = streams.at(-1);
  return last === undefined || (last.type === "thinking" && next.type === "text");
}

function streamOf(given: ScenarioEvent, event: number): StepStream | undefined {
  if (!("thinking" in given) && !("text" in given)) return undefined;
  const { chunk = DEFAULT_CHUNK, repeat = 1 } = given;
  const [type, said] =
    "thinking" in given ? (["thinking", given.thinking] as const) : (["text", given.text] as const);
  return { event, type, text: said.repeat(repeat), chunk };
}

function callsOf(event: ScenarioEvent): readonly (CallEvent | InvalidEvent)[] | undefined {
  if ("batch" in event) return event.batch;
  return "call" in event || "invalid" in event ? [event] : undefined;
}
