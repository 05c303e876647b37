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

    const known = findIdentical(window, key);
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
// keys are compared, which is cheaper than sorting every input. Nothing is escaped or written out, and
// copying and comparing walk a list, so neither length nor depth costs a stack.
//
// A hash over all of its content, but for most of a long text, keeps comparisons rare.

/**
 * What a key may weigh: one for each character, {@link VALUE_WEIGHT} for each value and each property
 * name, and {@link CONTAINER_WEIGHT} for each array and object, about the bytes that they take; names
 * that the objects of a list share count once. One string may have 16 Mi characters, a megabyte of
 * ordinary JSON fits several times over, and so do four hundred kilobytes of nothing but brackets. A
 * heavier call is admitted and not remembered. This bounds the time for one input, the memory of the
 * window, and the way into a cycle or an endless proxy.
 */
const MAX_WEIGHT = 2 ** 24;
const VALUE_WEIGHT = 16;
const CONTAINER_WEIGHT = 64;

/** The hash reads at most so many characters of a text. */
const SAMPLE = 32;

/** What the copy of a container holds until its turn comes. */
const NO_VALUES: readonly Value[] = [];

interface Key {
  readonly tool: string;
  readonly input: Value;
  /** The same for identical inputs. */
  readonly hash: number;
}

type Value = string | number | boolean | null | Container;

/** The copy of an array, or of an object if it has names. */
interface Container {
  names: readonly string[] | undefined;
  values: readonly Value[];
}

/** A container that has been met, with its copy, which is filled when its turn comes. */
interface Met {
  readonly source: object;
  readonly copy: Container;
  readonly place: number;
}

/** The names of an object's properties, and a hash of each. */
interface Shape {
  readonly names: readonly string[];
  readonly hashes: readonly number[];
}

/** A key in the making. */
interface Draft {
  /** Every array and object met so far. */
  readonly containers: Met[];
  /** The last one for each first name, to be shared with the next object that has the same names. */
  readonly shapes: Map<string, Shape>;
  weightLeft: number;
  hash: number;
}

// ---- Making a key

/** @throws if the call is not JSON, or too heavy, or throws while it is read. */
function keyOf(call: ToolCall): Key {
  const { toolName: tool } = call;
  if (typeof tool !== "string") throw notJson();
  const draft: Draft = {
    containers: [],
    shapes: new Map(),
    weightLeft: MAX_WEIGHT,
    hash: 0,
  };
  const input = copyValue(call.input, 0, draft);
  // The list grows while it is walked.
  for (const met of draft.containers) {
    if (Object.getOwnPropertySymbols(met.source).length > 0) throw notJson();
    if (Array.isArray(met.source)) copyArray(met.source, met, draft);
    else copyObject(met.source, met, draft);
  }
  return { tool, input, hash: draft.hash };
}

/** Copies a value that stands at a place, see {@link addToHash}. */
function copyValue(value: unknown, place: number, draft: Draft): Value {
  switch (typeof value) {
    case "string":
      spend(value.length, draft);
      addToHash(draft, place, hashText(value, Math.ceil(value.length / SAMPLE)));
      return value;
    case "number":
      if (!Number.isFinite(value)) throw notJson();
      addToHash(draft, place, hashNumber(value));
      return value;
    case "boolean":
      addToHash(draft, place, value ? TRUE : FALSE);
      return value;
    case "object": {
      if (value === null) {
        addToHash(draft, place, NULL);
        return value;
      }
      spend(CONTAINER_WEIGHT, draft);
      const copy: Container = { names: undefined, values: NO_VALUES };
      draft.containers.push({ source: value, copy, place });
      return copy;
    }
    default:
      throw notJson();
  }
}

/** Elements count, holes are no JSON. Named extras do not count, as in JSON text. */
function copyArray(source: readonly unknown[], { copy, place }: Met, draft: Draft): void {
  const { length } = source;
  if (!isArrayPrototype(Object.getPrototypeOf(source)) || !Number.isInteger(length)) {
    throw notJson();
  }
  spend(length * VALUE_WEIGHT, draft);
  const within = mix(place, ARRAY);
  addToHash(draft, within, length);
  const values = new Array<Value>(length);
  for (let i = 0; i < length; i += 1) {
    values[i] = copyValue(source[i], (within + Math.imul(i + 1, SPREAD)) | 0, draft);
  }
  copy.values = values;
}

