/** Reads labelled scenarios: the TypeScript side of `fixtures/scenario.schema.json`. */

import {
  type DocumentResult,
  isCount,
  isObject,
  type JsonObject,
  kindOf,
  memberPath,
  parseDocument,
  readDocument,
  textProblems,
  unknownFields,
} from "./document.ts";
import { blockedProblems, type ExpectedRefusals, refusalProblems } from "./refusals.ts";

/** The guards that a scenario may be for. */
export const GUARD_NAMES = ["engine", "police"] as const;
export type GuardName = (typeof GUARD_NAMES)[number];

/** The truth about a scenario. */
export type Label = "loop" | "legitimate";

export interface ScenarioCall {
  readonly toolName: string;
  readonly input: Record<string, unknown>;
}

/** A call that reaches the hook. Without a result, an empty one is delivered. */
export interface CallEvent {
  readonly call: ScenarioCall;
  readonly result?: { readonly text: string; readonly isError?: boolean };
}

/** A call that Pi rejects before the hook, and what the model reads then. */
export interface InvalidEvent {
  /** `input` is what the model wrote: an object, or a text where it was not even JSON. */
  readonly invalid: { readonly toolName: string; readonly input: Record<string, unknown> | string };
  readonly error: string;
}

export interface StreamShape {
  /** Characters (UTF-16 units) that arrive at a time. Default: 20. */
  readonly chunk?: number;
  /** How often the text is said in a row. Default: 1. */
  readonly repeat?: number;
}

export type ScenarioEvent =
  | { readonly user: string }
  | CallEvent
  | InvalidEvent
  | { readonly batch: readonly (CallEvent | InvalidEvent)[] }
  | ({ readonly thinking: string } & StreamShape)
  | ({ readonly text: string } & StreamShape)
  | { readonly compaction: true };

export interface Scenario {
  readonly version: 1;
  readonly name: string;
  readonly source?: string;
  readonly label: Label;
  readonly kind?: string;
  readonly guards: readonly GuardName[];
  /** Settings of the police, as in its configuration file. */
  readonly config?: Readonly<Record<string, string | number>>;
  readonly events: readonly ScenarioEvent[];
  readonly expected: {
    readonly engine?: ExpectedRefusals;
    /** `by`: the number of the event by which a detection must have happened, 1 for the first. */
    readonly police?: { readonly by: number | null };
  };
}

/** A scenario, or all that is wrong with it: sentences that name the place and the remedy. */
export type ScenarioResult =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The most characters that one block may stream, repetitions included. */
export const MAX_STREAM_CHARS = 10_000_000;

/** Settings that make the police run a command or write a file: no scenario may do that. */
export const FORBIDDEN_SETTINGS = ["HOOK_CMD", "HOOK_LOG"] as const;

const FIELDS = [
  "version",
  "name",
  "source",
  "label",
  "kind",
  "guards",
  "config",
  "events",
  "expected",
];
const SCENARIO = "scenario";

/** Reads and checks one file. Whatever is wrong with it is in the result, never thrown. */
export async function readScenario(file: string): Promise<ScenarioResult> {
  return checked(await readDocument(file, `a ${SCENARIO}`));
}

/** Checks the text of one scenario. Every problem is reported, not the first one alone. */
export function parseScenario(text: string): ScenarioResult {
  return checked(parseDocument(text));
}

function checked(document: DocumentResult): ScenarioResult {
  if (!document.ok) return { ok: false, problems: [document.problem] };
  const problems = [...scenarioProblems(document.value)];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, scenario: document.value as Scenario };
}

function* scenarioProblems(document: unknown): Generator<string> {
  if (!isObject(document)) {
    yield `$ is ${kindOf(document)}; give an object with ${FIELDS.join(", ")}`;
    return;
  }
  yield* unknownFields("$", document, FIELDS, SCENARIO);
  const { version, source, label, kind, guards, config, events, expected } = document;
  if (version !== 1) yield `$.version is ${kindOf(version)}; give 1`;
  yield* textProblems("$", document, "name", "a text that names the scenario");
  if (source !== undefined) {
    yield* textProblems("$", document, "source", "a sentence on its origin, or leave it out");
  }
  if (label !== "loop" && label !== "legitimate") {
    yield `$.label is ${quoted(label)}; give "loop" or "legitimate"`;
  }
  if (kind !== undefined) {
    yield* textProblems("$", document, "kind", "the kind of sequence, or leave it out");
  }
  yield* guardsProblems(guards);
  yield* configProblems(config);
  yield* eventsProblems(events);
  yield* expectedProblems(expected, label, events);
}

