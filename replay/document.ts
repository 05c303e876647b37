/** Reads JSON documents, and says in words what is wrong with them: the place and the remedy. */

import { readFile } from "node:fs/promises";

import { fileProblem, unreadable } from "./file.ts";
import { type FaultKind, parseJson } from "./json_text.ts";

/** More than any session of Pi's holds, and still read in seconds. */
const MOST_MIB = 64;

export type JsonObject = Record<string, unknown>;

/** A document, or the one sentence on why there is none. */
export type DocumentResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads one JSON file. Whatever is wrong with it is in the result, never thrown.
 *
 * @param what What it should be, with its article: "a fixture".
 */
export async function readDocument(file: string, what: string): Promise<DocumentResult> {
  let bytes: Uint8Array;
  try {
    const problem = await fileProblem(file, what, MOST_MIB);
    if (problem !== undefined) return { ok: false, problem };
    bytes = await readFile(file);
  } catch (error) {
    return { ok: false, problem: unreadable(error) };
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { ok: false, problem: "is not UTF-8 text; save it as UTF-8" };
  }
  return parseDocument(text);
}

const FAULTS: Readonly<Record<FaultKind, string>> = {
  syntax: "is not valid JSON",
  "repeated name": "has a name twice in one object, of which only one would count",
  "number too large": "has a number that is too large to be read",
};

/** Parses the text of a document. */
export function parseDocument(text: string): DocumentResult {
  const json = parseJson(text);
  if (json.ok) return json;
  const place = `line ${json.line}, column ${json.column}`;
  return { ok: false, problem: `${FAULTS[json.kind]}; correct ${place}` };
}

/** A sentence for each field that has no place in an object. */
export function* unknownFields(
  path: string,
  object: JsonObject,
  known: readonly string[],
  what: string,
): Generator<string> {
  for (const field of Object.keys(object)) {
    if (known.includes(field)) continue;
    yield `${memberPath(path, field)} is no field of a ${what}; ` +
      `remove it (the fields here: ${known.join(", ")})`;
  }
}

/** The path of an object's member. */
export function memberPath(path: string, field: string): string {
  return /^\w+$/.test(field) ? `${path}.${field}` : `${path}[${JSON.stringify(field)}]`;
}

/** A sentence if a field does not hold a text of at least one character. */
export function* textProblems(
  path: string,
  object: JsonObject,
  field: string,
  remedy: string,
): Generator<string> {
  const value = object[field];
  if (typeof value === "string" && value !== "") return;
  yield `${path}.${field} is ${kindOf(value)}; give ${remedy}`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a whole number from `least` on. */
export function isCount(value: unknown, least: number): value is number {
  return Number.isInteger(value) && (value as number) >= least;
}

/** What stands in a place of a JSON document, in words. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return `${value}`;
  if (typeof value === "string") return value === "" ? "empty" : "a text";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return "an object";
}
