/** The command as its user sees it: arguments, output, exit codes. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import promises, { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { type TestContext, test } from "node:test";

import { main } from "../cli.ts";
import { type Run, runHere } from "./in_process.ts";
import { ROOT, scratchFolder } from "./project.ts";

const GUARDS = path.join(ROOT, "fixtures", "guards");
const COMMAND = path.join(ROOT, "replay", "replay_guards.mjs");
const LEAKY = path.join(ROOT, "replay", "test", "leaky_guard.ts");

const RUNAWAY = '{"name":"runaway-excerpt","calls":6,"blocked":1,"firstBlock":6,"entries":1}';

/** What `node replay_guards.mjs` prints when all is well. */
const ALL = [
  '{"name":"accepted-contract","calls":5,"blocked":0,"firstBlock":null,"entries":0}',
  '{"name":"accepted-magicmock","calls":22,"blocked":0,"firstBlock":null,"entries":0}',
  '{"name":"anchor-mismatch","calls":60,"blocked":46,"firstBlock":14,"entries":46}',
  '{"name":"edit-schema-retry","calls":5,"blocked":0,"firstBlock":null,"entries":0}',
  '{"name":"healthy-excerpt","calls":6,"blocked":0,"firstBlock":null,"entries":0}',
  RUNAWAY,
];

/** Runs the command in this process. */
const run = (args: readonly string[], where?: { root?: string; cwd?: string }) =>
  runHere(main, args, where);

/** Runs the command as a process of its own, with what Node.js is told before the command's name. */
function spawn(
  args: readonly string[],
  options: { cwd: string; node?: readonly string[]; command?: string },
): Promise<Run> {
  const { cwd, node = [], command = COMMAND } = options;
  const words = [...node, command, ...args];
  const lines = (text: string) => text.split("\n").slice(0, -1);
  return new Promise((resolve) => {
    const limits = { maxBuffer: 2 ** 24, timeout: 120_000 };
    execFile(process.execPath, words, { cwd, ...limits }, (error, stdout, stderr) => {
      const code = error ? Number(error.code) : 0;
      resolve({ code, stdout: lines(stdout), stderr: lines(stderr) });
    });
  });
}

/** A fixture that any extension meets that refuses nothing. */
const ONE_CALL = {
  name: "one",
  calls: [{ toolName: "bash", input: {} }],
  expected: { blocked: 0, entries: 0, firstBlock: null },
};

/** A fixture that the shipped guard does not meet. */
function wrong(name: string): string {
  const call = { toolName: "bash", input: { command: "make" } };
  return JSON.stringify({
    name,
    calls: [call, call],
    expected: { blocked: 1, entries: 1, firstBlock: 2 },
  });
}

test("without arguments all committed fixtures are replayed, in the order of their names", async () => {
  assert.deepEqual(await run([]), { code: 0, stdout: ALL, stderr: [] });
});

test("only the fixtures named are replayed, in their order", async () => {
  const args = ["fixtures/guards/runaway-excerpt.json", "fixtures/guards/accepted-contract.json"];
  assert.deepEqual(await run(args), { code: 0, stdout: [RUNAWAY, ALL[0]], stderr: [] });
});

test("a fixture is found by a path relative to the working directory, and by an absolute one", async () => {
  const expected = { code: 0, stdout: [RUNAWAY], stderr: [] };
  assert.deepEqual(await run(["runaway-excerpt.json"], { cwd: GUARDS }), expected);
  assert.deepEqual(await run([path.join(GUARDS, "runaway-excerpt.json")], { cwd: "/" }), expected);
});

test("a mismatch is named with the file, and the others are replayed nevertheless", async (t) => {
  const cwd = await scratchFolder(t);
  await writeFile(path.join(cwd, "wrong.json"), wrong("wrong"));
  const args = ["wrong.json", path.join(GUARDS, "runaway-excerpt.json")];
  assert.deepEqual(await run(args, { cwd }), {
    code: 1,
    stdout: ['{"name":"wrong","calls":2,"blocked":0,"firstBlock":null,"entries":0}', RUNAWAY],
    stderr: [
      "wrong.json: expected blocked 1, observed 0",
      "wrong.json: expected firstBlock 2, observed null",
      "wrong.json: expected entries 1, observed 0",
    ],
  });
});