function* guardsProblems(guards: unknown): Generator<string> {
  const list = `a list of ${GUARD_NAMES.map((name) => `"${name}"`).join(" and ")}, or one of them`;
  if (!Array.isArray(guards) || guards.length === 0) {
    yield `$.guards is ${kindOf(guards)}; give ${list}`;
    return;
  }
  for (const [index, guard] of guards.entries()) {
    if (!(GUARD_NAMES as readonly unknown[]).includes(guard)) {
      yield `$.guards[${index}] is ${quoted(guard)}; give ${list}`;
    } else if (guards.indexOf(guard) !== index) {
      yield `$.guards[${index}] is "${guard}" once more; remove it`;
    }
  }
}

function* configProblems(config: unknown): Generator<string> {
  if (config === undefined) return;
  if (!isObject(config)) {
    yield `$.config is ${kindOf(config)}; give an object with settings of the police`;
    return;
  }
  for (const [key, value] of Object.entries(config)) {
    const path = memberPath("$.config", key);
    if ((FORBIDDEN_SETTINGS as readonly string[]).includes(key)) {
      yield `${path} would act outside of the replay; remove it`;
    } else if (typeof value !== "string" && typeof value !== "number") {
      yield `${path} is ${kindOf(value)}; give a number or a text`;
    }
  }
}

function* eventsProblems(events: unknown): Generator<string> {
  if (!Array.isArray(events) || events.length === 0) {
    yield `$.events is ${kindOf(events)}; give the list of events, at least one`;
    return;
  }
  for (const [index, event] of events.entries()) {
    yield* eventProblems(`$.events[${index}]`, event, EVENT_KINDS);
  }
}

type Check = (path: string, event: JsonObject) => Generator<string>;

/** What may stand beside the field that gives an event its kind, and how it is checked. */
const EVENT_KINDS: Readonly<Record<string, { others: readonly string[]; check: Check }>> = {
  user: { others: [], check: (path, event) => textProblems(path, event, "user", "the prompt") },
  call: { others: ["result"], check: callProblems },
  batch: { others: [], check: batchProblems },
  invalid: { others: ["error"], check: invalidProblems },
  thinking: { others: ["chunk", "repeat"], check: streamProblems("thinking") },
  text: { others: ["chunk", "repeat"], check: streamProblems("text") },
  compaction: { others: [], check: compactionProblems },
};

const BATCH_KINDS = { call: EVENT_KINDS.call, invalid: EVENT_KINDS.invalid } as typeof EVENT_KINDS;

function* eventProblems(
  path: string,
  event: unknown,
  kinds: typeof EVENT_KINDS,
): Generator<string> {
  const names = Object.keys(kinds).join(", ");
  if (!isObject(event)) {
    yield `${path} is ${kindOf(event)}; give an object with one of ${names}`;
    return;
  }
  const found = Object.keys(event).filter((field) => Object.hasOwn(kinds, field));
  const [name = "", second] = found;
  const kind = kinds[name];
  if (kind === undefined || second !== undefined) {
    yield `${path} has ${found.length === 0 ? "none" : found.join(" and ")} of ${names}; ` +
      "give exactly one of them";
    return;
  }
  yield* unknownFields(path, event, [name, ...kind.others], "scenario event");
  yield* kind.check(path, event);
}

function* callProblems(path: string, event: JsonObject): Generator<string> {
  const { call, result } = event;
  if (!isObject(call)) {
    yield `${path}.call is ${kindOf(call)}; give an object with toolName and input`;
  } else {
    yield* unknownFields(`${path}.call`, call, ["toolName", "input"], "call");
    yield* textProblems(`${path}.call`, call, "toolName", "the name of the tool");
    if (!isObject(call.input)) {
      yield `${path}.call.input is ${kindOf(call.input)}; give an object with the arguments`;
    }
  }
  if (result === undefined) return;
  if (!isObject(result)) {
    yield `${path}.result is ${kindOf(result)}; give an object with text and isError`;
    return;
  }
  yield* unknownFields(`${path}.result`, result, ["text", "isError"], "result");
  if (typeof result.text !== "string") {
    yield `${path}.result.text is ${kindOf(result.text)}; give the text that the model reads`;
  }
  if (result.isError !== undefined && typeof result.isError !== "boolean") {
    yield `${path}.result.isError is ${kindOf(result.isError)}; give true or false`;
  }
}

