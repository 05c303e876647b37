import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { callKey } from "../call_key.ts";
import { canonicalPath, pathRules } from "../paths.ts";
import { shapeOfCall } from "../shape.ts";
import { isListed, searchPattern, toolRole, writtenPaths } from "../tools.ts";
import { config } from "./observations.ts";

describe("A path", () => {
  const linux = { cwd: "/home/u/project", home: "/home/u", platform: "linux" } as const;

  it("is one path however it is written", () => {
    const spellings = [
      "src/a.py",
      "./src/a.py",
      "src//a.py",
      "src/../src/a.py",
      " src/a.py ",
      "@src/a.py",
      "~/project/src/a.py",
      "/home/u/project/src/a.py",
      "file:///home/u/project/src/a.py",
    ];
    for (const spelling of spellings) {
      assert.equal(canonicalPath(spelling, linux), "/home/u/project/src/a.py", spelling);
    }
    assert.equal(canonicalPath("~", linux), "/home/u");
    assert.equal(canonicalPath("src/", linux), canonicalPath("src", linux));
  });

  it("is another one when another file is meant", () => {
    assert.notEqual(canonicalPath("src/A.py", linux), canonicalPath("src/a.py", linux));
    assert.notEqual(canonicalPath("a.py", linux), canonicalPath("src/a.py", linux));
    assert.notEqual(canonicalPath("~b/a", linux), canonicalPath("~/a", linux));
  });

  it("takes the forms of a character for the same, and an odd space for a plain one", () => {
    assert.equal(canonicalPath("caf\u0065\u0301", linux), canonicalPath("caf\u00e9", linux));
    assert.equal(canonicalPath("a\u202Fb", linux), canonicalPath("a b", linux));
  });

  it("does not depend on case where the system does not", () => {
    const mac = { ...linux, platform: "darwin" } as const;
    assert.equal(canonicalPath("src/A.py", mac), canonicalPath("src/a.py", mac));
    const windows = { cwd: "C:\\p", home: "C:\\u", platform: "win32" } as const;
    assert.equal(canonicalPath("src/A.py", windows), canonicalPath("C:\\P\\src\\a.py", windows));
    assert.equal(canonicalPath("file:///C:/p/a", windows), canonicalPath("a", windows));
  });

  it("stays a name when its address is damaged", () => {
    assert.equal(canonicalPath("file://%zz", linux), "/home/u/project/file:/%zz");
  });

  it("starts where the session works, by the rules of this system", () => {
    const rules = pathRules("/somewhere");
    assert.equal(rules.cwd, "/somewhere");
    assert.equal(rules.platform, process.platform);
  });
});

describe("A tool", () => {
  const role = (tool: string, input: unknown = {}, values = {}) =>
    toolRole(tool, input, config(values));

  it("is known by the words of its name", () => {
    const roles = {
      read: "read",
      Read: "read",
      file_read: "read",
      mcp__fs__read_file: "read",
      readFile: "read",
      "view-file": "read",
      cat: "read",
      write: "write",
      str_replace_editor: "write",
      applyPatch: "write",
      create_file: "write",
      edit: "write",
      grep: "search",
      find: "search",
      web_search: "search",
      preview: "other",
      concat: "other",
      review: "other",
      thread: "other",
      spreadsheet: "other",
      bash: "other",
      todo_read: "other",
      credit: "other",
      open_file: "read",
    };
    for (const [tool, expected] of Object.entries(roles)) assert.equal(role(tool), expected, tool);
  });

  it("that edits only looks when it is told to view", () => {
    assert.equal(role("str_replace_based_edit_tool", { command: "view" }), "read");
    assert.equal(role("str_replace_based_edit_tool", { command: "create" }), "write");
  });

  it("is what the user's lists say", () => {
    const lists = { READ_TOOLS: "peek, look_at", WRITE_TOOLS: "read", SEARCH_TOOLS: "hunt" };
    assert.equal(role("PEEK", {}, lists), "read");
    assert.equal(role("look_at", {}, lists), "read");
    assert.equal(role("read", {}, lists), "write");
    assert.equal(role("hunt", {}, lists), "search");
    assert.equal(role("hunter", {}, lists), "other");
    assert.equal(isListed("", " "), true, "a list with an empty name names the tool without one");
  });

  it("names its paths and its pattern under the usual names", () => {
    assert.deepEqual(writtenPaths({ path: "a" }), ["a"]);
    assert.deepEqual(writtenPaths({ file_path: "a", limit: 3 }), ["a"]);
    assert.deepEqual(writtenPaths({ paths: ["a", 5, "b"] }), ["a", "b"]);
    assert.deepEqual(writtenPaths({ path: "", file: "b" }), ["b"]);
    assert.deepEqual(writtenPaths({ text: "a" }), []);
    assert.deepEqual(writtenPaths(null), []);
    assert.deepEqual(writtenPaths("a"), []);
    assert.equal(searchPattern({ query: "x" }), "x");
    assert.equal(searchPattern({ query: 5 }), undefined);
  });
});

