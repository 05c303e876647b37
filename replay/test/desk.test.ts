/** The desk as the program that asks it sees it: JSON lines in, JSON lines out. */

import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";

import type { Tool } from "../arguments.ts";
import { type DeskRequest, serveDesk } from "../desk.ts";
import type { Scenario } from "../scenario.ts";
import { calls, scenario, user } from "./made_up.ts";
import { ROOT, scratchFolder } from "./project.ts";

/** What the desk answers, with the guards of that project. */
async function ask(requests: readonly (DeskRequest | string)[], root = ROOT) {
  const lines = requests.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
  const answers: string[] = [];
  await serveDesk(root, Readable.from([`${lines.join("\n")}\n`]), (line) => answers.push(line));
  return answers.map((line) => JSON.parse(line));
}

const LS = { toolName: "bash", input: { command: "ls" } };
const NOTHING = { blocked: 0, entries: 0, firstBlock: null };
const fixture = (count: number, expected: object = NOTHING) =>
  JSON.stringify({ name: "made-up", calls: Array(count).fill(LS), expected });
const played = (more: Partial<Scenario> = {}) => ({ scenario: JSON.stringify(scenario(more)) });

test("arguments are those that the hook is given", async () => {
  const declared = { name: "wait", parameters: { properties: { seconds: { type: "number" } } } };
  const given = [
    ["bash", { command: "ls", timeout: "30" }],
    ["wait", { seconds: "3" }],
    ["other", { seconds: "3" }],
  ] as const;
  const [answer] = await ask([{ accept: { tools: [declared], calls: given } }]);
  assert.deepEqual(answer.inputs, [
    { command: "ls", timeout: 30 },
    { seconds: 3 },
    { seconds: "3" },
  ]);
});

test("the names of a tool's arguments are told, however deep they are declared", async () => {
  const parameters = {
    properties: {
      first: { anyOf: [{ properties: { second: {} } }, null, { type: "string" }] },
      list: { items: { properties: { third: {}, first: {} } } },
      properties: { properties: [] },
    },
    required: ["first"],
  };
  const tools = [{ name: "deep", parameters }, { name: "unknown" }] as unknown as Tool[];
  const [answer] = await ask([{ accept: { tools, calls: [] } }]);
  assert.deepEqual(answer.names.deep.sort(), ["first", "list", "properties", "second", "third"]);
  assert.deepEqual(answer.names.edit, ["path", "edits", "oldText", "newText"]);
  assert.equal("unknown" in answer.names, false);
});

test("a guard fixture is replayed, whatever it expects", async () => {
  const [six, five, told] = await ask([
    { fixture: fixture(6) },
    { fixture: fixture(5) },
    { fixture: fixture(6, { blocked: 1, entries: 1, firstBlock: 6 }) },
  ]);
  assert.deepEqual(six.observation, {
    name: "made-up",
    calls: 6,
    blocked: 1,
    firstBlock: 6,
    entries: 1,
  });
  assert.equal(six.problems[0], "expected blocked 0, observed 1");
  assert.deepEqual([five.observation.blocked, five.problems], [0, []]);
  assert.deepEqual(told.problems, []);
});

test("a text that is no fixture is not replayed, and all that is wrong is told", async () => {
  const [answer, other] = await ask([{ fixture: "{}" }, { scenario: "[]" }]);
  assert.deepEqual(Object.keys(answer), ["malformed"]);
  assert.equal(answer.malformed.length, 3);
  assert.match(other.malformed[0], /^\$ is an empty list/);
});

test("a scenario is played with each guard that it names", async () => {
  const events = [user, ...calls(8)];
  const expected = { engine: { blocked: 2, firstBlock: 6 } };
  const [both, one] = await ask([
    played({ events, expected }),
    played({ events, guards: ["engine"], label: "legitimate" }),
  ]);
  assert.deepEqual(Object.keys(both.played), ["engine", "police"]);
  const { engine } = both.played;
  assert.deepEqual([engine.blocked, engine.firstBlock], [3, 6]);
  assert.deepEqual(engine.problems, ["expected blocked 2, observed 3"]);
  assert.equal(engine.enforced.outcome, "caught");
  assert.deepEqual(Object.keys(one.played), ["engine"]);
  assert.equal(one.played.engine.any.outcome, "false alarm");
});

test("the police are in the scenario's profile, or in the one that is asked for", async () => {
  const config = { PROFILE: "evidence" };
  const [classic, own, forced] = await ask([
    played(),
    played({ config }),
    { ...played({ config }), profile: "classic" },
  ]);
  const event = (answer: { played: { police: { any: { event: number } } } }) =>
    answer.played.police.any.event;
  assert.equal(event(forced), event(classic));
  assert.notEqual(event(own), event(classic));
});

test("settings that the police would not take make a scenario malformed", async () => {
  const [answer] = await ask([played({ config: { STRIDE: "many" } })]);
  assert.match(answer.malformed[0], /^\$\.config: STRIDE /);
});

test("settings are told as the police understand them today, with what is wrong", async () => {
  const [old, today, wrong, after] = await ask([
    { settings: { TOOL_LOOP_BAN: 0 } },
    { settings: { TOOL_LOOP_BAN: 0, CONFIG_VERSION: 4, HOOK_CMD: "false" } },
    { settings: { STRIDE: "many" } },
    played(),
  ]);
  assert.deepEqual([old.settings.TOOL_LOOP_BAN, old.complaint], [1, null]);
  assert.deepEqual([today.settings.TOOL_LOOP_BAN, today.settings.HOOK_CMD], [0, ""]);
  assert.equal(today.settings.CONFIG_VERSION, 4);
  assert.match(wrong.complaint, /^STRIDE /);
  // They hold for no scenario.
  assert.equal(after.played.police.any.outcome, "caught");
});

test("a request that is none, and a guard that is not there, are answered", async (t) => {
  const [none, next] = await ask(["x", { fixture: fixture(1) }]);
  assert.match(none.error, /^SyntaxError/);
  assert.deepEqual(next.problems, []);
  const [missing] = await ask([{ fixture: fixture(1) }], await scratchFolder(t));
  assert.match(missing.error, /engine\/engine\.ts: cannot be loaded/);
});

test("an extension that cannot be registered has nothing observed", async (t) => {
  const root = await scratchFolder(t);
  await mkdir(path.join(root, "engine"));
  const text = "export default () => {\n  throw new Error('no');\n};\n";
  await writeFile(path.join(root, "engine", "engine.ts"), text);
  const [answer] = await ask([{ fixture: fixture(1) }], root);
  assert.equal(answer.observation, null);
  assert.match(answer.problems[0], /threw when it was registered/);
});

test("nothing is left behind when the input ends", async (t) => {
  const { TMPDIR } = process.env;
  const folder = await scratchFolder(t);
  process.env.TMPDIR = folder;
  try {
    await ask([played(), { settings: {} }]);
    assert.deepEqual(await readdir(folder), []);
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
});