/** Own enumerable properties count, as in JSON text; each is read once, getter or not. */
function copyObject(source: object, { copy, place }: Met, draft: Draft): void {
  const prototype: object | null = Object.getPrototypeOf(source);
  if (prototype !== null && !isObjectPrototype(prototype)) throw notJson();
  const { names, hashes } = sharedShape(Object.keys(source), draft);
  spend(names.length * VALUE_WEIGHT, draft);
  const within = mix(place, OBJECT);
  addToHash(draft, within, names.length);
  const values = new Array<Value>(names.length);
  let i = 0;
  for (const name of names) {
    const inner = (within + (hashes[i] as number)) | 0;
    values[i] = copyValue((source as Record<string, unknown>)[name], inner, draft);
    i += 1;
  }
  copy.names = names;
  copy.values = values;
}

/** A list of a thousand objects of one kind keeps their names once, and pays for them once. */
function sharedShape(names: readonly string[], draft: Draft): Shape {
  const first = names[0] ?? "";
  const known = draft.shapes.get(first);
  if (known !== undefined && sameNames(names, known.names)) return known;
  spend(names.length * VALUE_WEIGHT, draft);
  for (const name of names) spend(name.length, draft);
  const shape = { names, hashes: names.map((name) => hashText(name, 1)) };
  draft.shapes.set(first, shape);
  return shape;
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

// ---- Hashing

/** Odd numbers without a pattern, to multiply with. */
const SPREAD = 0x9e3779b1;
const STIR = 0x85ebca6b;

/** What stands for a value, or a kind of container, that has no content to hash. */
const ARRAY = 0x2545f491;
const OBJECT = 0x4f6cdd1d;
const TRUE = 0x6c8e9cf5;
const FALSE = 0x1b873593;
const NULL = 0x38b34ae5;

/**
 * Takes in what stands at a place. A place is a number for all the names and positions on the way to a
 * value, so that two values cannot trade places unnoticed. What stands where is added up, so that it
 * does not matter which property is read first.
 */
function addToHash(to: { hash: number }, place: number, hash: number): void {
  to.hash = (to.hash + mix(place, hash)) | 0;
}

function mix(a: number, b: number): number {
  const product = Math.imul(a ^ b, STIR);
  return product ^ (product >>> 15);
}

/** Reads every `step`th character, the last one included. */
function hashText(text: string, step: number): number {
  let hash = text.length;
  for (let i = text.length - 1; i >= 0; i -= step) {
    hash = Math.imul(hash ^ text.charCodeAt(i), SPREAD);
  }
  return hash;
}

/** A number and, in the same memory, the two halves of its bits. */
const float = new Float64Array(1);
const floatBits = new Int32Array(float.buffer);

function hashNumber(value: number): number {
  float[0] = value + 0; // -0 becomes 0
  return (floatBits[0] as number) ^ Math.imul(floatBits[1] as number, SPREAD);
}

// ---- Comparing keys

/**
 * The call in the window that is identical to one with this key. Only long texts that differ nowhere
 * but between the characters that are hashed get as far as being compared, and text compares fast.
 */
function findIdentical(window: readonly AdmittedCall[], key: Key): AdmittedCall | undefined {
  const { tool, hash, input } = key;
  const alike = window.filter((call) => call.key.hash === hash && call.key.tool === tool);
  return [...new Set(alike)].find((call) => sameInput(call.key.input, input));
}

/** Up to so many names are found faster one after another than through a map. */
const FEW_NAMES = 8;

/** Containers that have to be compared yet: one of the first input, one of the second, and so on. */
type Pairs = Container[];

function sameInput(a: Value, b: Value): boolean {
  const pairs: Pairs = [];
  if (!sameValue(a, b, pairs)) return false;
  // The list grows while it is walked.
  for (let i = 0; i < pairs.length; i += 2) {
    if (!sameContainer(pairs[i] as Container, pairs[i + 1] as Container, pairs)) return false;
  }
  return true;
}

/** Compares primitive values; two containers may be the same, and are noted down. */
function sameValue(a: Value | undefined, b: Value | undefined, pairs: Pairs): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b)) return false;
  pairs.push(a, b);
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
  if (names.length <= FEW_NAMES) return order.map((name) => values[names.indexOf(name)]);
  const byName = new Map(names.map((name, i) => [name, values[i]]));
  return order.map((name) => byName.get(name));
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
