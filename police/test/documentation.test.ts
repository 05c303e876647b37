import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import { defaultConfig, isConfigKey } from "../config/keys.ts";
import type { USER_WORDS } from "../messages.ts";

const FOLDER = join(import.meta.dirname, "..");
const README = readFileSync(join(FOLDER, "README.md"), "utf8");
const CARD = readFileSync(join(FOLDER, "skills", "loop-police-help", "SKILL.md"), "utf8");

/** The rows of a text's tables, cell by cell. */
function rows(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.startsWith("| "));
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe("The reference card", () => {
  const config: Readonly<Record<string, unknown>> = defaultConfig();
  const listed = rows(CARD).flatMap(([keys = "", defaults = ""]) =>
    keys.split(", ").map((key, index) => [key, defaults.split(",")[index]?.trim() ?? ""] as const),
  );
  const defaults = new Map(
    listed.map(([key, value]) => [key.replaceAll("`", ""), value.replaceAll("`", "")]),
  );

  it("lists every setting with its default", () => {
    for (const [key, value] of Object.entries(config)) {
      if (key.startsWith("MSG_") && key !== "MSG_SUFFIX") continue;
      assert.equal(defaults.get(key), String(value), key);
    }
  });

  it("speaks of no setting that does not exist", () => {
    const named = CARD.match(/\b[A-Z]{2,}(?:_[A-Z]{2,})+\b/g) ?? [];
    const others = new Set(["PI_CODING_AGENT_DIR", "CONFIG_VERSION"]);
    for (const key of named) assert.ok(others.has(key) || isConfigKey(key), key);
  });
});

describe("The README", () => {
  const config = defaultConfig();
  const found = new Map(rows(README).map(([name = "", when = ""]) => [name, when]));

  it("names every detection, and the thresholds that are in force", () => {
    const share = (value: number) => `${value * 100}%`;
    const reread = config.REREAD_RATIO * config.REREAD_WINDOW;
    const expected: Record<keyof typeof USER_WORDS, string> = {
      thinking_loop: `same ${config.THINKING_WINDOW} characters`,
      semantic_loop: "third time",
      output_loop: `same ${config.OUTPUT_WINDOW} characters`,
      output_semantic_loop: "third time",
      stagnation: `${config.STAGNATION_WINDOW} turns is ${share(config.STAGNATION_THRESHOLD)}`,
      rederived_reasoning: share(config.REDERIVE_THRESHOLD),
      tool_loop: "repeat",
      file_scan_loop: `${config.FILE_SCAN_LIMIT} times`,
      redundant_reread: `${reread} of the last ${config.REREAD_WINDOW} reads`,
      search_spiral: "third place",
      rejected_call_loop: `${config.REJECTED_LOOP_LIMIT} calls`,
      refusal_ignored: `${config.REFUSAL_LIMIT} messages in a row`,
    };
    for (const [event, words] of Object.entries(expected)) {
      assert.ok(found.get(`\`${event}\``)?.includes(words), `${event}: ${words}`);
    }
    assert.deepEqual([config.SEMANTIC_THRESHOLD, config.SEARCH_EXPAND_LIMIT], [3, 3]);
    assert.ok(README.includes(`After ${config.RECOVERY_LIMIT} recoveries`));
  });
});
