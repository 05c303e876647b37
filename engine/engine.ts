/**
 * Satyrn Engine: loop protection for the Pi coding agent.
 *
 * The extension refuses a tool call when five identical calls already stand among the last twenty
 * that it admitted. This file is self-contained, so that Pi can load it from a package or by itself.
 */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

// ---- What the guard decides ------------------------------------------------------------------

/**
 * How many admitted calls are remembered, and how many identical ones among them are enough. Both
 * come from recorded runs: one made 261 calls, of which 245 were the same successful `ls -R`, while
 * the longest healthy one, of 22 calls, made none of them more than twice.
 */
const WINDOW = 20;
const REPEATS = 5;

/** What a tool takes as its input once Pi has validated it. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A tool call that is about to run. */
export interface ToolCall {
  readonly toolName: string;
  /** JSON as far as the type can tell; a call whose input turns out not to be is admitted. */
  readonly input: JsonValue;
}

/** The data of a `loop_broken` entry in the session. */
export interface LoopBrokenData {
  /** The tool whose call was refused. */
  readonly tool: string;
  /** How many identical calls stand among the last twenty admitted ones. */
  readonly repeats: number;
  /** How often this call was refused, this time included, since it entered the last twenty. */
  readonly blockedSoFar: number;
}

/** The refusal of a tool call. */
export interface BlockDecision {
  readonly block: true;
  /** What the model reads in place of a result. */
  readonly reason: string;
  readonly telemetry: LoopBrokenData;
}

/** What is known of an admitted call. It ends, with its counts, when its last place is evicted. */
interface AdmittedCall {
  readonly key: Key;
  inWindow: number;
  blocked: number;
}

/**
 * Makes a loop breaker that has seen no call yet.
 *
 * The function that it returns is given every call before it runs, and answers with the refusal, or
 * with `undefined` when the call is admitted. It never throws, and keeps no reference to an input.
 */
export function createLoopBreaker(): (call: ToolCall) => BlockDecision | undefined {
  /** Oldest first. Identical calls share one element. */
  const window: AdmittedCall[] = [];

  return (call) => {
    const key = contained(() => keyOf(call));
    if (key === undefined) return undefined;

    const known = window.find((admitted) => sameKey(admitted.key, key));
    if (known !== undefined && known.inWindow >= REPEATS) {
      known.blocked += 1;
      return refusal(known);
    }

    const admitted = known ?? { key, inWindow: 0, blocked: 0 };
    admitted.inWindow += 1;
    window.push(admitted);
    for (const evicted of window.splice(0, window.length - WINDOW)) evicted.inWindow -= 1;
    return undefined;
  };
}

/** All that the guard says to a model. */
function refusal({ key: { tool }, inWindow, blocked }: AdmittedCall): BlockDecision {
  const reason =
    `Refused: ${tool} was already called ${inWindow} times with exactly this input within the ` +
    `last ${WINDOW} admitted calls. Another identical call will not change the result. Use what ` +
    "those calls returned and take a different concrete action: change the input, use another " +
    "tool, or say what keeps you from going on.";
  return { block: true, reason, telemetry: { tool, repeats: inWindow, blockedSoFar: blocked } };
}

// ---- How Pi meets it -------------------------------------------------------------------------

/** Registers the guard with Pi. Each registration remembers its own calls and no others. */
export default function loopBreaker(pi: ExtensionAPI): void {
  const inspect = createLoopBreaker();
  pi.on("tool_call", (event) => {
    const decision = contained(() =>
      inspect({ toolName: event.toolName, input: event.input as JsonValue }),
    );
    if (decision === undefined) return undefined;
    record(pi, decision.telemetry);
    return { block: true, reason: decision.reason };
  });
}