test("malformed evidence is named with the file, and the others are replayed nevertheless", async (t) => {
  const cwd = await scratchFolder(t);
  await writeFile(path.join(cwd, "broken.json"), '{"name": "broken",\n "calls": [}');
  await writeFile(path.join(cwd, "empty.json"), "{}");
  const fixture = path.join(GUARDS, "runaway-excerpt.json");
  assert.deepEqual(await run(["broken.json", "empty.json", ".", "none.json", fixture], { cwd }), {
    code: 1,
    stdout: [RUNAWAY],
    stderr: [
      "broken.json: is not valid JSON; correct line 2, column 12",
      "empty.json: $.name is missing; give a text that names the fixture",
      "empty.json: $.calls is missing; give the list of recorded calls, at least one",
      "empty.json: $.expected is missing; give an object with blocked, entries and firstBlock",
      ".: is a folder; name a fixture file in it",
      "none.json: does not exist; check the path",
    ],
  });
});

test("two fixtures of one name are refused; the first is replayed", async (t) => {
  const cwd = await scratchFolder(t);
  await copyFile(path.join(GUARDS, "runaway-excerpt.json"), path.join(cwd, "one.json"));
  await copyFile(path.join(GUARDS, "runaway-excerpt.json"), path.join(cwd, "two.json"));
  assert.deepEqual(await run(["one.json", "two.json"], { cwd }), {
    code: 1,
    stdout: [RUNAWAY],
    stderr: ['two.json: $.name "runaway-excerpt" is the name of one.json too; rename one'],
  });
});

test("state at module scope shows when all fixtures are replayed in one process", async () => {
  assert.deepEqual(await run(["--engine", LEAKY]), {
    code: 1,
    stdout: [
      ...ALL.slice(0, -1),
      '{"name":"runaway-excerpt","calls":6,"blocked":2,"firstBlock":5,"entries":2}',
    ],
    stderr: [
      "fixtures/guards/runaway-excerpt.json: expected blocked 1, observed 2",
      "fixtures/guards/runaway-excerpt.json: expected firstBlock 6, observed 5",
      "fixtures/guards/runaway-excerpt.json: expected entries 1, observed 2",
    ],
  });
});

test("an extension that cannot be loaded is named", async (t) => {
  const cwd = await scratchFolder(t);
  await writeFile(path.join(cwd, "nothing.mjs"), "export const guard = 1;\n");
  await writeFile(path.join(cwd, "throws.mjs"), "throw new Error('no disk');\n");
  assert.deepEqual(await run(["--engine", "nothing.mjs"], { cwd }), {
    code: 1,
    stdout: [],
    stderr: ["nothing.mjs: has no default export that is a function; name a Pi extension"],
  });
  assert.deepEqual(await run(["--engine", "throws.mjs"], { cwd }), {
    code: 1,
    stdout: [],
    stderr: ["throws.mjs: cannot be loaded as an extension: Error: no disk"],
  });
  await writeFile(path.join(cwd, "odd.mjs"), "throw Object.create(null);\n");
  assert.deepEqual(await run(["--engine", "odd.mjs"], { cwd }), {
    code: 1,
    stdout: [],
    stderr: ["odd.mjs: cannot be loaded as an extension: a value of type object"],
  });
});

test("what cannot be an extension is answered with what to do", async (t) => {
  const cwd = await scratchFolder(t);
  await writeFile(path.join(cwd, "package.json"), "{}");
  for (const [engine, sentence] of [
    ["missing.mjs", "does not exist; check the path"],
    [".", "is a folder; name an extension file in it"],
    ["/dev/null", "is not a regular file; name an extension file"],
    ["package.json", "is no TypeScript or JavaScript; name the file of a Pi extension"],
  ] as const) {
    assert.deepEqual(await run(["--engine", engine], { cwd }), {
      code: 1,
      stdout: [],
      stderr: [`${engine}: ${sentence}`],
    });
  }
});

