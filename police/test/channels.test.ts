import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Channels, type DetectionPayload } from "../channels.ts";
import type { Config } from "../config/keys.ts";
import { config } from "./observations.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "police-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function payload(): DetectionPayload {
  return {
    event: "tool_loop",
    timestamp: "2026-01-02T03:04:05.678Z",
    model: null,
    sessionId: "s",
    sessionFile: null,
    cwd: folder,
    turnIndex: 1,
    consecutiveLoops: 0,
    details: { toolName: "bash", windowSize: 1, banned: false },
  };
}

function channels(
  values: Partial<Config>,
  emit: (channel: string, data: unknown) => void = () => {},
) {
  const warnings: string[] = [];
  const made = new Channels(config(values), emit, (text) => warnings.push(text));
  return { made, warnings };
}

/** A program that runs `code` in Node; no path of it holds a space. */
function program(code: string): string {
  const file = join(folder, "hook.mjs");
  writeFileSync(file, code);
  return `${process.execPath} ${file}`;
}

describe("A detection", () => {
  it("is told on the bus, in the log line by line, and to the command", async () => {
    const emitted: unknown[] = [];
    const hook = program(
      `import { writeFileSync } from "node:fs";
       writeFileSync("told", JSON.stringify(process.argv.slice(2)));`,
    );
    const { made, warnings } = channels(
      { HOOK_LOG: "log.jsonl", HOOK_CMD: `${hook} fixed` },
      (channel, data) => emitted.push([channel, data]),
    );
    made.publish(payload());
    made.publish(payload());
    assert.deepEqual(emitted[0], ["loop-police:detection", payload()]);
    const line = JSON.stringify(payload());
    assert.equal(readFileSync(join(folder, "log.jsonl"), "utf8"), `${line}\n${line}\n`);
    await made.close();
    const told = JSON.parse(readFileSync(join(folder, "told"), "utf8"));
    assert.deepEqual(told, ["fixed", line]);
    assert.deepEqual(warnings, []);
  });

  it("does not care for a listener that throws", () => {
    const { made, warnings } = channels({}, () => {
      throw new Error("listener\nstack");
    });
    made.publish(payload());
    assert.match(warnings[0] as string, /a listener failed \(listener\)/);
  });
});

describe("A hook command", () => {
  /** Publishes twice and says what the user was told. */
  async function warned(values: Partial<Config>): Promise<string[]> {
    const { made, warnings } = channels(values);
    made.publish(payload());
    made.publish(payload());
    // Long enough for the command to end by itself or to be ended.
    for (let i = 0; i < 100 && warnings.length === 0; i++) await sleep(20);
    await made.close();
    return warnings;
  }

  it("that is missing, fails, or is killed is warned of once", async () => {
    assert.match(
      (await warned({ HOOK_CMD: join(folder, "no") })).join(),
      /could not be run \(ENOENT\)/,
    );
    const failing = await warned({ HOOK_CMD: program("process.exit(3)") });
    assert.deepEqual(failing.length, 1);
    assert.match(failing[0] as string, /HOOK_CMD exited with 3\./);
    const killed = await warned({ HOOK_CMD: program("process.kill(process.pid, 'SIGKILL')") });
    assert.match(killed.join(), /exited with a signal/);
  });

  it("that hangs is killed when its time is over, and warned of", async () => {
    const hanging = program("setInterval(() => {}, 1000)");
    const warnings = await warned({ HOOK_CMD: hanging, HOOK_TIMEOUT_MS: 200 });
    assert.match(warnings.join(), /took longer than 200 ms and was killed/);
  });

  it("that hangs holds up the end of the session for a moment only", async () => {
    const { made } = channels({ HOOK_CMD: program("setInterval(() => {}, 1000)") });
    made.publish(payload());
    const before = Date.now();
    await made.close();
    assert.ok(Date.now() - before < 4000);
  });

  it("cannot be so long a command line that publishing throws", () => {
    const { made, warnings } = channels({ HOOK_CMD: "no\0good" });
    made.publish(payload());
    assert.match(warnings.join(), /HOOK_CMD failed \(ERR_INVALID_ARG_VALUE\)/);
  });

  it("runs at most 16 times at once", async () => {
    const file = join(folder, "count");
    const hook = program(
      `import { appendFileSync } from "node:fs";
       appendFileSync(${JSON.stringify(file)}, "x"); setTimeout(() => {}, 1000);`,
    );
    const { made } = channels({ HOOK_CMD: hook });
    for (let i = 0; i < 20; i++) made.publish(payload());
    await made.close();
    assert.ok(readFileSync(file, "utf8").length <= 16);
  });
});

describe("A log", () => {
  it("that cannot be written is warned of once, and nothing else happens", () => {
    const { made, warnings } = channels({ HOOK_LOG: join(folder, "no", "log.jsonl") });
    made.publish(payload());
    made.publish(payload());
    assert.deepEqual(warnings.length, 1);
    assert.match(warnings[0] as string, /HOOK_LOG failed \(ENOENT\)/);
    chmodSync(folder, 0o700);
  });
});
