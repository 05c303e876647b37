import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import fc from "fast-check";

import { Repetition } from "../repetition.ts";

function count(calls: readonly (readonly [string, unknown])[]): readonly [number, number] {
  const repetition = new Repetition();
  for (const [tool, input] of calls) repetition.count(tool, input);
  return [repetition.longestRun, repetition.strongestRepeat];
}

test("no call repeats nothing", () => {
  assert.deepEqual(count([]), [0, 0]);
});

test("a run is of calls that follow one another, a repeat of calls that lie close together", () => {
  const a = ["bash", { command: "a" }] as const;
  const b = ["bash", { command: "b" }] as const;
  assert.deepEqual(count([a, a, b, a, b, a]), [2, 4]);
});

test("calls that lie more than twenty apart are no repeat", () => {
  const others = Array.from({ length: 19 }, (_, i) => ["read", { path: `${i}` }] as const);
  const a = ["bash", { command: "a" }] as const;
  assert.deepEqual(count([a, ...others, a]), [1, 1]);
  assert.deepEqual(count([a, ...others.slice(1), a]), [1, 2]);
});

test("the order of fields does not count, that of lists and the kind of values do", () => {
  const equal = (x: unknown, y: unknown) =>
    count([
      ["t", x],
      ["t", y],
    ])[0] === 2;
  assert.ok(equal({ a: 1, b: { c: [1], d: null } }, { b: { d: null, c: [1] }, a: 1 }));
  assert.ok(!equal({ a: [1, 2] }, { a: [2, 1] }));
  assert.ok(!equal({ a: 1 }, { a: "1" }));
  assert.ok(!equal({ a: [] }, { a: {} }));
  assert.ok(!equal([["a", 1]], { a: 1 }));
  const [run] = count([
    ["t", {}],
    ["u", {}],
  ]);
  assert.equal(run, 1);
});

test("a long input is told from another one that begins the same", () => {
  const long = "x".repeat(5000);
  assert.deepEqual(
    count([
      ["w", { content: long }],
      ["w", { content: long }],
    ]),
    [2, 2],
  );
  assert.deepEqual(
    count([
      ["w", { content: long }],
      ["w", { content: `${long}y` }],
    ]),
    [1, 1],
  );
});

test("a call that is too deep for a key is like no other", () => {
  const deep: { in: unknown } = { in: 0 };
  for (let i = 0; i < 20_000; i += 1) deep.in = { in: deep.in };
  assert.deepEqual(
    count([
      ["t", deep],
      ["t", deep],
    ]),
    [1, 1],
  );
});

test("both counts are those of a naive model", () => {
  const calls = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 60 });
  fc.assert(
    fc.property(calls, (names) => {
      let run = 0;
      let repeat = 0;
      for (let end = 1; end <= names.length; end += 1) {
        const last = names[end - 1];
        let length = 0;
        while (length < end && names[end - 1 - length] === last) length += 1;
        run = Math.max(run, length);
        const window = names.slice(Math.max(0, end - 20), end);
        repeat = Math.max(repeat, window.filter((name) => name === last).length);
      }
      assert.deepEqual(count(names.map((name) => [name, {}])), [run, repeat]);
    }),
  );
});

test("two inputs are identical exactly when they are the same JSON, in whatever order", () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(0, 1, "1", "", "a", true, null),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "10", "9", "__proto__"), tie("value"), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    ),
  }));
  const turned = (x: unknown): unknown => {
    if (typeof x !== "object" || x === null) return x;
    if (Array.isArray(x)) return x.map(turned);
    const fields = Object.entries(x).map(([name, field]) => [name, turned(field)] as const);
    return Object.fromEntries(fields.reverse());
  };
  fc.assert(
    fc.property(value, value, fc.boolean(), (one, other, same) => {
      const second = same ? turned(one) : other;
      const [run] = count([
        ["t", one],
        ["t", second],
      ]);
      assert.equal(run, isDeepStrictEqual(one, second) ? 2 : 1);
    }),
    { numRuns: 2000 },
  );
});
