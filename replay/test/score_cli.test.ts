/** The scoreboard's command as its user sees it: arguments, output, exit codes. */

import assert from "node:assert/strict";
import { execFile, spawn as start } from "node:child_process";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";

import type { Scenario } from "../scenario.ts";
import { main } from "../score_cli.ts";
import { type Run, runHere } from "./in_process.ts";
import { call, calls, scenario, user } from "./made_up.ts";
import { ROOT, scratchFolder } from "./project.ts";

const COMMAND = path.join(ROOT, "replay", "score.mjs");

/** Runs the command in this process. */
const run = (args: readonly string[], where?: { root?: string; cwd?: string }) =>
  runHere(main, args, where);

/** A loop that every guard catches, and a legitimate sequence that all of them leave alone. */
const LOOP = scenario({
  name: "loop",
  kind: "identical calls",
  events: [user, ...calls(8)],
  expected: { engine: { blocked: 3, firstBlock: 6 }, police: { by: 7 } },
});
const HONEST = scenario({
  name: "honest",
  label: "legitimate",
  events: [user, call("ls"), call("pwd", "here")],
  expected: { engine: { blocked: 0, firstBlock: null }, police: { by: null } },
});

/** A folder with these scenarios, each in a file of its name. */
async function folderOf(t: TestContext, ...scenarios: Scenario[]): Promise<string> {
  const folder = await scratchFolder(t);
  for (const given of scenarios) {
    await writeFile(path.join(folder, `${given.name}.json`), JSON.stringify(given));
  }
  return folder;
}

/** The lines on scenarios, which come before the first summary. */
const scored = ({ stdout }: Run) => stdout.slice(0, stdout.indexOf(""));

test("a folder is scored guard by guard, in the order of its files' names, and summed up", async (t) => {
  const result = await run([await folderOf(t, LOOP, HONEST)]);
  assert.deepEqual(scored(result), [
    "engine: honest: left alone",
    "police classic: honest: left alone",
    "engine: loop: caught at event 7 (loop_broken, block)",
    "police classic: loop: caught at event 3 (tool_loop, block)",
  ]);
  assert.equal(result.stdout.includes("engine"), true);
  assert.equal(result.stdout.includes("police classic"), true);
  assert.deepEqual([result.code, result.stderr], [0, []]);
});

test("folders within a folder are scored as well, and a file by its name", async (t) => {
  const folder = await scratchFolder(t);
  await mkdir(path.join(folder, "deep"));
  await writeFile(path.join(folder, "deep", "loop.json"), JSON.stringify(LOOP));
  await writeFile(path.join(folder, "notes.txt"), "none");
  for (const named of [".", "deep", "deep/loop.json"]) {
    const result = await run(["--guard", "engine", named], { cwd: folder });
    assert.deepEqual(scored(result), ["engine: loop: caught at event 7 (loop_broken, block)"]);
  }
});

