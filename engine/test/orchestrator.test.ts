/** `/implement`: one request, one response, and nothing that goes wrong escapes. */

import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { mock, type TestContext, test } from "node:test";

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import orchestrator, { askEngine, type EngineResponse } from "../orchestrator.ts";

const GOOD = { version: 1, ok: true, code: "OK", message: "contract fix-1 can be worked on" };
const REFUSAL = { version: 1, ok: false, code: "CONTRACT_UNREADABLE", message: "c: is not there" };

async function folder(t: TestContext): Promise<string> {
  const { TEST_TMPDIR = tmpdir() } = process.env;
  const made = await mkdtemp(path.join(TEST_TMPDIR, "orchestrator "));
  t.after(() => rm(made, { recursive: true }));
  return made;
}

/** Writes an engine: a program that keeps its request and then does what the script says. */
async function engine(t: TestContext, script: string): Promise<{ dir: string; command: string }> {
  const dir = await folder(t);
  const file = path.join(dir, "engine.mjs");
  const keep = `import fs from "node:fs";
const request = fs.readFileSync(0, "utf8");
fs.writeFileSync(${JSON.stringify(path.join(dir, "request"))},
  JSON.stringify([process.argv.slice(2), JSON.parse(request)]));
`;
  await writeFile(file, keep + script);
  return { dir, command: `"${process.execPath}" "${file}"` };
}

async function ask(t: TestContext, script: string, timeoutMs = 20_000): Promise<EngineResponse> {
  const { dir, command } = await engine(t, script);
  return askEngine(dir, `${dir}/c.yaml`, { env: { SATYRN_ENGINE: command }, timeoutMs });
}

const saying = (response: unknown) =>
  `process.stdout.write(${JSON.stringify(JSON.stringify(response))});`;

test("one versioned request is sent to the protocol command", async (t) => {
  const { dir, command } = await engine(t, saying(GOOD));
  const { version: _, ...expected } = GOOD;
  const surroundings = { env: { SATYRN_ENGINE: ` ${command} ` }, timeoutMs: 20_000 };
  assert.deepEqual(await askEngine(dir, "/c.yaml", surroundings), expected);
  const sent = JSON.parse(await readFile(path.join(dir, "request"), "utf8"));
  const request = { version: 1, operation: "check", repo: dir, contract: "/c.yaml" };
  assert.deepEqual(sent, [["protocol"], request]);
});

test("a refusal is passed on, and the response outweighs the exit code", async (t) => {
  const { version: _, ...expected } = REFUSAL;
  assert.deepEqual(await ask(t, saying(REFUSAL)), expected);
  assert.deepEqual(await ask(t, `${saying(REFUSAL)} process.exitCode = 5;`), expected);
  assert.equal((await ask(t, `${saying(GOOD)} process.exitCode = 1;`)).ok, true);
});

test("a repo that is gone is the engine's to refuse, and it can be started nevertheless", async (t) => {
  const { dir, command } = await engine(t, saying({ ...REFUSAL, code: "REPO_UNAVAILABLE" }));
  for (const repo of [path.join(dir, "gone"), path.join(dir, "engine.mjs")]) {
    const surroundings = { env: { SATYRN_ENGINE: command }, timeoutMs: 20_000 };
    const { code } = await askEngine(repo, "/c.yaml", surroundings);
    assert.equal(code, "REPO_UNAVAILABLE");
    const [, request] = JSON.parse(await readFile(path.join(dir, "request"), "utf8"));
    assert.equal(request.repo, repo);
  }
});

test("without a response the exit code speaks", async (t) => {
  const { ok, code } = await ask(t, "process.exitCode = 4;");
  assert.deepEqual([ok, code], [false, "CONTRACT_INVALID_YAML"]);
  assert.equal(
    (await ask(t, "process.stdout.write('{'); process.exitCode = 6;")).code,
    "REPO_UNAVAILABLE",
  );
});

test("an engine that crashes is no refusal", async (t) => {
  const crash = await ask(t, "throw new Error('oops');");
  assert.deepEqual([crash.ok, crash.code], [false, "ENGINE_CRASHED"]);
  assert.match(crash.message, /ended with 1\.$/);
  const killed = await ask(t, "process.kill(process.pid, 'SIGKILL');");
  assert.equal(killed.code, "ENGINE_CRASHED");
  assert.match(killed.message, /ended with SIGKILL\.$/);
});

const MALFORMED: [why: string, response: unknown][] = [
  ["no object", null],
  ["another version", { ...GOOD, version: 2 }],
  ["no ok", { ...GOOD, ok: "true" }],
  ["no code", { ...GOOD, code: 0 }],
  ["no message", { ...GOOD, message: undefined }],
  ["ok that is refused", { ...REFUSAL, ok: true }],
  ["a refusal that is ok", { ...GOOD, ok: false }],
];

for (const [why, response] of MALFORMED) {
  test(`a response is malformed: ${why}`, async (t) => {
    assert.equal((await ask(t, saying(response))).code, "ENGINE_MALFORMED_RESPONSE");
  });
}

test("a response without end is not waited for", async (t) => {
  const endless = "const more = () => process.stdout.write('x'.repeat(65536), more); more();";
  const { code } = await ask(t, endless);
  assert.equal(code, "ENGINE_CRASHED");
});

