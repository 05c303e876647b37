import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { type CommandTarget, complete, DESCRIPTION, runCommand } from "../command.ts";
import { renderMessage } from "../messages.ts";
import { config as configOf } from "./observations.ts";

function target(values: Partial<CommandTarget> = {}) {
  const calls: string[] = [];
  const made: CommandTarget = {
    config: configOf(),
    path: "/agent/loop-police.json",
    save: () => calls.push("save"),
    reset: () => calls.push("reset"),
    status: () => ["loops found: 2"],
    ...values,
  };
  return { ...made, calls };
}

describe("/loop-police", () => {
  it("alone shows the profile, what was counted, and every setting", () => {
    const { text, ok } = runCommand(" ", target());
    assert.ok(ok);
    for (const part of [
      "classic profile",
      "loops found: 2",
      "STRIDE=50",
      'HOOK_CMD=""',
      "MSG_STUCK",
    ]) {
      assert.ok(text.includes(part), part);
    }
  });

  it("reset and save do so", () => {
    const on = target();
    assert.ok(runCommand("reset", on).ok);
    assert.deepEqual(runCommand(" save ", on), {
      ok: true,
      text: "Loop Police: saved /agent/loop-police.json.",
    });
    assert.deepEqual(on.calls, ["reset", "save"]);
  });

  it("save says why it could not", () => {
    const save = () => {
      throw Object.assign(new Error("x"), { code: "EACCES" });
    };
    assert.deepEqual(runCommand("save", target({ save })), {
      ok: false,
      text: "Loop Police: /agent/loop-police.json could not be written (EACCES).",
    });
  });

  it("profile switches the rules, and names them when it cannot", () => {
    const on = target();
    assert.ok(runCommand("profile evidence", on).ok);
    assert.equal(on.config.PROFILE, "evidence");
    for (const wrong of ["", "best"]) {
      assert.deepEqual(runCommand(`profile ${wrong}`, on), {
        ok: false,
        text: "Loop Police: profile must be classic or evidence.",
      });
    }
    assert.equal(on.config.PROFILE, "evidence");
  });

  it("anything else names what there is", () => {
    const { text, ok } = runCommand("toString x", target());
    assert.equal(ok, false);
    assert.match(text, /^"toString" is unknown\. Write \/loop-police reset or \/loop-police set/);
    assert.match(DESCRIPTION, /reset \| set KEY=VAL/);
  });
});

describe("/loop-police set", () => {
  it("sets numbers and texts, texts with spaces up to the next KEY=", () => {
    const on = target();
    const typed =
      "set FILE_SCAN_LIMIT=30 HOOK_CMD=node /path/to/hook.mjs --flag STAGNATION_WINDOW=5";
    assert.deepEqual(runCommand(typed, on), {
      ok: true,
      text:
        "Loop Police: FILE_SCAN_LIMIT=30, HOOK_CMD=node /path/to/hook.mjs --flag, " +
        "STAGNATION_WINDOW=5 (for this session; save keeps it).",
    });
    assert.equal(on.config.FILE_SCAN_LIMIT, 30);
    assert.equal(on.config.HOOK_CMD, "node /path/to/hook.mjs --flag");
    assert.equal(on.config.STAGNATION_WINDOW, 5);
    runCommand("set HOOK_CMD= REREAD_RATIO=.5 STRIDE=1e2", on);
    assert.deepEqual(
      [on.config.HOOK_CMD, on.config.REREAD_RATIO, on.config.STRIDE],
      ["", 0.5, 100],
    );
  });

  it("says what is wrong with an input, and changes nothing by it", () => {
    const wrong = {
      "STRIDE=abc": "STRIDE=abc: must be a number, not a text.",
      "STRIDE=": "STRIDE=: must be a number, not a text.",
      "STRIDE=3px": "STRIDE=3px: must be a number, not a text.",
      "STRIDE=0x10": "STRIDE=0x10: must be a number, not a text.",
      "STRIDE=NaN": "STRIDE=NaN: must be a number, not a text.",
      "STRIDE=1e999": "STRIDE=1e999: must be a whole number from 1 to 100000.",
      "STRIDE=-1": "STRIDE=-1: must be a whole number from 1 to 100000.",
      "toString=5": "toString is not a setting. /loop-police lists them.",
      "__proto__=5": "__proto__ is not a setting. /loop-police lists them.",
      "stride=5": "stride is not a setting. /loop-police lists them.",
      "MSG_STUCK=x": "MSG_STUCK is a text: edit it in loop-police.json.",
      "PROFILE=best": "PROFILE=best: must be classic or evidence.",
      STRIDE: '"STRIDE" is no assignment. Write KEY=VAL.',
      "=5": '"=5" is no assignment. Write KEY=VAL.',
      "": "Nothing to set. Write KEY=VAL.",
    };
    for (const [typed, words] of Object.entries(wrong)) {
      const on = target();
      assert.deepEqual(runCommand(`set ${typed}`, on), {
        ok: false,
        text: `Loop Police: ${words}`,
      });
      assert.deepEqual(on.config, configOf());
    }
  });

  it("makes the assignments that are right beside one that is wrong", () => {
    const on = target();
    const { text, ok } = runCommand("set STRIDE=10 MAX_WINDOW=x", on);
    assert.equal(ok, false);
    assert.match(text, /STRIDE=10 \(for this session.*MAX_WINDOW=x: must be a number/);
    assert.equal(on.config.STRIDE, 10);
  });
});

describe("Completion", () => {
  const values = (typed: string) => complete(typed)?.map(({ value }) => value);

  it("offers the subcommands, then the profiles or the settings with their ranges", () => {
    assert.deepEqual(values(""), ["reset", "set ", "profile ", "save"]);
    assert.deepEqual(values("s"), ["set ", "save"]);
    assert.deepEqual(values("profile e"), ["profile evidence"]);
    assert.deepEqual(values("set file"), ["set FILE_SCAN_LIMIT="]);
    assert.deepEqual(values("set STRIDE=5 HOOK_C"), ["set STRIDE=5 HOOK_CMD="]);
    assert.match(complete("set STR")?.[0]?.description ?? "", /whole number from 1 to 100000/);
  });

  it("offers nothing where nothing fits", () => {
    for (const typed of ["x", "reset ", "set NOPE"]) assert.equal(complete(typed), null);
  });
});

describe("A message", () => {
  it("has its placeholders filled in, and unknown ones left as they are", () => {
    const text = renderMessage("{path} {count} {typo} {toString}", { path: "a", count: 3 }, "");
    assert.equal(text, "a 3 {typo} {toString}");
  });

  it("is followed by the suffix, if there is one", () => {
    assert.equal(renderMessage("Stop.", {}, " Ask. "), "Stop.\n\nAsk.");
    assert.equal(renderMessage("Stop.", {}, " "), "Stop.");
  });

  it("does not repeat a text of any length, nor take a value for a template", () => {
    const text = renderMessage("{path}", { path: "x".repeat(10_000) }, "");
    assert.ok(text.length < 1000);
    assert.equal(renderMessage("{path}", { path: "{count} $& $1", count: 1 }, ""), "{count} $& $1");
  });
});