test("a guard is scored alone, in the profile that is asked for, whatever a scenario says", async (t) => {
  const folder = await folderOf(t, { ...LOOP, config: { PROFILE: "classic" } });
  const result = await run(["--guard", "police", "--profile", "evidence", folder]);
  assert.match(scored(result)[0] ?? "", /^police evidence: loop: caught at event \d \(/);
  assert.equal(scored(result).length, 1);
});

test("a scenario is scored for the guards that it names alone", async (t) => {
  const result = await run([await folderOf(t, { ...LOOP, guards: ["engine"] })]);
  assert.equal(scored(result).length, 1);
  assert.equal(result.code, 0);
});

test("settings from a file hold for the police", async (t) => {
  const folder = await folderOf(t, LOOP);
  const config = path.join(folder, "config.txt");
  await writeFile(config, '{"CONFIG_VERSION": 4, "TOOL_LOOP_BAN": 0, "REREAD_WINDOW": 0}');
  const result = await run(["--guard", "police", "--config", "config.txt", "loop.json"], {
    cwd: folder,
  });
  assert.equal(result.code, 1);
  assert.deepEqual(scored(result), ["police classic: loop: missed [not as expected]"]);
  assert.deepEqual(result.stderr, [
    "loop.json: police: expected a detection by event 7, observed none",
  ]);
});

for (const [title, text, problem] of [
  ["that are no JSON", "{", "is not valid JSON; correct line 1, column 2"],
  ["that are no object", "[]", "give an object with settings"],
  ["of an unknown name", '{"CONFIG_VERSION": 4, "STRIDES": 1}', "STRIDES is not a known setting"],
] as const) {
  test(`settings ${title} are refused by the name of their file`, async (t) => {
    const folder = await folderOf(t, LOOP);
    await writeFile(path.join(folder, "config.txt"), text);
    const result = await run(["--config", "config.txt", "loop.json"], { cwd: folder });
    assert.deepEqual([result.code, result.stdout, result.stderr.length], [1, [], 1]);
    assert.equal(
      result.stderr[0]?.startsWith(`config.txt: ${problem}`),
      true,
      result.stderr.join(),
    );
  });
}

test("settings in a file that is not there are refused", async (t) => {
  const result = await run(["--config", "none.json"], { cwd: await scratchFolder(t) });
  assert.equal(result.code, 1);
  assert.deepEqual(result.stderr, ["none.json: does not exist; check the path"]);
});

test("a scenario's settings that the police do not take are a fault of the scenario", async (t) => {
  const folder = await folderOf(t, { ...LOOP, guards: ["police"], config: { STRIDE: -1 } }, HONEST);
  const result = await run(["."], { cwd: folder });
  assert.equal(result.code, 1);
  assert.equal(scored(result).length, 2);
  assert.match(
    result.stderr.join(),
    /^loop\.json: \$\.config: STRIDE must be .* Defaults are used/,
  );
});

test("what is not as expected is told on standard error, and the other scenarios are scored", async (t) => {
  const strict = { ...LOOP, expected: { engine: { blocked: 1, firstBlock: 8 } } };
  const result = await run(["--guard", "engine", "."], { cwd: await folderOf(t, strict, HONEST) });
  assert.equal(result.code, 1);
  assert.deepEqual(scored(result), [
    "engine: honest: left alone",
    "engine: loop: caught at event 7 (loop_broken, block) [not as expected]",
  ]);
  assert.deepEqual(result.stderr, [
    "loop.json: engine: expected blocked 1, observed 3",
    "loop.json: engine: expected firstBlock 8, observed 6",
  ]);
});

test("a malformed file is told of with all that is wrong, and the others are scored", async (t) => {
  const folder = await folderOf(t, HONEST);
  await writeFile(path.join(folder, "bad.json"), '{"version": 1}');
  const result = await run(["--guard", "engine", "."], { cwd: folder });
  assert.equal(result.code, 1);
  assert.equal(scored(result).length, 1);
  assert.equal(result.stderr.length, 5);
  assert.equal(
    result.stderr[0],
    "bad.json: $.name is missing; give a text that names the scenario",
  );
});

test("two scenarios of one name are told apart by nobody, so the second is refused", async (t) => {
  const folder = await folderOf(t, LOOP);
  await writeFile(path.join(folder, "other.json"), JSON.stringify(LOOP));
  const result = await run(["--guard", "engine", "."], { cwd: folder });
  assert.equal(result.code, 1);
  assert.deepEqual(result.stderr, [
    'other.json: $.name "loop" is the name of loop.json too; rename one',
  ]);
});

test("a path that is not there and a folder without scenarios are told of", async (t) => {
  const folder = await scratchFolder(t);
  await mkdir(path.join(folder, "empty"));
  const result = await run(["none", "empty"], { cwd: folder });
  assert.equal(result.code, 1);
  assert.deepEqual(result.stderr, [
    "none: does not exist; check the path",
    "empty: holds no scenario; name another folder",
    "score: no scenario was replayed; name some",
  ]);
});

test("JSON lines hold every scenario, the summaries and the detections", async (t) => {
  const folder = await folderOf(t, LOOP, HONEST);
  const { stdout, code } = await run(["--json", "--guard", "engine", folder]);
  assert.equal(code, 0);
  const lines = stdout.map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ type }) => type),
    ["scenario", "scenario", ...Array(6).fill("summary"), "detections", "detections"],
  );
  assert.deepEqual(lines[1], {
    type: "scenario",
    name: "loop",
    guard: "engine",
    profile: null,
    label: "loop",
    kind: "identical calls",
    by: 7,
    any: { outcome: "caught", event: 7, kind: "loop_broken", how: "block" },
    enforced: { outcome: "caught", event: 7, kind: "loop_broken", how: "block" },
    unmet: [],
  });
  const { recall, falseAlarms, guard, kind, counted } = lines[2];
  assert.deepEqual([guard, kind, counted], ["engine", null, "any"]);
  assert.deepEqual([recall.count, recall.of, recall.rate], [1, 1, 1]);
  assert.deepEqual([falseAlarms.count, falseAlarms.of, falseAlarms.rate], [0, 1, 0]);
});

for (const [args, sentence] of [
  [["--guard", "dog"], '--guard is engine or police, not "dog".'],
  [["--profile", "strict"], '--profile is classic or evidence, not "strict".'],
  [["--config", ""], "A file's name is empty."],
  [[""], "A file's name is empty."],
  [["--fast"], "Unknown option '--fast'"],
] as const) {
  test(`${JSON.stringify(args)} is wrong usage`, async () => {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stdout], [2, []]);
    assert.equal(stderr[0]?.startsWith(`score: ${sentence}`), true, stderr.join());
    assert.match(stderr[0] ?? "", /\nTry --help\.$/);
  });
}