function* batchProblems(path: string, { batch }: JsonObject): Generator<string> {
  if (!Array.isArray(batch) || batch.length === 0) {
    yield `${path}.batch is ${kindOf(batch)}; give the list of one message's calls, at least one`;
    return;
  }
  for (const [index, event] of batch.entries()) {
    yield* eventProblems(`${path}.batch[${index}]`, event, BATCH_KINDS);
  }
}

function* invalidProblems(path: string, event: JsonObject): Generator<string> {
  const { invalid } = event;
  if (!isObject(invalid)) {
    yield `${path}.invalid is ${kindOf(invalid)}; give an object with toolName and input`;
  } else {
    yield* unknownFields(`${path}.invalid`, invalid, ["toolName", "input"], "rejected call");
    yield* textProblems(`${path}.invalid`, invalid, "toolName", "the name of the tool");
    if (!isObject(invalid.input) && typeof invalid.input !== "string") {
      yield `${path}.invalid.input is ${kindOf(invalid.input)}; ` +
        "give an object with the arguments, or the text that was not JSON";
    }
  }
  yield* textProblems(path, event, "error", "what the model reads instead of a result");
}

function streamProblems(field: "thinking" | "text"): Check {
  return function* (path, event) {
    yield* textProblems(path, event, field, "the text of one block");
    for (const count of ["chunk", "repeat"] as const) {
      const value = event[count];
      if (value === undefined || isCount(value, 1)) continue;
      yield `${path}.${count} is ${kindOf(value)}; give a whole number from 1, or leave it out`;
    }
    const text = event[field];
    const repeat = isCount(event.repeat, 1) ? event.repeat : 1;
    if (typeof text === "string" && text.length * repeat > MAX_STREAM_CHARS) {
      yield `${path} streams ${text.length * repeat} characters; ` +
        `give at most ${MAX_STREAM_CHARS}, repetitions included`;
    }
  };
}

function* compactionProblems(path: string, { compaction }: JsonObject): Generator<string> {
  if (compaction !== true) yield `${path}.compaction is ${kindOf(compaction)}; give true`;
}

function* expectedProblems(expected: unknown, label: unknown, events: unknown): Generator<string> {
  if (!isObject(expected)) {
    yield `$.expected is ${kindOf(expected)}; ` +
      "give an object with what is expected of each guard, {} for nothing";
    return;
  }
  yield* unknownFields("$.expected", expected, GUARD_NAMES, SCENARIO);
  const { engine, police } = expected;
  if (engine !== undefined && !isObject(engine)) {
    yield `$.expected.engine is ${kindOf(engine)}; give an object with blocked and firstBlock`;
  } else if (engine !== undefined) {
    const path = "$.expected.engine";
    yield* unknownFields(path, engine, ["blocked", "firstBlock"], SCENARIO);
    yield* blockedProblems(path, engine.blocked);
    yield* refusalProblems(path, engine.blocked, engine.firstBlock, countCalls(events));
  }
  if (police !== undefined && !isObject(police)) {
    yield `$.expected.police is ${kindOf(police)}; give an object with by`;
  } else if (police !== undefined) {
    yield* unknownFields("$.expected.police", police, ["by"], SCENARIO);
    yield* deadlineProblems(police.by, label, eventCount(events));
  }
}

function* deadlineProblems(by: unknown, label: unknown, events: number): Generator<string> {
  const path = "$.expected.police.by";
  if (by === null) return;
  if (!isCount(by, 1)) {
    yield `${path} is ${kindOf(by)}; give the number of the event by which a loop must have ` +
      "been detected, or null";
  } else if (label === "legitimate") {
    yield `${path} is ${by}, but the label is "legitimate"; give null, or correct the label`;
  } else if (by > events) {
    yield `${path} is ${by}, but the number of events is ${events}; give the number of an event`;
  }
}

/** Of what is no list, there is no telling how many it was to hold. */
function eventCount(events: unknown): number {
  return Array.isArray(events) ? events.length : Number.POSITIVE_INFINITY;
}

/** How many calls reach the hook, as far as that can be told. */
function countCalls(events: unknown): number {
  if (!Array.isArray(events)) return Number.POSITIVE_INFINITY;
  return events
    .flatMap((event) => (isObject(event) && Array.isArray(event.batch) ? event.batch : [event]))
    .filter((event) => isObject(event) && "call" in event).length;
}

/** A short text as it stands, anything else in words. */
function quoted(value: unknown): string {
  return typeof value === "string" && value !== "" && value.length <= 30
    ? JSON.stringify(value)
    : kindOf(value);
}