test("of a fixture with many problems twenty are named, and the others counted", async (t) => {
  const cwd = await scratchFolder(t);
  for (const calls of [18, 19]) {
    const fixture = { ...JSON.parse(wrong("w")), name: 1, calls: Array(calls).fill(1), more: 1 };
    await writeFile(path.join(cwd, "many.json"), JSON.stringify(fixture));
    const { stderr } = await run(["many.json"], { cwd });
    assert.equal(stderr.length, calls + 2);
    const last = `many.json: ${calls === 18 ? "$.calls[17] is 1; give an object" : "and 1 more"}`;
    assert.equal(stderr.at(-1)?.slice(0, last.length), last);
  }
});

test("committed fixtures come in the order of their names, whatever the system's is", async (t) => {
  const root = await scratchFolder(t);
  const folder = path.join(root, "fixtures", "guards");
  await mkdir(folder, { recursive: true });
  for (const name of ["a", "b", "c"]) {
    await writeFile(path.join(folder, `${name}.json`), wrong(name));
  }
  t.mock.method(promises, "readdir", async () => ["b.json", "c.json", "a.json"]);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const { stdout } = await run(["--engine", LEAKY], { root });
  assert.deepEqual(
    stdout.map((line) => JSON.parse(line).name),
    ["a", "b", "c"],
  );
});

test("a fixture that cannot be observed gives no line", async (t) => {
  const cwd = await scratchFolder(t);
  await writeFile(
    path.join(cwd, "throws.mjs"),
    "export default () => { throw new Error('no disk'); };\n",
  );
  const fixture = path.join(GUARDS, "runaway-excerpt.json");
  assert.deepEqual(await run(["--engine", "throws.mjs", fixture], { cwd }), {
    code: 1,
    stdout: [],
    stderr: [`${fixture}: the extension threw when it was registered: Error: no disk`],
  });
});

test("a project without committed fixtures has nothing to show, and that is no success", async (t) => {
  const root = await scratchFolder(t);
  const expected = {
    code: 1,
    stdout: [],
    stderr: ["fixtures/guards: holds no fixture; restore it, or name fixture files"],
  };
  assert.deepEqual(await run(["--engine", LEAKY], { root }), expected);
  await mkdir(path.join(root, "fixtures", "guards"), { recursive: true });
  await writeFile(path.join(root, "fixtures", "guards", "README.md"), "No fixture.\n");
  assert.deepEqual(await run(["--engine", LEAKY], { root }), expected);
});

for (const option of ["--help", "-h"]) {
  test(`${option} explains the command and replays nothing`, async () => {
    const { code, stdout, stderr } = await run([option, "none.json"]);
    assert.equal(code, 0);
    assert.match(
      stdout.join("\n"),
      /^Usage: replay_guards\.mjs \[--engine FILE\] \[FIXTURE \.\.\.\]\n/,
    );
    assert.deepEqual(stderr, []);
  });
}