test("help is printed and nothing is replayed", async () => {
  for (const flag of ["--help", "-h"]) {
    const { code, stdout, stderr } = await run([flag]);
    assert.deepEqual([code, stdout.length, stderr], [0, 1, []]);
    assert.match(stdout[0] ?? "", /^Usage: score\.mjs /);
  }
});

/** A project whose guards are these sources. */
async function projectOf(t: TestContext, police: string, engine: string): Promise<string> {
  const root = await scratchFolder(t);
  for (const [file, source] of [
    ["police/index.ts", police],
    ["engine/engine.ts", engine],
  ] as const) {
    await mkdir(path.join(root, path.dirname(file)));
    await writeFile(path.join(root, file), source);
  }
  return root;
}

test("a guard that cannot be loaded ends the run before anything is scored", async (t) => {
  const root = await projectOf(t, "export const nothing = 1;\n", "throw new Error('fault');\n");
  const { code, stdout, stderr } = await run([], { root });
  assert.deepEqual([code, stdout], [1, []]);
  assert.deepEqual(stderr, [
    "engine/engine.ts: cannot be loaded: Error: fault",
    "police/index.ts: has no default export that is a function",
  ]);
});

test("a guard that fails where none may is told of, and its home is removed", async (t) => {
  const police = "export default () => { throw new Error('fault'); };\n";
  const root = await projectOf(t, police, "export default () => {};\n");
  const before = process.env.PI_CODING_AGENT_DIR;
  const { code, stderr } = await run([], { root });
  assert.deepEqual([code, stderr], [1, ["score: Error: the replay broke off: Error: fault"]]);
  assert.equal(process.env.PI_CODING_AGENT_DIR, before);
});

test("what goes wrong in a replay is told with the scenario's file", async (t) => {
  const engine =
    "export default (pi) => pi.on('tool_call', () => { throw new Error('fault'); });\n";
  const root = await projectOf(t, "", engine);
  const folder = await folderOf(t, HONEST);
  const { code, stderr } = await run(["--guard", "engine", "honest.json"], { root, cwd: folder });
  assert.equal(code, 1);
  assert.deepEqual(stderr, [
    "honest.json: engine: event 2: the handler threw: Error: fault",
    "honest.json: engine: event 3: the handler threw: Error: fault",
  ]);
});

/** Runs the command as a process of its own. */
function spawn(args: readonly string[], cwd: string, command = COMMAND): Promise<Run> {
  const words = ["--experimental-strip-types", command, ...args];
  const lines = (text: string) => text.split("\n").slice(0, -1);
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd }, (error, stdout, stderr) => {
      const code = error ? Number(error.code) : 0;
      resolve({ code, stdout: lines(stdout), stderr: lines(stderr) });
    });
  });
}

test("the process scores a file from any working directory and leaves nothing behind", async (t) => {
  const folder = await folderOf(t, LOOP);
  const { code, stdout, stderr } = await spawn(["loop.json"], folder);
  assert.deepEqual([code, stderr], [0, []]);
  assert.equal(stdout[0], "engine: loop: caught at event 7 (loop_broken, block)");
  assert.deepEqual(await readdir(folder), ["loop.json"]);
});

test("a reader that closes the output early ends the process without a word", async (t) => {
  const many = Array.from({ length: 300 }, (_, n) => ({ ...LOOP, name: `loop-${n}` }));
  const cwd = await folderOf(t, ...many);
  const child = start(process.execPath, ["--experimental-strip-types", COMMAND, "."], { cwd });
  let said = "";
  child.stderr.on("data", (data) => {
    said += data;
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.deepEqual([code, said], [1, ""]);
});

test("the process exits 1 for a miss and 2 for wrong usage", async (t) => {
  const folder = await folderOf(t, { ...LOOP, expected: { police: { by: 1 } } });
  assert.equal((await spawn(["loop.json"], folder)).code, 1);
  assert.equal((await spawn(["--fast"], folder)).code, 2);
});

test("the command needs nothing but Node.js and the project's own sources", async (t) => {
  const root = await scratchFolder(t);
  for (const folder of ["engine", "police", "replay"]) {
    await cp(path.join(ROOT, folder), path.join(root, folder), { recursive: true });
  }
  await writeFile(path.join(root, "package.json"), '{"type": "module"}');
  await mkdir(path.join(root, "fixtures", "scenarios"), { recursive: true });
  const file = path.join(root, "fixtures", "scenarios", "loop.json");
  await writeFile(file, JSON.stringify(LOOP));
  const { code, stdout } = await spawn([], root, path.join(root, "replay", "score.mjs"));
  assert.equal(code, 0);
  assert.equal(stdout[0], "engine: loop: caught at event 7 (loop_broken, block)");
});
