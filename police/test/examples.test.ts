import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, it } from "node:test";

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

import { PiDouble } from "../../replay/pi_double.ts";
import listener from "../examples/listener-extension.ts";

const HOOK = join(import.meta.dirname, "..", "examples", "hook.mjs");

describe("The example of a hook", () => {
  function run(argument: string, path: string) {
    // Linux's way of notifying is replaced by a witness; the other systems' ways are not run here.
    const env = { PATH: path };
    return spawnSync(process.execPath, [HOOK, argument], { env, encoding: "utf8" });
  }

  it("shows the event and the model", () => {
    const folder = mkdtempSync(join(tmpdir(), "police-"));
    try {
      const witness = join(folder, "notify-send");
      writeFileSync(witness, `#!/bin/sh\nprintf '%s|' "$@" > ${folder}/shown\n`);
      chmodSync(witness, 0o755);
      const payload = { event: "tool_loop", model: { id: "$(touch x)" } };
      const path = [folder, "/bin", "/usr/bin"].join(delimiter);
      assert.equal(run(JSON.stringify(payload), path).status, 0);
      const shown = readFileSync(join(folder, "shown"), "utf8");
      assert.equal(shown, "loop-police|tool loop ($(touch x))|");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("says what it was given when it is no payload", () => {
    const { status, stderr } = run("null", "/bin");
    assert.equal(status, 2);
    assert.match(stderr, /must be a payload/);
  });
});

describe("The example of a listener", () => {
  it("counts the session's detections by kind in the status bar", async () => {
    const shown: (string | undefined)[] = [];
    const ui = { setStatus: (_: string, text: string | undefined) => shown.push(text) };
    const pi = new PiDouble({ ui: ui as unknown as ExtensionContext["ui"] });
    await pi.load("listener", listener);
    pi.events.emit("loop-police:detection", { event: "tool_loop" });
    assert.deepEqual(shown, [], "there is no session to show it in yet");
    await pi.emit({ type: "session_start", reason: "startup" });
    for (const event of ["tool_loop", "tool_loop", "thinking_loop"]) {
      pi.events.emit("loop-police:detection", { event });
    }
    assert.equal(shown.at(-1), "loops: tool loop 2, thinking loop 1");
    assert.deepEqual(pi.errors, []);
  });
});