/** Stores a refusal in the session, now. A refusal stands whether or not it could be stored. */
function record(pi: ExtensionAPI, data: LoopBrokenData): void {
  // A promise contains both an error thrown here and the rejection of a promise returned.
  new Promise<void>((resolve) => resolve(pi.appendEntry("loop_broken", data))).catch(() => {});
}

/** Pi blocks a call whose handler throws; so a fault of the guard's own means that it saw nothing. */
function contained<T>(inspection: () => T): T | undefined {
  try {
    return inspection();
  } catch {
    return undefined;
  }
}

// ---- When two calls are identical --------------------------------------------------------------
//
// A key is a copy of a call's containers around the same primitive values. Two keys are the same
// exactly when the tool names and the inputs, as JSON values, are. Property order is dealt with when
// keys are compared, which is rarely needed and cheaper than sorting every input. Nothing is escaped
// or written out, and copying and comparing walk a list, so neither length nor depth costs a stack.

/**
 * What a key may weigh: one for each character, {@link VALUE_WEIGHT} for each value and each property
 * name, and {@link CONTAINER_WEIGHT} for each array and object, about the bytes that they take. One
 * string may have 16 Mi characters, a megabyte of ordinary JSON fits several times over, and so do four
 * hundred kilobytes of nothing but brackets. A heavier call is admitted and not remembered. This bounds
 * the time for one input, the memory of the window, and the way into a cycle or an endless proxy.
 */
const MAX_WEIGHT = 2 ** 24;
const VALUE_WEIGHT = 16;
const CONTAINER_WEIGHT = 64;

/** What the copy of a container holds until its turn comes. */
const NO_VALUES: readonly Value[] = [];

interface Key {
  readonly tool: string;
  readonly input: Value;
  /** Differs for almost all different inputs, so that few keys are compared value by value. */
  readonly hash: number;
}

type Value = string | number | boolean | null | Container;

/** The copy of an array, or of an object if it has names. */
interface Container {
  names: readonly string[] | undefined;
  values: readonly Value[];
}

/** A key in the making. */
interface Draft {
  /** Every array and object met so far with its copy, which is filled when its turn comes. */
  readonly containers: { readonly source: object; readonly copy: Container }[];
  /** The names of the last object, to be shared with the next one if that has the same. */
  names: readonly string[];
  weightLeft: number;
  hash: number;
}

/** @throws if the call is not JSON, or too heavy, or throws while it is read. */
function keyOf(call: ToolCall): Key {
  const { toolName: tool } = call;
  if (typeof tool !== "string") throw notJson();
  const draft: Draft = { containers: [], names: [], weightLeft: MAX_WEIGHT, hash: 0 };
  const input = copyValue(call.input, draft);
  // The list grows while it is walked.
  for (const { source, copy } of draft.containers) {
    if (Object.getOwnPropertySymbols(source).length > 0) throw notJson();
    if (Array.isArray(source)) copyArray(source, copy, draft);
    else copyObject(source, copy, draft);
  }
  return { tool, input, hash: draft.hash };
}

function copyValue(value: unknown, draft: Draft): Value {
  switch (typeof value) {
    case "string":
      spend(value.length, draft);
      draft.hash = (draft.hash + hashText(value)) | 0;
      return value;
    case "number":
      if (!Number.isFinite(value)) throw notJson();
      // Any factor would do that brings a small difference between two fractions before the point.
      draft.hash = (draft.hash + ((value * 4093.17) | 0)) | 0;
      return value;
    case "boolean":
      return value;
    case "object": {
      if (value === null) return value;
      spend(CONTAINER_WEIGHT, draft);
      const copy: Container = { names: undefined, values: NO_VALUES };
      draft.containers.push({ source: value, copy });
      return copy;
    }
    default:
      throw notJson();
  }
}