describe("A call's key", () => {
  function nested(levels: number): unknown {
    let deep: unknown = "end";
    for (let i = 0; i < levels; i++) deep = i % 2 === 0 ? [deep] : { deep };
    return deep;
  }

  it("is equal exactly when the JSON values are, whatever the order of their keys", () => {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
      const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
      return entries.map(([name, inner]) => [name, sorted(inner)]).concat([["{}", null]]);
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (a, b) => {
        const equal = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
        assert.equal(callKey("t", a) === callKey("t", b), equal);
        assert.equal(callKey("t", a), callKey("t", structuredClone(a)));
      }),
      { numRuns: 2000 },
    );
  });

  it("does not depend on the order of keys, but on that of a list and on types", () => {
    assert.equal(callKey("t", { a: 1, b: 2 }), callKey("t", { b: 2, a: 1 }));
    assert.notEqual(callKey("t", [1, 2]), callKey("t", [2, 1]));
    const different = [
      1,
      "1",
      true,
      null,
      undefined,
      1n,
      [],
      {},
      "",
      [[]],
      [null],
      { a: undefined },
    ];
    const keys = different.map((value) => callKey("t", value));
    assert.equal(new Set(keys).size, different.length);
    assert.notEqual(callKey("a", {}), callKey("b", {}));
  });

  it("has a bound, also for megabytes of arguments", () => {
    const large = { text: "x".repeat(5_000_000) };
    assert.ok((callKey("t", large) as string).length < 100);
    assert.notEqual(callKey("t", large), callKey("t", { text: `${large.text}y` }));
  });

  it("takes the same object twice, a hundred levels and lists of a million", () => {
    const shared = { a: 1 };
    assert.equal(callKey("t", [shared, shared]), callKey("t", [{ a: 1 }, { a: 1 }]));
    assert.equal(callKey("t", nested(100)), callKey("t", nested(100)));
    assert.notEqual(callKey("t", nested(100)), callKey("t", nested(101)));
    assert.notEqual(callKey("t", Array(1_000_000).fill(0)), undefined);
  });

  it("does not exist for arguments that cannot be compared", () => {
    assert.equal(callKey("t", nested(20_000)), undefined);
    let doubled: unknown = [];
    for (let i = 0; i < 60; i++) doubled = [doubled, doubled];
    assert.equal(callKey("t", doubled), undefined, "2 to the 60th values in 60 objects");
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    assert.equal(callKey("t", cycle), undefined);
    const hostile = {
      get trap() {
        throw new Error("no");
      },
    };
    assert.equal(callKey("t", hostile), undefined);
  });
});

describe("The shape of a call", () => {
  const tools = [
    {
      name: "edit",
      parameters: {
        type: "object",
        required: ["path", "edits"],
        properties: {
          path: { type: "string" },
          edits: {
            type: "array",
            items: { type: "object", required: ["old"], properties: { old: { type: "string" } } },
          },
          mode: { enum: ["a", "b"] },
          flag: { const: true },
          size: { anyOf: [{ type: "number" }, { type: ["string", "null"] }] },
          any: {},
        },
      },
    },
    { name: "bare", parameters: undefined },
  ];

  it("names what is required, what is optional, and of what type", () => {
    assert.equal(
      shapeOfCall("edit", tools),
      'edit(path: string, edits: [{old: string}], mode?: "a" | "b", flag?: true, ' +
        "size?: number | string | null, any?: any)",
    );
    assert.equal(shapeOfCall("bare", tools), "bare()");
  });

  it("is the list of tools for a tool that does not exist", () => {
    assert.equal(shapeOfCall("edti", tools), "one of these tools: edit, bare");
  });

  it("has a bound for deep and for wide schemas", () => {
    let deep: unknown = { type: "string" };
    for (let i = 0; i < 9; i++) deep = { type: "array", items: deep };
    const properties: Record<string, unknown> = { deep };
    for (let i = 0; i < 30; i++) properties[`p${i}`] = { type: "string" };
    const shape = shapeOfCall("t", [{ name: "t", parameters: { properties } }]);
    assert.match(shape, /deep\?: \[\[\[\[\.\.\.\]\]\]\]/);
    assert.match(shape, /p18\?: string, \.\.\.\)$/);
  });
});