const MISUSES: readonly [string, readonly string[], RegExp][] = [
  ["an unknown option", ["--fast"], /^replay_guards: Unknown option '--fast'/],
  ["an option without its value", ["--engine"], /^replay_guards: .*--engine <value>/],
  ["a value for an option that takes none", ["--help=yes"], /^replay_guards: .*--help/],
  ["an empty name of a fixture", [""], /^replay_guards: A file's name is empty\./],
  ["an empty name of an extension", ["--engine", ""], /^replay_guards: A file's name is empty\./],
];

for (const [what, args, message] of MISUSES) {
  test(`${what} is wrong usage: nothing is replayed, and --help is pointed to`, async () => {
    const { code, stdout, stderr } = await run(args);
    assert.equal(code, 2);
    assert.deepEqual(stdout, []);
    assert.match(stderr.join("\n"), message);
    assert.match(stderr.join("\n"), /\nTry --help\.$/);
  });
}

test("behind -- a file may be named like an option", async (t) => {
  const cwd = await scratchFolder(t);
  await copyFile(path.join(GUARDS, "runaway-excerpt.json"), path.join(cwd, "--fast"));
  assert.deepEqual(await run(["--", "--fast"], { cwd }), {
    code: 0,
    stdout: [RUNAWAY],
    stderr: [],
  });
});

test("the process replays the committed fixtures from any working directory", async (t) => {
  const cwd = await scratchFolder(t);
  const node = ["--experimental-strip-types"];
  assert.deepEqual(await spawn([], { cwd, node }), { code: 0, stdout: ALL, stderr: [] });
  assert.deepEqual(await readdir(cwd), []);
});

test("the process exits 1 for a mismatch and 2 for wrong usage", async () => {
  const mismatch = await spawn(["--engine", LEAKY], { cwd: ROOT });
  assert.equal(mismatch.code, 1);
  assert.equal(mismatch.stderr.length, 3);
  const usage = await spawn(["--fast"], { cwd: ROOT });
  assert.equal(usage.code, 2);
  assert.equal(usage.stderr.at(-1), "Try --help.");
});

/** Runs the command with an extension whose `tool_call` handler has this body. */
async function spawnWith(t: TestContext, body: string): Promise<Run> {
  const cwd = await scratchFolder(t);
  const source = `export default (pi) => pi.on("tool_call", () => { ${body} });\n`;
  await writeFile(path.join(cwd, "extension.mjs"), source);
  const fixture = path.join(GUARDS, "accepted-contract.json");
  return spawn(["--engine", "extension.mjs", fixture], { cwd });
}

test("an extension that never answers ends the process with a mismatch, and that is all it says", async (t) => {
  assert.deepEqual(await spawnWith(t, "return new Promise(() => {});"), {
    code: 1,
    stdout: [],
    stderr: ["replay_guards: stopped: the extension's handler never answered the last call."],
  });
});

test("an extension that ends the process is named, whatever exit code it asks for", async (t) => {
  assert.deepEqual(await spawnWith(t, "process.exit(0);"), {
    code: 1,
    stdout: [],
    stderr: ["replay_guards: stopped: the extension ended the process."],
  });
});

test("an error that an extension leaves uncaught is told apart from that", async (t) => {
  const body = "setTimeout(() => { throw new Error('late'); }); return new Promise(() => {});";
  const { code, stdout, stderr } = await spawnWith(t, body);
  assert.equal(code, 1);
  assert.deepEqual(stdout, []);
  assert.match(stderr.join("\n"), /^Error: late$/m);
  assert.match(stderr.join("\n"), /^replay_guards: stopped: an error that nothing caught,/m);
});

test("a timer that an extension leaves behind does not keep the process", async (t) => {
  const body = "setInterval(() => {}, 1000);";
  assert.deepEqual(await spawnWith(t, body), { code: 0, stdout: [ALL[0]], stderr: [] });
});

test("all of the output arrives though it is more than a pipe holds", async (t) => {
  const cwd = await scratchFolder(t);
  const name = "long".padEnd(2 ** 20, "-");
  await writeFile(path.join(cwd, "long.json"), JSON.stringify({ ...ONE_CALL, name }));
  const { code, stdout } = await spawn(["long.json"], { cwd });
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout.join()).name, name);
});

test("the command needs nothing but Node.js and the project's own sources", async (t) => {
  const root = await scratchFolder(t);
  for (const folder of ["engine", "replay", "fixtures/guards"]) {
    await mkdir(path.join(root, folder), { recursive: true });
    for (const file of await readdir(path.join(ROOT, folder), { withFileTypes: true })) {
      if (!file.isFile()) continue;
      await copyFile(path.join(file.parentPath, file.name), path.join(root, folder, file.name));
    }
  }
  await writeFile(path.join(root, "package.json"), '{"type": "module"}');
  const command = path.join(root, "replay", "replay_guards.mjs");
  assert.deepEqual(await spawn([], { cwd: root, command }), { code: 0, stdout: ALL, stderr: [] });
});

for (const [version, code] of [
  ["20.20.2", 2],
  ["22.17.9", 2],
  ["22.18.0", 0],
  ["24.0.0", 0],
] as const) {
  test(`Node.js ${version} is ${code === 0 ? "new enough" : "too old, which it says"}`, async () => {
    const pretend = `Object.defineProperty(process, "versions", {
      value: { ...process.versions, node: ${JSON.stringify(version)} } });`;
    const node = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`];
    const { stderr, ...rest } = await spawn(["--help"], { cwd: ROOT, node });
    const sentence = `replay_guards: Node.js ${version} is too old; use 22.18 or newer.`;
    assert.equal(rest.code, code);
    assert.deepEqual(stderr, code === 0 ? [] : [sentence]);
  });
}