test("an engine that takes too long is ended, with what it started", async (t) => {
  const script = `import { spawn } from "node:child_process";
const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
fs.writeFileSync(new URL("pid", import.meta.url), String(child.pid));
setInterval(() => {}, 1000);`;
  const { dir, command } = await engine(t, script);
  const surroundings = { env: { SATYRN_ENGINE: command }, timeoutMs: 3000 };
  const { code, message } = await askEngine(dir, "c", surroundings);
  assert.equal(code, "ENGINE_TIMEOUT");
  assert.match(message, /within 3 s/);
  const pid = Number(await readFile(path.join(dir, "pid"), "utf8"));
  for (let i = 0; i < 100 && isAlive(pid); i += 1)
    await new Promise((next) => setTimeout(next, 50));
  assert.equal(isAlive(pid), false);
});

test("where there are no groups of processes, the engine itself is ended", async (t) => {
  const kill = mock.method(process, "kill", () => {
    throw new Error("no groups");
  });
  t.after(() => kill.mock.restore());
  const { code } = await ask(t, "setInterval(() => {}, 1000);", 2000);
  assert.equal(code, "ENGINE_TIMEOUT");
  assert.equal(kill.mock.callCount(), 1);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("an engine that ends without reading its request is no fault of ours", async (t) => {
  const dir = await folder(t);
  const file = path.join(dir, "engine");
  await writeFile(file, `#!/bin/sh\nexec 0<&-\necho '${JSON.stringify(REFUSAL)}'\n`);
  await chmod(file, 0o755);
  const surroundings = {
    env: { SATYRN_ENGINE: `"${file}"`, PATH: "/usr/bin:/bin" },
    timeoutMs: 20_000,
  };
  const contract = `/${"c".repeat(1 << 20)}`;
  assert.equal((await askEngine(dir, contract, surroundings)).code, "CONTRACT_UNREADABLE");
});

test("satyrn-engine is looked for on PATH, then asked of uvx, and the message says so", async (t) => {
  const dir = await folder(t);
  const surroundings = { env: { PATH: dir }, timeoutMs: 20_000 };
  const none = await askEngine(dir, "c", surroundings);
  assert.equal(none.code, "ENGINE_START_FAILED");
  assert.match(none.message, /tried satyrn-engine \(not found\), uvx satyrn-engine \(not found\)/);
  for (const [name, code] of [
    ["uvx", "FROM_UVX"],
    ["satyrn-engine", "FROM_PATH"],
  ]) {
    const file = path.join(dir, name as string);
    const response = JSON.stringify({ ...REFUSAL, code, message: "$*" });
    const escaped = response.replaceAll('"', '\\"');
    await writeFile(file, `#!/bin/sh\nread -r request\necho "${escaped}"\n`);
    await chmod(file, 0o755);
    const found = await askEngine(dir, "c", surroundings);
    const message = name === "uvx" ? "satyrn-engine protocol" : "protocol";
    assert.deepEqual(found, { ok: false, code, message });
  }
});

test("an engine that cannot be run is named, and no other one is taken instead", async (t) => {
  const dir = await folder(t);
  await writeFile(path.join(dir, "satyrn-engine"), "not executable");
  const refused = await askEngine(dir, "c", { env: { PATH: dir }, timeoutMs: 20_000 });
  assert.equal(refused.code, "ENGINE_START_FAILED");
  assert.match(refused.message, /tried satyrn-engine \([^)]*EACCES[^)]*\)\./);
  const chosen = { env: { SATYRN_ENGINE: "/no/such/engine", PATH: dir }, timeoutMs: 20_000 };
  assert.match(
    (await askEngine(dir, "c", chosen)).message,
    /tried \/no\/such\/engine \(not found\)\./,
  );
  const nothing = { env: { SATYRN_ENGINE: '""' }, timeoutMs: 20_000 };
  assert.equal((await askEngine(dir, "c", nothing)).code, "ENGINE_START_FAILED");
});

/** Runs the registered command as Pi would. */
async function implement(args: string, cwd: string, hasUI: boolean): Promise<string[]> {
  const shown: string[] = [];
  let handler: (args: string, ctx: unknown) => Promise<void> = async () => {};
  orchestrator({
    registerCommand: (name: string, options: { handler: typeof handler }) => {
      assert.equal(name, "implement");
      handler = options.handler;
    },
  } as unknown as ExtensionAPI);
  const ui = { notify: (text: string, level: string) => shown.push(`${level} ${text}`) };
  const write = mock.method(process.stderr, "write", (text: string) => shown.push(text) > 0);
  try {
    await handler(args, { cwd, hasUI, ui });
  } finally {
    write.mock.restore();
  }
  return shown;
}

test("/implement shows the user what came of it, with and without a user interface", async (t) => {
  const { dir, command } = await engine(t, saying(GOOD));
  const before = process.env.SATYRN_ENGINE;
  process.env.SATYRN_ENGINE = command;
  t.after(() => {
    if (before === undefined) delete process.env.SATYRN_ENGINE;
    else process.env.SATYRN_ENGINE = before;
  });
  assert.deepEqual(await implement(" my contract.yaml ", dir, true), [`info OK: ${GOOD.message}`]);
  const [, request] = JSON.parse(await readFile(path.join(dir, "request"), "utf8"));
  assert.equal(request.contract, path.join(dir, "my contract.yaml"));
  assert.deepEqual(await implement("c.yaml", dir, false), [`OK: ${GOOD.message}\n`]);
  const usage = "USAGE: name a contract: /implement CONTRACT";
  assert.deepEqual(await implement("  ", dir, true), [`error ${usage}`]);
});
