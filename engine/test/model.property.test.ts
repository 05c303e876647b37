/** The guard against two naive models: of the policy, and of when two JSON values are the same. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createLoopBreaker, type JsonValue, type ToolCall } from "../engine.ts";
import { call, identical } from "./support.ts";

// ---- JSON values and their relatives -----------------------------------------------------------

/** Names that are special to JavaScript, sort unexpectedly, or are no well-formed text. */
const names = fc.constantFrom(
  ...["a", "b", "", "__proto__", "constructor", "toJSON", "length"],
  ...["0", "1", "9", "10", "01", "-1", "4294967295", "\ud800", "\udfff", "\uffff", "\u{1f600}"],
);

/** Texts that differ in the last, the middle, or only some other character, and odd ones. */
const texts = fc.oneof(
  fc.constantFrom("", "0", "1", "true", "null", "[]", "{}", "\ud800", "\udc00", "\ufffd"),
  fc
    .array(fc.constantFrom("a", "b", '"', "\\", "\n", "\ud83d", "\ude00", "é"), { maxLength: 8 })
    .map((units) => units.join("")),
);

const numbers = fc.oneof(
  fc.constantFrom(0, -0, 1, -1, 10, 0.1, 0.1 + 0.2, 0.3, 2 ** 53, 2 ** 53 - 1, 5e-324, 1e300),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const primitives = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null));

const values = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    primitives,
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(names, tie("value")), { maxLength: 5, selector: ([name]) => name })
      // `fromEntries` makes `__proto__` an own property, as JSON.parse does.
      .map((entries): JsonValue => Object.fromEntries(entries)),
  ),
})).value;

/** A random choice that belongs to a value, so that a failure can be replayed and shrunk. */
type Choose = (below: number) => number;
const choices = fc.infiniteStream(fc.nat(2 ** 20)).map(
  (stream): Choose =>
    (below) =>
      (stream.next().value ?? 0) % below,
);

