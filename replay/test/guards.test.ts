/** The shipped guards are found, and the police get the settings that are meant for them. */

import assert from "node:assert/strict";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { loadGuard, PoliceHome } from "../guards.ts";
import { ROOT, scratchFolder } from "./project.ts";

async function police(): Promise<ExtensionFactory> {
  const guard = await loadGuard(ROOT, "police");
  assert.ok(typeof guard === "function");
  return guard;
}

/** A home that is closed when the test ends. */
async function opened(t: TestContext): Promise<PoliceHome> {
  const home = await PoliceHome.open(await police());
  t.after(() => home.close());
  return home;
}

/** The settings of the next session. */
async function settings(): Promise<Record<string, unknown>> {
  const folder = process.env.PI_CODING_AGENT_DIR ?? "";
  return JSON.parse(await readFile(path.join(folder, "loop-police.json"), "utf8"));
}

test("both guards are Pi extensions in the project", async () => {
  assert.equal(typeof (await loadGuard(ROOT, "engine")), "function");
  assert.equal(typeof (await loadGuard(ROOT, "police")), "function");
});

test("a guard that cannot be had is a sentence that names its file", async (t) => {
  const root = await scratchFolder(t);
  assert.match(String(await loadGuard(root, "police")), /^police\/index\.ts: cannot be loaded: /);
  await mkdir(path.join(root, "engine"));
  await writeFile(path.join(root, "engine", "engine.ts"), "export const guard = 1;\n");
  const problem = "engine/engine.ts: has no default export that is a function";
  assert.equal(await loadGuard(root, "engine"), problem);
});

test("a home is named by the environment until it is closed, and then removed", async () => {
  const before = process.env.PI_CODING_AGENT_DIR;
  for (const set of [undefined, "/elsewhere"]) {
    if (set === undefined) delete process.env.PI_CODING_AGENT_DIR;
    else process.env.PI_CODING_AGENT_DIR = set;
    const home = await PoliceHome.open(await police());
    const folder = process.env.PI_CODING_AGENT_DIR ?? "";
    await access(path.join(folder, "loop-police.json"));
    await home.close();
    assert.equal(process.env.PI_CODING_AGENT_DIR, set);
    await assert.rejects(access(folder));
  }
  if (before !== undefined) process.env.PI_CODING_AGENT_DIR = before;
  else delete process.env.PI_CODING_AGENT_DIR;
});

test("a scenario's settings hold in the next session and in no other", async (t) => {
  const home = await opened(t);
  assert.equal(await home.furnish({ PROFILE: "evidence", STRIDE: 10 }, undefined), "evidence");
  assert.equal((await settings()).STRIDE, 10);
  assert.equal(await home.furnish({}, undefined), "classic");
  assert.equal((await settings()).STRIDE, 50);
});

test("chosen settings outweigh a scenario's, and a profile outweighs both", async (t) => {
  const home = await opened(t);
  const chosen = { CONFIG_VERSION: 4, STRIDE: 7 };
  assert.equal(await home.choose(chosen, await police()), undefined);
  assert.equal(await home.furnish({ STRIDE: 10, PROFILE: "evidence" }, "classic"), "classic");
  assert.equal((await settings()).STRIDE, 7);
  assert.equal(await home.furnish({ STRIDE: 10, PROFILE: "evidence" }, undefined), "evidence");
});

test("chosen settings of an older version are taken over as the police take them over", async (t) => {
  const home = await opened(t);
  await home.choose({ CHECK_STRIDE: 7, TOOL_LOOP_BAN: 1 }, await police());
  await home.furnish({ PROFILE: "evidence" }, undefined);
  const { STRIDE, TOOL_LOOP_BAN, PROFILE } = await settings();
  assert.deepEqual([STRIDE, TOOL_LOOP_BAN, PROFILE], [7, 2, "evidence"]);
});

test("no settings make the police run a command or write a log", async (t) => {
  const home = await opened(t);
  const loud = { CONFIG_VERSION: 4, HOOK_CMD: "touch file", HOOK_LOG: "log.jsonl" };
  const quiet = async () => {
    const { HOOK_CMD, HOOK_LOG } = await settings();
    assert.deepEqual([HOOK_CMD, HOOK_LOG], ["", ""]);
  };
  await home.furnish(loud, undefined);
  await quiet();
  await home.choose(loud, await police());
  await quiet();
  await home.furnish({}, undefined);
  await quiet();
});

test("what the police say of chosen settings is a sentence without our own file's name", async (t) => {
  const home = await opened(t);
  const complaint = await home.choose({ CONFIG_VERSION: 4, STRIDE: "x" }, await police());
  assert.match(complaint ?? "", /^STRIDE must be a number, not a text\./);
});

test("settings that the police lose are no settings", async (t) => {
  const home = await PoliceHome.open(async () => {
    await writeFile(path.join(process.env.PI_CODING_AGENT_DIR ?? "", "loop-police.json"), "[]");
  });
  t.after(() => home.close());
  assert.equal(await home.furnish({}, "classic"), "classic");
});

test("a home in which the police cannot be loaded is removed again", async () => {
  const before = process.env.PI_CODING_AGENT_DIR;
  let folder = "";
  const faulty = PoliceHome.open(() => {
    folder = process.env.PI_CODING_AGENT_DIR ?? "";
    throw new Error("fault");
  });
  await assert.rejects(faulty, /fault/);
  assert.equal(process.env.PI_CODING_AGENT_DIR, before);
  await assert.rejects(access(folder));
});
