/** Replays a fixture through an extension's own `tool_call` handler, and compares. */

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import type { Expected, Fixture, RecordedCall } from "./fixture.ts";
import { type AppendedEntry, PiDouble, type ToolCallOutcome } from "./pi_double.ts";

/** The telemetry that the guard appends once for each call that it refuses. */
const TELEMETRY = "loop_broken";

/** What was seen: one line of the replay's output. */
export interface Observation {
  readonly name: string;
  /** Number of calls dispatched. */
  readonly calls: number;
  /** Number of calls that a handler refused. */
  readonly blocked: number;
  /** The first refused call, counted from 1; null if none was refused. */
  readonly firstBlock: number | null;
  /** Number of `loop_broken` entries. */
  readonly entries: number;
}

export interface Replay {
  /** Undefined if the extension could not be registered. */
  readonly observation: Observation | undefined;
  /** All that is not as it must be, each a sentence; empty for a replay that matches. */
  readonly problems: readonly string[];
}

/** Replays one fixture on a fresh registration of the extension. Nothing it does is thrown on. */
export async function replayFixture(
  fixture: Fixture,
  extension: ExtensionFactory,
): Promise<Replay> {
  const pi = new PiDouble();
  try {
    await pi.load("the extension", extension);
  } catch (error) {
    const problem = `the extension threw when it was registered: ${describe(error)}`;
    return { observation: undefined, problems: [problem] };
  }
  const problems: string[] = [];
  const handlers = pi.handlerCount("tool_call");
  if (handlers !== 1) problems.push(`expected one tool_call handler, observed ${handlers}`);

  const refused: number[] = [];
  for (const [index, call] of fixture.calls.entries()) {
    const before = pi.entries.length;
    const outcome = await pi.toolCall(call);
    if (outcome.kind === "refused") refused.push(index + 1);
    for (const fault of callFaults(call, outcome, pi.entries.slice(before), refused.length)) {
      problems.push(`call ${index + 1} (${call.toolName}): ${fault}`);
    }
  }

  const observation: Observation = {
    name: fixture.name,
    calls: fixture.calls.length,
    blocked: refused.length,
    firstBlock: refused[0] ?? null,
    entries: pi.entries.filter(isTelemetry).length,
  };
  for (const member of new Set(pi.notDoubled)) {
    problems.push(`the extension touched ${member}, which the Pi double lacks`);
  }
  problems.push(...differences(fixture.expected, observation));
  return { observation, problems };
}

function* differences(expected: Expected, observed: Observation): Generator<string> {
  for (const field of ["blocked", "firstBlock", "entries"] as const) {
    if (expected[field] === observed[field]) continue;
    yield `expected ${field} ${expected[field]}, observed ${observed[field]}`;
  }
}

/**
 * What is wrong with the handling of one call, whatever the fixture expects.
 *
 * @param appended The entries appended during the call.
 * @param refusals Number of refused calls so far, this one included.
 */
function* callFaults(
  call: RecordedCall,
  outcome: ToolCallOutcome,
  appended: readonly AppendedEntry[],
  refusals: number,
): Generator<string> {
  const telemetry = appended.filter(isTelemetry);
  if (outcome.kind === "threw") yield `the handler threw: ${describe(outcome.error)}`;
  if (outcome.kind !== "refused") {
    if (telemetry.length > 0) yield `not refused, but a ${TELEMETRY} entry was recorded`;
    return;
  }
  if (!outcome.result.reason) yield "refused without a reason";
  if (telemetry.length !== 1) {
    yield `refused with ${telemetry.length} ${TELEMETRY} entries instead of one`;
  }
  for (const { data } of telemetry) yield* telemetryFaults(call, data, refusals);
}

/** `{tool, repeats, blockedSoFar}`: the refused tool, and two counts that this call is part of. */
function* telemetryFaults(call: RecordedCall, data: unknown, refusals: number): Generator<string> {
  const fields: Record<string, unknown> = Object(data);
  const { tool, repeats, blockedSoFar } = fields;
  if (Object.keys(fields).sort().join() !== "blockedSoFar,repeats,tool") {
    yield `${TELEMETRY} must hold tool, repeats and blockedSoFar, observed ${JSON.stringify(data)}`;
    return;
  }
  if (tool !== call.toolName) yield `${TELEMETRY} names the tool ${JSON.stringify(tool)}`;
  if (!isPositive(repeats)) yield `${TELEMETRY} has repeats ${JSON.stringify(repeats)}`;
  if (!isPositive(blockedSoFar) || blockedSoFar > refusals) {
    yield `${TELEMETRY} has blockedSoFar ${JSON.stringify(blockedSoFar)} ` +
      `after a total of ${refusals} refused`;
  }
}

function isTelemetry(entry: AppendedEntry): boolean {
  return entry.customType === TELEMETRY;
}

function isPositive(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0;
}

/** Anything may be thrown, and a harness must survive it: even what refuses to become text. */
export function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    return `a value of type ${typeof error}`;
  }
}