function isObject(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A copy with the properties of all objects in another order. */
function shuffled(value: JsonValue, choose: Choose): JsonValue {
  if (isArray(value)) return value.map((element) => shuffled(element, choose));
  if (!isObject(value)) return value;
  const left = Object.entries(value);
  const entries: [string, JsonValue][] = [];
  while (left.length > 0) {
    for (const [name, inner] of left.splice(choose(left.length), 1)) {
      entries.push([name, shuffled(inner, choose)]);
    }
  }
  return Object.fromEntries(entries);
}

/** A copy with one change somewhere, which may turn out to be none. */
function changed(value: JsonValue, choose: Choose): JsonValue {
  if (isArray(value) && value.length > 0 && choose(3) > 0) {
    const at = choose(value.length);
    return value.map((element, i) => (i === at ? changed(element, choose) : element));
  }
  if (isObject(value) && Object.keys(value).length > 0 && choose(3) > 0) {
    const entries = Object.entries(value);
    const at = choose(entries.length);
    return Object.fromEntries(
      entries.map(([name, inner], i) => [name, i === at ? changed(inner, choose) : inner]),
    );
  }
  const options = relatives(value);
  return options[choose(options.length)] ?? null;
}

/** Values that a careless comparison could take for the given one. */
function relatives(value: JsonValue): JsonValue[] {
  if (isArray(value)) {
    return [
      [...value].reverse(),
      value.slice(1),
      [...value, null],
      [value],
      Object.fromEntries(value.entries()),
      value.flatMap((element) => element as JsonValue),
    ];
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    return [
      Object.values(value),
      Object.keys(value),
      Object.fromEntries(entries.slice(1)),
      Object.fromEntries([...entries, ["new", null]]),
      Object.fromEntries(entries.map(([name, inner]) => [name === "a" ? "A" : name, inner])),
      // The same names and the same values, but not of each other.
      Object.fromEntries(entries.map(([name], i) => [name, entries.at(i - 1)?.[1] ?? null])),
      { value },
    ];
  }
  return [String(value), Number(value) || 0, Boolean(value), null, [value], `${value}x`, {}];
}

// ---- The naive models --------------------------------------------------------------------------

/** JSON text with sorted names, which is the same exactly when the values are. */
function textOf(value: JsonValue): string {
  if (isArray(value)) return `[${value.map(textOf).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => [
    JSON.stringify(name),
    textOf(inner),
  ]);
  return `{${members
    .map((member) => member.join(":"))
    .sort()
    .join()}}`;
}

/** The policy, as one would say it: look through the last twenty admitted calls. */
class PolicyModel {
  #admitted: string[] = [];
  #blocked: Record<string, number> = {};

  /** The telemetry of a refusal, or `undefined`; `unsupported` calls leave no trace. */
  inspect({ toolName, input }: ToolCall, unsupported: boolean) {
    if (unsupported) return undefined;
    const text = textOf([toolName, input]);
    const repeats = this.#admitted.filter((each) => each === text).length;
    if (repeats >= 5) {
      const blockedSoFar = (this.#blocked[text] ?? 0) + 1;
      this.#blocked[text] = blockedSoFar;
      return { tool: toolName, repeats, blockedSoFar };
    }
    this.#admitted = [...this.#admitted, text].slice(-20);
    for (const each of Object.keys(this.#blocked)) {
      if (!this.#admitted.includes(each)) delete this.#blocked[each];
    }
    return undefined;
  }
}

// ---- The properties ----------------------------------------------------------------------------

describe("the breaker", () => {
  const calls = fc.tuple(fc.constantFrom("read", "bash"), values);
  const runs = fc.array(
    fc.record({ which: fc.nat(9), length: fc.integer({ min: 1, max: 8 }), choose: choices }),
    { minLength: 10, maxLength: 60, size: "max" },
  );

  it("does what the model of its policy does, over any sequence of calls", () => {
    let refused = 0;
    let recounted = 0;
    const property = fc.property(
      fc.array(calls, { minLength: 2, maxLength: 8, size: "max" }),
      runs,
      (alphabet, sequence) => {
        const inspect = createLoopBreaker();
        const model = new PolicyModel();
        const counts = new Map<string, number>();
        for (const { which, length, choose } of sequence) {
          const [toolName, value] = alphabet[which] ?? ["unsupported", null];
          const unsupported = toolName === "unsupported";
          for (let i = 0; i < length; i += 1) {
            const input = unsupported ? [undefined] : shuffled(value, choose);
            const actual = inspect(call(toolName, input));
            const expected = model.inspect({ toolName, input: value }, unsupported);
            assert.deepEqual(actual?.telemetry, expected);
            if (expected === undefined) continue;
            refused += 1;
            const text = textOf([toolName, value]);
            if (expected.blockedSoFar <= (counts.get(text) ?? 0)) recounted += 1;
            counts.set(text, expected.blockedSoFar);
          }
        }
      },
    );
    fc.assert(property, { numRuns: 300 });
    // A sequence without refusals, or without a count that begins anew, would show little.
    assert.ok(refused > 1000, `only ${refused} calls were refused`);
    assert.ok(recounted > 50, `only ${recounted} counts began anew`);
  });
});

describe("two inputs are identical exactly when they are the same JSON value", () => {
  function agrees(first: JsonValue, second: JsonValue): void {
    const same = textOf(first) === textOf(second);
    assert.equal(identical(first, second), same);
    assert.equal(identical(second, first), same);
  }

  it("for two values that have nothing to do with each other", () => {
    fc.assert(fc.property(values, values, agrees), { numRuns: 1000 });
  });

  it("for a value and itself read back from its text", () => {
    const readBack = (value: JsonValue) => {
      const copy = JSON.parse(JSON.stringify(value)) as JsonValue;
      assert.equal(identical(value, copy), true);
    };
    fc.assert(fc.property(values, readBack), { numRuns: 1000 });
  });

  it("for a value and itself with its properties in another order", () => {
    const inAnyOrder = (value: JsonValue, choose: Choose) => {
      assert.equal(identical(value, shuffled(value, choose)), true);
    };
    fc.assert(fc.property(values, choices, inAnyOrder), { numRuns: 1000 });
  });

  it("for a value and a close relative", () => {
    let different = 0;
    const property = fc.property(values, choices, (value, choose) => {
      const relative = shuffled(changed(value, choose), choose);
      if (textOf(value) !== textOf(relative)) different += 1;
      agrees(value, relative);
    });
    fc.assert(property, { numRuns: 3000 });
    assert.ok(different > 1500, `only ${different} relatives were different`);
  });
});
