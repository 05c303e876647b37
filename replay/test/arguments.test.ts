import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Tools } from "../arguments.ts";

/** What the hook is given for each call to a tool that Pi brings with it. */
const BUILT_IN: [why: string, tool: string, given: unknown, accepted: unknown][] = [
  ["what fits stays", "bash", { command: "ls", timeout: 3 }, { command: "ls", timeout: 3 }],
  ["a number in words", "bash", { command: "ls", timeout: "30" }, { command: "ls", timeout: 30 }],
  [
    "no number at all",
    "bash",
    { command: "ls", timeout: "soon" },
    { command: "ls", timeout: "soon" },
  ],
  ["an empty number", "read", { path: "a", limit: " " }, { path: "a", limit: " " }],
  ["a number for a text", "bash", { command: 7 }, { command: "7" }],
  ["a flag for a text", "write", { path: "a", content: true }, { path: "a", content: "true" }],
  ["a flag for a number", "read", { path: "a", offset: true }, { path: "a", offset: 1 }],
  ["no for a number", "read", { path: "a", offset: false }, { path: "a", offset: 0 }],
  ["null for what may be left out", "read", { path: "a", limit: null }, { path: "a" }],
  ["null for what may not", "bash", { command: null }, { command: "null" }],
  ["a flag in words", "grep", { pattern: "x", literal: "true" }, { pattern: "x", literal: true }],
  ["a flag as a number", "grep", { pattern: "x", literal: 0 }, { pattern: "x", literal: false }],
  [
    "no flag at all",
    "grep",
    { pattern: "x", literal: "maybe" },
    { pattern: "x", literal: "maybe" },
  ],
  ["a field that is not known", "ls", { path: ".", all: "1" }, { path: ".", all: "1" }],
  ["a tool that is not known", "poll", { job: "7" }, { job: "7" }],
  ["nothing that could be arguments", "bash", "ls", {}],
];

for (const [why, tool, given, accepted] of BUILT_IN) {
  test(`${tool} is given ${why}`, () => {
    assert.deepEqual(new Tools().accept(tool, given), accepted);
  });
}

const one = { oldText: "a", newText: "b" };
const EDITS: [why: string, given: unknown, edits: unknown][] = [
  ["a list", { path: "f", edits: [one] }, [one]],
  ["one edit", { path: "f", edits: one }, [one]],
  ["a list as JSON text", { path: "f", edits: JSON.stringify([one]) }, [one]],
  ["one edit as JSON text", { path: "f", edits: JSON.stringify(one) }, [one]],
  ["the older form", { path: "f", ...one }, [one]],
  ["the older form beside a list", { path: "f", edits: [one], ...one }, [one, one]],
  ["text that is no JSON", { path: "f", edits: "a -> b" }, ["a -> b"]],
  [
    "a number for a text",
    { path: "f", edits: [{ oldText: 1, newText: "b" }] },
    [{ ...one, oldText: "1" }],
  ],
];

for (const [why, given, edits] of EDITS) {
  test(`edit takes ${why}`, () => {
    assert.deepEqual(new Tools().accept("edit", given), { path: "f", edits });
  });
}

test("edit without an edit is left as it is", () => {
  assert.deepEqual(new Tools().accept("edit", { path: "f" }), { path: "f" });
  assert.deepEqual(new Tools().accept("edit", null), {});
});

test("what a session says of tools and makes no sense is passed over", () => {
  const tools = new Tools();
  const odd = [null, 5, { name: "bash" }, { name: "bash", parameters: 5 }];
  for (const declared of [odd, {}, null]) tools.declare(declared as never);
  assert.deepEqual(tools.accept("bash", { command: "ls", timeout: "3" }), {
    command: "ls",
    timeout: 3,
  });
});

test("the session's own tools replace Pi's", () => {
  const tools = new Tools();
  tools.declare([
    {
      name: "bash",
      parameters: { type: "object", properties: { command: { type: "integer" } } },
    },
    { name: "read" },
    { name: "pick", parameters: { properties: { one: { type: ["string", "null"] } } } },
  ]);
  assert.deepEqual(tools.accept("bash", { command: "3.9" }), { command: 3 });
  assert.deepEqual(tools.accept("read", { path: 1 }), { path: "1" });
  assert.deepEqual(tools.accept("pick", { one: null }), { one: null });
});

test("a property may have any name", () => {
  const given = JSON.parse('{"command":"ls","__proto__":1,"toString":"x"}');
  const accepted = new Tools().accept("bash", given);
  assert.deepEqual(Object.keys(accepted), ["command", "__proto__", "toString"]);
});

test("the arguments of the transcript are not changed", () => {
  const given = { path: "f", edits: JSON.stringify([one]), ...one };
  const before = structuredClone(given);
  new Tools().accept("edit", given);
  assert.deepEqual(given, before);
});

test("a field is converted the same whatever stands beside it", () => {
  const tools = new Tools();
  const type = (name: unknown) => ({ type: name });
  const parameters = {
    properties: {
      text: type("string"),
      number: type("number"),
      whole: type("integer"),
      flag: type("boolean"),
      either: type(["string", "null"]),
      any: {},
      object: type("object"),
      list: { type: "array", items: type("string") },
      inner: { type: "object", properties: { number: type("number") } },
      beside: type("number"),
    },
    required: ["text"],
  };
  tools.declare([{ name: "t", parameters } as never]);
  const names = [...Object.keys(parameters.properties), "unknown", "__proto__"];
  const field = fc.oneof(
    fc.constantFrom("", "a", "1", "true", 1, 2.5, 0, true, false, null),
    fc.constantFrom([], [1, null], ["a"], {}, { number: "1" }, { number: 1 }),
  );
  const given = fc.dictionary(fc.constantFrom(...names), field, { noNullPrototype: true });
  fc.assert(
    fc.property(given, (input) => {
      const { beside: _, ...alone } = input;
      const before = structuredClone(alone);
      const accepted = tools.accept("t", alone);
      const { beside, ...rest } = tools.accept("t", { ...alone, beside: "1" });
      assert.equal(beside, 1);
      assert.deepEqual(accepted, rest);
      assert.notEqual(accepted, alone);
      assert.deepEqual(alone, before);
    }),
    { numRuns: 2000 },
  );
});