/** Elements count, holes are no JSON. Named extras do not count, as in JSON text. */
function copyArray(source: readonly unknown[], copy: Container, draft: Draft): void {
  const { length } = source;
  if (!isArrayPrototype(Object.getPrototypeOf(source)) || !Number.isInteger(length)) {
    throw notJson();
  }
  spend(length * VALUE_WEIGHT, draft);
  const values = new Array<Value>(length);
  for (let i = 0; i < length; i += 1) values[i] = copyValue(source[i], draft);
  copy.values = values;
}

/** Own enumerable properties count, as in JSON text; each is read once, getter or not. */
function copyObject(source: object, copy: Container, draft: Draft): void {
  const prototype: object | null = Object.getPrototypeOf(source);
  if (prototype !== null && !isObjectPrototype(prototype)) throw notJson();
  const names = sharedNames(Object.keys(source), draft);
  spend(names.length * 2 * VALUE_WEIGHT, draft);
  const values = new Array<Value>(names.length);
  let i = 0;
  for (const name of names) {
    spend(name.length, draft);
    values[i] = copyValue((source as Record<string, unknown>)[name], draft);
    i += 1;
  }
  copy.names = names;
  copy.values = values;
}

/** A list of a thousand objects of one kind needs their names once. */
function sharedNames(names: readonly string[], draft: Draft): readonly string[] {
  if (!sameNames(names, draft.names)) draft.names = names;
  return draft.names;
}

/** Adds up without regard to order, as objects need. Reading it all would cost more than it saves. */
function hashText(text: string): number {
  const last = text.length - 1;
  const sample =
    (text.charCodeAt(0) << 20) ^ (text.charCodeAt(last >> 1) << 10) ^ text.charCodeAt(last);
  return Math.imul(sample ^ (last << 5), 0x9e3779b1);
}

function spend(weight: number, draft: Draft): void {
  draft.weightLeft -= weight;
  if (draft.weightLeft < 0) throw new RangeError("the input is too heavy for a key");
}

function notJson(): TypeError {
  return new TypeError("the call is not JSON");
}

/** `Object.prototype` of this realm or another. */
function isObjectPrototype(value: object): boolean {
  if (value === Object.prototype) return true;
  return Object.getPrototypeOf(value) === null && Object.hasOwn(value, "isPrototypeOf");
}

/** `Array.prototype` of this realm or another; it is an array itself. */
function isArrayPrototype(value: object | null): boolean {
  if (value === Array.prototype) return true;
  return Array.isArray(value) && isObjectPrototype(Object.getPrototypeOf(value));
}

/** Containers that have to be compared yet. */
type Pairs = (readonly [Container, Container])[];

function sameKey(a: Key, b: Key): boolean {
  if (a.hash !== b.hash || a.tool !== b.tool) return false;
  const pairs: Pairs = [];
  if (!sameValue(a.input, b.input, pairs)) return false;
  // The list grows while it is walked.
  for (const [left, right] of pairs) if (!sameContainer(left, right, pairs)) return false;
  return true;
}

/** Compares primitive values; two containers may be the same, and are noted down. */
function sameValue(a: Value | undefined, b: Value | undefined, pairs: Pairs): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b)) return false;
  pairs.push([a, b]);
  return true;
}

function isContainer(value: Value | undefined): value is Container {
  return typeof value === "object" && value !== null;
}

function sameContainer(a: Container, b: Container, pairs: Pairs): boolean {
  if ((a.names === undefined) !== (b.names === undefined)) return false;
  const { length } = a.values;
  if (length !== b.values.length) return false;
  const values = inOrderOf(a.names, b);
  for (let i = 0; i < length; i += 1) {
    if (!sameValue(a.values[i], values[i], pairs)) return false;
  }
  return true;
}

/** The values of a container in the order of other names; `undefined` for a name that it has not. */
function inOrderOf(
  order: readonly string[] = [],
  { names = [], values }: Container,
): readonly (Value | undefined)[] {
  if (sameNames(order, names)) return values;
  const byName = new Map(names.map((name, i) => [name, values[i]]));
  return order.map((name) => byName.get(name));
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
