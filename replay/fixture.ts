/** Reads guard fixtures: the TypeScript side of `fixtures/guard.schema.json`. */

import {
  type DocumentResult,
  isCount,
  isObject,
  kindOf,
  parseDocument,
  readDocument,
  textProblems,
  unknownFields,
} from "./document.ts";
import { blockedProblems, type ExpectedRefusals, refusalProblems } from "./refusals.ts";

const FIXTURE = "fixture";

/** A call as the `tool_call` hook was given it. */
export interface RecordedCall {
  readonly toolName: string;
  /** Plain JSON data; an own property may have any name, `__proto__` too. */
  readonly input: Record<string, unknown>;
}

/** What a replay of the calls must observe. */
export interface Expected extends ExpectedRefusals {
  /** Number of `loop_broken` entries. */
  readonly entries: number;
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
  return checked(await readDocument(file, `a ${FIXTURE}`));
}

/** Checks the text of one fixture. Every problem is reported, not the first one alone. */
export function parseFixture(text: string): FixtureResult {
  return checked(parseDocument(text));
}

function checked(document: DocumentResult): FixtureResult {
  if (!document.ok) return { ok: false, problems: [document.problem] };
  const problems = [...fixtureProblems(document.value)];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, fixture: document.value as Fixture };
}

function* fixtureProblems(document: unknown): Generator<string> {
  if (!isObject(document)) {
    yield `$ is ${kindOf(document)}; give an object with name, calls and expected`;
    return;
  }
  yield* unknownFields("$", document, ["name", "source", "calls", "expected"], FIXTURE);
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
  yield* unknownFields(path, call, ["toolName", "input"], FIXTURE);
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
  yield* unknownFields("$.expected", expected, ["blocked", "entries", "firstBlock"], FIXTURE);
  const { blocked, entries, firstBlock } = expected;
  yield* blockedProblems("$.expected", blocked);
  if (!isCount(entries, 0)) {
    yield `$.expected.entries is ${kindOf(entries)}; give the number of loop_broken entries, 0 or more`;
  }
  yield* refusalProblems("$.expected", blocked, firstBlock, calls);
}
