/** Reads guard fixtures: the TypeScript side of `fixtures/guard.schema.json`. */

import { readFile, stat } from "node:fs/promises";

import { parseJson } from "./json_text.ts";

/** A call as the `tool_call` hook was given it. */
export interface RecordedCall {
  readonly toolName: string;
  /** Plain JSON data; an own property may have any name, `__proto__` too. */
  readonly input: Record<string, unknown>;
}

/** What a replay of the calls must observe. */
export interface Expected {
  /** Number of refused calls. */
  readonly blocked: number;
  /** Number of `loop_broken` entries. */
  readonly entries: number;
  /** The first refused call, 1 for the first of the fixture; null if none is refused. */
  readonly firstBlock: number | null;
}

export interface Fixture {
  readonly name: string;
  readonly source?: string;
  readonly calls: readonly RecordedCall[];
  readonly expected: Expected;
}

/** A fixture, or all that is wrong with it: sentences that name the place and the remedy. */
export type FixtureResult =
  | { readonly ok: true; readonly fixture: Fixture }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads and checks one fixture file. Whatever is wrong with it is in the result, never thrown. */
export async function readFixture(file: string): Promise<FixtureResult> {
  let bytes: Uint8Array;
  try {
    const found = await stat(file);
    if (found.isDirectory()) return refused("is a folder; name the fixture files in it");
    if (!found.isFile()) return refused("is not a regular file; name a fixture file");
    bytes = await readFile(file);
  } catch (error) {
    return refused(unreadable(error));
  }
  try {
    return parseFixture(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return refused("is not UTF-8 text; save it as UTF-8");
  }
}

/** Checks the text of one fixture. Every problem is reported, not the first one alone. */
export function parseFixture(text: string): FixtureResult {
  const json = parseJson(text);
  if (!json.ok) {
    return refused(`is not valid JSON; correct line ${json.line}, column ${json.column}`);
  }
  const problems = [...fixtureProblems(json.value)];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, fixture: json.value as Fixture };
}

function refused(problem: string): FixtureResult {
  return { ok: false, problems: [problem] };
}

function unreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist; check the path";
  return `cannot be read (${code}); check the path and its permissions`;
}

type JsonObject = Record<string, unknown>;

function* fixtureProblems(document: unknown): Generator<string> {
  if (!isObject(document)) {
    yield `$ is ${kindOf(document)}; give an object with name, calls and expected`;
    return;
  }
  yield* unknownFields("$", document, ["name", "source", "calls", "expected"]);
  yield* textProblems("$", document, "name", "a text that names the fixture");
  const { source, calls, expected } = document;
  if (source !== undefined) {
    yield* textProblems("$", document, "source", "a sentence on its origin, or leave it out");
  }
  if (!Array.isArray(calls) || calls.length === 0) {
    yield `$.calls is ${kindOf(calls)}; give the list of recorded calls, at least one`;
  } else {
    for (const [index, call] of calls.entries()) yield* callProblems(`$.calls[${index}]`, call);
  }
  const length = Array.isArray(calls) && calls.length > 0 ? calls.length : Number.POSITIVE_INFINITY;
  yield* expectedProblems(expected, length);
}

function* callProblems(path: string, call: unknown): Generator<string> {
  if (!isObject(call)) {
    yield `${path} is ${kindOf(call)}; give an object with toolName and input`;
    return;
  }
  yield* unknownFields(path, call, ["toolName", "input"]);
  yield* textProblems(path, call, "toolName", "the name of the tool");
  const { input } = call;
  if (!isObject(input)) {
    yield `${path}.input is ${kindOf(input)}; give an object with the tool's arguments`;
  }
}

function* expectedProblems(expected: unknown, calls: number): Generator<string> {
  if (!isObject(expected)) {
    yield `$.expected is ${kindOf(expected)}; give an object with blocked, entries and firstBlock`;
    return;
  }
  yield* unknownFields("$.expected", expected, ["blocked", "entries", "firstBlock"]);
  const { blocked, entries, firstBlock } = expected;
  if (!isCount(blocked, 0)) {
    yield `$.expected.blocked is ${kindOf(blocked)}; give the number of refused calls, 0 or more`;
  }
  if (!isCount(entries, 0)) {
    yield `$.expected.entries is ${kindOf(entries)}; give the number of loop_broken entries, 0 or more`;
  }
  if (firstBlock !== null && !isCount(firstBlock, 1)) {
    yield `$.expected.firstBlock is ${kindOf(firstBlock)}; give null if no call is refused, ` +
      "else the number of the first refused call, counted from 1";
  } else if (isCount(blocked, 0)) {
    yield* contradictions(blocked, firstBlock, calls);
  }
}

/** Expectations that no replay of `calls` calls can meet. */
function* contradictions(
  blocked: number,
  firstBlock: number | null,
  calls: number,
): Generator<string> {
  if (firstBlock === null) {
    if (blocked === 0) return;
    yield `$.expected.firstBlock is null, but blocked is ${blocked}; ` +
      "give the number of the first refused call, or set blocked to 0";
  } else if (blocked === 0) {
    yield `$.expected.firstBlock is ${firstBlock}, but blocked is 0; ` +
      "set firstBlock to null, or blocked to the number of refused calls";
  } else if (firstBlock > calls) {
    yield `$.expected.firstBlock is ${firstBlock}, but the number of calls is ${calls}; ` +
      "give the number of a call";
  } else if (blocked > calls - firstBlock + 1) {
    yield `$.expected.blocked is ${blocked}, but from call ${firstBlock} on ` +
      `the number of calls is ${calls - firstBlock + 1}; correct blocked or firstBlock`;
  }
}

function* unknownFields(
  path: string,
  object: JsonObject,
  known: readonly string[],
): Generator<string> {
  for (const field of Object.keys(object)) {
    if (known.includes(field)) continue;
    const name = /^\w+$/.test(field) ? `.${field}` : `[${JSON.stringify(field)}]`;
    yield `${path}${name} is no field of a fixture; remove it (the fields here: ${known.join(", ")})`;
  }
}

function* textProblems(
  path: string,
  object: JsonObject,
  field: string,
  remedy: string,
): Generator<string> {
  const value = object[field];
  if (typeof value === "string" && value !== "") return;
  yield `${path}.${field} is ${kindOf(value)}; give ${remedy}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown, least: number): value is number {
  return Number.isInteger(value) && (value as number) >= least;
}

/** What stands in a place of a JSON document, in words. */
function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return `${value}`;
  if (typeof value === "string") return value === "" ? "empty" : "a text";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return "an object";
}
