/** Runs the calls of one assistant message as Pi does: all are asked about before any runs. */

import type { PiDouble } from "./pi_double.ts";
import type { CallEvent, InvalidEvent, ScenarioCall } from "./scenario.ts";
import { type ToolResultMessage, toolResultMessage } from "./transcript.ts";

/** A call with the id that Pi knows it by. */
export interface IdentifiedCall {
  readonly id: string;
  readonly given: CallEvent | InvalidEvent;
}

export interface BatchHost {
  readonly pi: PiDouble;
  isAborted(): boolean;
  now(): number;
  enforced(how: "block" | "terminate"): void;
  threw(error: unknown): void;
}

export interface BatchOutcome {
  /** In the order of the calls. */
  readonly results: ToolResultMessage[];
  /** Whether every call asked for the end of the run. */
  readonly terminated: boolean;
}

/** A call that has its result. */
interface Ended {
  readonly text: string;
  readonly isError: boolean;
  readonly terminate?: true;
}

const ABORTED: Ended = { text: "Operation aborted", isError: true };

/** How long every call that runs takes, in milliseconds. */
const DURATION_MS = 1;

export async function runBatch(
  calls: readonly IdentifiedCall[],
  host: BatchHost,
): Promise<BatchOutcome> {
  const asked: (Ended | undefined)[] = [];
  for (const call of calls) {
    await announce(call, host);
    const ended = await ask(call, host);
    if (ended !== undefined) await conclude(call, ended, host);
    asked.push(ended);
  }
  const ended: Ended[] = [];
  for (const [index, call] of calls.entries()) {
    ended.push(asked[index] ?? (await run(call, host)));
  }
  const results: ToolResultMessage[] = [];
  for (const [index, call] of calls.entries()) {
    const { text, isError } = ended[index] as Ended;
    const message = toolResultMessage(call.id, toolOf(call), text, isError, host.now());
    await host.pi.emit({ type: "message_start", message });
    results.push((await host.pi.messageEnd(message)) as ToolResultMessage);
  }
  return { results, terminated: ended.length > 0 && ended.every((each) => each.terminate) };
}

function toolOf({ given }: IdentifiedCall): string {
  return "call" in given ? given.call.toolName : given.invalid.toolName;
}

async function announce(call: IdentifiedCall, { pi }: BatchHost): Promise<void> {
  const args = "call" in call.given ? call.given.call.input : call.given.invalid.input;
  const event = { toolCallId: call.id, toolName: toolOf(call), args };
  await pi.emit({ type: "tool_execution_start", ...event });
}

/** Asks the extensions about a call. Its result, if it is not to run. */
async function ask({ id, given }: IdentifiedCall, host: BatchHost): Promise<Ended | undefined> {
  if (host.isAborted()) return ABORTED;
  if (!("call" in given)) return { text: given.error, isError: true };
  const { toolName, input } = given.call;
  const outcome = await host.pi.toolCall({
    toolName,
    input: structuredClone(input),
    toolCallId: id,
  });
  if (outcome.kind === "threw") {
    host.threw(outcome.error);
    return { text: "a handler threw", isError: true };
  }
  if (outcome.kind === "admitted") return host.isAborted() ? ABORTED : undefined;
  const { reason, terminate } = outcome.result;
  host.enforced("block");
  if (terminate !== true) return { text: reason ?? "", isError: true };
  host.enforced("terminate");
  return { text: reason ?? "", isError: true, terminate };
}

/** Runs an admitted call: it returns what the scenario says. */
async function run(call: IdentifiedCall, host: BatchHost): Promise<Ended> {
  if (host.isAborted()) {
    await conclude(call, ABORTED, host);
    return ABORTED;
  }
  const { call: asked, result = { text: "" } } = call.given as CallEvent;
  const ended = { text: result.text, isError: result.isError ?? false };
  await host.pi.tell(resultEvent(call.id, asked, ended));
  await conclude(call, ended, host, { durationMs: DURATION_MS });
  return ended;
}

function resultEvent(toolCallId: string, { toolName, input }: ScenarioCall, ended: Ended) {
  const content = [{ type: "text" as const, text: ended.text }];
  const { isError } = ended;
  const event = { type: "tool_result" as const, toolCallId, toolName, input, content, isError };
  return { ...event, details: undefined };
}

async function conclude(
  call: IdentifiedCall,
  { text, isError }: Ended,
  { pi }: BatchHost,
  more: { durationMs?: number } = {},
): Promise<void> {
  const result = { content: [{ type: "text", text }], details: {} };
  const event = { toolCallId: call.id, toolName: toolOf(call), result, isError, ...more };
  await pi.emit({ type: "tool_execution_end", ...event });
}
