import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { profileOf } from "../calls/profile.ts";
import { readShell } from "../calls/shell.ts";
import { bash, callOf } from "./support.ts";

describe("a shell command", () => {
  const kinds: [string, ReturnType<typeof readShell>["kind"]][] = [
    ["cat a.txt", "read"],
    ["sed -n '2,5p' a.txt | head -3", "read"],
    ["awk '{print $1}' a.txt", "read"],
    ["cat a.txt | sort", "other"],
    ["cat > a.txt <<EOF", "change"],
    ["echo x >> log", "change"],
    ["echo x >log", "change"],
    ["make >/dev/null 2>&1", "other"],
    ["make > /dev/null", "other"],
    ["make &> /dev/null", "other"],
    ["make >", "other"],
    ["grep -rn x src | head", "search"],
    ["cd src && rg x", "search"],
    ["git grep x", "search"],
    ["ls -la", "list"],
    ["find . -name x", "list"],
    ["sleep 5", "wait"],
    ["sleep 5 && wait", "wait"],
    ["sleep 5; ./status", "other"],
    ["sed -i s/a/b/ f", "change"],
    ["perl -pi -e s/a/b/ f", "change"],
    ["mv a b", "change"],
    ["systemctl status x", "other"],
    ["systemctl restart x", "change"],
    ["git checkout main", "change"],
    ["git status", "other"],
    ["git", "other"],
    ["npm install left-pad", "change"],
    ["npm test", "other"],
    ["pip3 install x", "change"],
    ["sudo -n true; FOO=1 timeout 5 npm ci", "change"],
    ["npx prettier --write .", "change"],
    ["ruff check --fix", "change"],
    ["toString", "other"],
    ["", "other"],
    ["'unclosed", "other"],
  ];
  for (const [command, kind] of kinds) {
    it(`\`${command}\` is "${kind}"`, () => assert.equal(readShell(command).kind, kind));
  }

  const equal: [string, string][] = [
    ["make  all", "make all"],
    ["make all # again", "make all"],
    ["make all 2>&1 | tail -20", "make all"],
    ["cd . && make all", "make all"],
    ["echo go; make all", "make all"],
    ["make 'all'", "make all"],
    ["python3 -m pytest -q", "pytest"],
    ["env A=1 sudo make all", "make all"],
    ["make all &", "make all"],
    ["make all &>/dev/null", "make all"],
    ["make a\\ b\\\n", "make a\\ b\\"],
  ];
  for (const [one, other] of equal) {
    it(`\`${one}\` is \`${other}\``, () => {
      assert.equal(readShell(one).canonical.trim(), readShell(other).canonical.trim());
    });
  }

  const different: [string, string][] = [
    ["cd a && make", "cd b && make"],
    ["make 'a # b'", "make 'a # c'"],
    ["echo one", "echo two"],
    [`run ${"x".repeat(5_000)}1`, `run ${"x".repeat(5_000)}2`],
  ];
  for (const [one, other] of different) {
    it(`\`${one.slice(0, 20)}\` is not \`${other.slice(0, 20)}\``, () => {
      assert.notEqual(readShell(one).canonical, readShell(other).canonical);
    });
  }

  const all = Number.POSITIVE_INFINITY;
  const ranges: [string, [string, number, number][]][] = [
    [
      "cat ./src//a.ts b.ts",
      [
        ["src/a.ts", 1, all],
        ["b.ts", 1, all],
      ],
    ],
    ["head a", [["a", 1, 10]]],
    ["head -n 5 a", [["a", 1, 5]]],
    ["head -7 a", [["a", 1, 7]]],
    ["sed -n 4p a", [["a", 4, 4]]],
    ["sed -n '4,9p' a", [["a", 4, 9]]],
    ["sed -n '4,$p' a", [["a", 4, all]]],
    ["sed s/x/y/ a", [["a", 1, all]]],
    ["tail -n +3 a", [["a", 3, all]]],
    ["tail -5 a", [["a", Number.NaN, Number.NaN]]],
    ["awk '{print}' a", []],
  ];
  for (const [command, expected] of ranges) {
    it(`\`${command}\` shows its lines`, () => {
      assert.deepEqual(
        readShell(command).ranges.map((r) => [r.path, r.from, r.to]),
        expected,
      );
    });
  }
});

describe("the profile of a call", () => {
  const kindOf = (tool: string, input: Record<string, unknown> = {}) =>
    profileOf(callOf({ tool, input })).kind;

  it("follows the words of the tool's name and its role", () => {
    assert.equal(kindOf("mcp__fs__read_file", { path: "a" }), "read");
    assert.equal(kindOf("get_page", { path: "a" }), "read");
    assert.equal(kindOf("get_weather"), "action");
    assert.equal(kindOf("listIssues"), "list");
    assert.equal(kindOf("query_db"), "search");
    assert.equal(kindOf("sendMail"), "send");
    assert.equal(kindOf("db_insert"), "change");
    assert.equal(kindOf("edit", { path: "a" }), "change");
    assert.equal(kindOf("globber"), "search");
    assert.equal(kindOf("browser", { action: "scroll_up" }), "step");
    assert.equal(kindOf("wait"), "wait");
    assert.equal(kindOf("bash", { command: "" }), "action");
    assert.equal(kindOf("mcp__term__bash", { command: "ls" }), "list");
  });

  const range = (input: Record<string, unknown>) => {
    const [r] = profileOf(callOf({ tool: "read", input: { path: "a", ...input } })).ranges;
    return [r?.from, r?.to];
  };
  const all = Number.POSITIVE_INFINITY;

  it("knows the lines that are asked for, however the tool spells it", () => {
    assert.deepEqual(range({}), [1, all]);
    assert.deepEqual(range({ offset: 5, limit: 10 }), [5, 14]);
    assert.deepEqual(range({ limit: "10" }), [1, 10]);
    assert.deepEqual(range({ start_line: "3", end_line: 8 }), [3, 8]);
    assert.deepEqual(range({ view_range: [2, 4] }), [2, 4]);
    assert.deepEqual(range({ view_range: [] }), [1, all]);
    assert.deepEqual(range({ offset: -1, limit: Number.NaN }), [1, all]);
  });

  it("names what is searched for and where", () => {
    const grep = profileOf(callOf({ tool: "grep", input: { pattern: "x", path: "./src/" } }));
    assert.deepEqual([grep.query, grep.place], ["x", "/w/./src"]);
    assert.equal(profileOf(callOf({ tool: "web_search", input: { q: "how" } })).query, "how");
    assert.equal(profileOf(callOf({ tool: "list_all", input: {} })).place, ".");
    assert.equal(profileOf(callOf(bash("ls -la"))).place, ".");
  });

  it("is the same for arguments that are only a remark, if there is nothing else", () => {
    const key = (input: Record<string, unknown>) => profileOf(callOf({ tool: "think", input })).key;
    assert.notEqual(key({ thought: "a" }), key({ thought: "b" }));
    assert.equal(key({ thought: "a", x: 1 }), key({ thought: "b", x: 1 }));
  });
});
