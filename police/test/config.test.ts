import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";

import { defaultConfig } from "../config/keys.ts";
import { migrate } from "../config/migrate.ts";
import { agentDir, olderConfigs } from "../config/places.ts";
import { loadConfig, reasonOf, saveConfig } from "../config/store.ts";
import { assignValue } from "../config/values.ts";
import { MESSAGE_DEFAULTS } from "../messages.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "police-"));
  path = join(folder, "agent", "loop-police.json");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file, with its folder; returns its path. */
function put(file: string, content: unknown): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function stored(file = path): Record<string, unknown> {
  return JSON.parse(readFileSync(file, "utf8"));
}

describe("The defaults", () => {
  it("are those of the package this one replaces", () => {
    const { PROFILE, ...rest } = defaultConfig();
    assert.equal(PROFILE, "classic");
    const numbers = Object.entries(rest).filter(([, value]) => typeof value === "number");
    assert.deepEqual(Object.fromEntries(numbers), {
      THINKING_WINDOW: 80,
      OUTPUT_WINDOW: 100,
      MAX_WINDOW: 4000,
      STRIDE: 50,
      PARA_MIN_LEN: 40,
      FINGERPRINT_LEN: 60,
      SEMANTIC_THRESHOLD: 3,
      STAGNATION_WINDOW: 4,
      STAGNATION_THRESHOLD: 0.85,
      FILE_SCAN_LIMIT: 20,
      SEARCH_EXPAND_LIMIT: 3,
      REREAD_WINDOW: 10,
      REREAD_RATIO: 0.4,
      CONSECUTIVE_LOOP_LIMIT: 2,
      TOOL_LOOP_BAN: 1,
      REDERIVE_THRESHOLD: 0.85,
      HOOK_TIMEOUT_MS: 5000,
      RECOVERY_LIMIT: 3,
      REJECTED_LOOP_LIMIT: 4,
      REFUSAL_LIMIT: 5,
    });
    const { TOOL_LOOP_EXEMPT, HOOK_CMD, HOOK_LOG, MSG_SUFFIX } = rest;
    assert.deepEqual([TOOL_LOOP_EXEMPT, HOOK_CMD, HOOK_LOG, MSG_SUFFIX], ["", "", "", ""]);
  });

  it("are all accepted as values", () => {
    const config = defaultConfig();
    for (const [key, value] of Object.entries(config)) {
      assert.equal(assignValue(config, key as keyof typeof config, value), undefined, key);
    }
  });
});

describe("A value", () => {
  const problem = (key: Parameters<typeof assignValue>[1], value: unknown) =>
    assignValue(defaultConfig(), key, value);

  it("is refused with the reason when its type is wrong", () => {
    assert.equal(problem("STRIDE", "50"), "must be a number, not a text");
    assert.equal(problem("STRIDE", null), "must be a number, not null");
    assert.equal(problem("STRIDE", [1]), "must be a number, not a list");
    assert.equal(problem("STRIDE", {}), "must be a number, not an object");
    assert.equal(problem("STRIDE", true), "must be a number, not a boolean");
    assert.equal(problem("HOOK_CMD", 5), "must be a text, not a number");
    assert.equal(problem("PROFILE", "best"), "must be classic or evidence");
  });

  it("is refused with the range when it lies outside, and accepted at its edges", () => {
    assert.equal(problem("STRIDE", 0), "must be a whole number from 1 to 100000");
    assert.equal(problem("STRIDE", 1), undefined);
    assert.equal(problem("STRIDE", 1.5), "must be a whole number from 1 to 100000");
    assert.equal(problem("STRIDE", Number.POSITIVE_INFINITY), problem("STRIDE", 0));
    assert.equal(problem("SEMANTIC_THRESHOLD", 0), undefined);
    assert.equal(
      problem("SEMANTIC_THRESHOLD", 1),
      "must be 0 (off) or a whole number from 2 to 1000",
    );
    assert.equal(problem("REREAD_RATIO", 0), undefined);
    assert.equal(problem("REREAD_RATIO", 1.1), "must be a number from 0 to 1");
    assert.equal(problem("TOOL_LOOP_BAN", 3), "must be a whole number from 0 to 2");
    assert.match(problem("MSG_SUFFIX", "x".repeat(20_001)) as string, /at most 20000 characters/);
  });
});

describe("A stored configuration", () => {
  it("is written with all settings on first load", () => {
    assert.deepEqual(loadConfig(path, []), { config: defaultConfig() });
    assert.deepEqual(stored(), { ...defaultConfig(), CONFIG_VERSION: 4 });
  });

  it("is read with what it sets, and left as it is", () => {
    const text = JSON.stringify({ CONFIG_VERSION: 4, STRIDE: 25, MSG_SUFFIX: "Ask." });
    put(path, text);
    const { config, warning } = loadConfig(path, []);
    assert.deepEqual(config, { ...defaultConfig(), STRIDE: 25, MSG_SUFFIX: "Ask." });
    assert.equal(warning, undefined);
    assert.equal(readFileSync(path, "utf8"), text);
  });

  it("comes back as it was saved", () => {
    const config = { ...defaultConfig(), STRIDE: 7, PROFILE: "evidence" as const, HOOK_CMD: "a b" };
    saveConfig(path, config);
    assert.deepEqual(loadConfig(path, []).config, config);
    assert.deepEqual(readdirSync(dirname(path)), ["loop-police.json"], "no draft stays behind");
  });

  it("gives way to defaults where it is wrong, with one warning, and is left as it is", () => {
    const wrong = [
      ["{", /could not be read \(Expected property name/],
      ["5", /must hold a JSON object/],
      ["null", /must hold a JSON object/],
      ["[]", /must hold a JSON object/],
      ['{"STRIDE":"50"}', /STRIDE must be a number, not a text/],
      ['{"STRIDE":5,"STIRDE":5}', /STIRDE is not a known setting/],
      ['{"toString":5}', /toString is not a known setting/],
      ['{"__proto__":{"STRIDE":5}}', /__proto__ is not a known setting/],
      [
        '{"STRIDE":0,"MSG_SUFFIX":1}',
        /STRIDE must be .*; MSG_SUFFIX must be .*\. Defaults are used for what is wrong/,
      ],
    ] as const;
    for (const [text, words] of wrong) {
      put(path, text);
      const { config, warning } = loadConfig(path, []);
      assert.match(warning as string, words);
      assert.ok(warning?.startsWith(path));
      assert.equal(config.STRIDE, text.includes('"STRIDE":5,') ? 5 : 50);
      assert.equal(readFileSync(path, "utf8"), text);
    }
  });

  it("may be a folder: that is a warning, too", () => {
    mkdirSync(path, { recursive: true });
    assert.match(loadConfig(path, []).warning as string, /could not be read \(EISDIR\)/);
  });

  it("may be impossible to write: that is a warning, and settings still apply", () => {
    // A link to nowhere: no file can be made in it, not even by root.
    symlinkSync(join(folder, "no", "where"), join(folder, "agent"));
    const { config, warning } = loadConfig(path, []);
    assert.deepEqual(config, defaultConfig());
    assert.match(warning as string, /could not be written \(E[A-Z]+\)\. Settings still apply\.$/);
  });

  it("may be a link to a file elsewhere, and stays one when it is saved", () => {
    const elsewhere = put(join(folder, "dotfiles", "police.json"), { CONFIG_VERSION: 4 });
    mkdirSync(dirname(path));
    symlinkSync(elsewhere, path);
    saveConfig(path, { ...defaultConfig(), STRIDE: 8 });
    assert.ok(lstatSync(path).isSymbolicLink());
    assert.equal(stored(elsewhere).STRIDE, 8);
  });

  it("leaves no draft behind when it cannot be put in its place", () => {
    mkdirSync(join(path, "in the way"), { recursive: true });
    assert.throws(() => saveConfig(path, defaultConfig()));
    assert.deepEqual(readdirSync(dirname(path)), ["loop-police.json"]);
  });
});

describe("An older configuration", () => {
  it("is taken over once, and stays where it is", () => {
    const older = put(join(folder, "old", "loop-police.json"), { CONFIG_VERSION: 4, STRIDE: 9 });
    const places = [join(folder, "nowhere.json"), older];
    assert.equal(loadConfig(path, places).config.STRIDE, 9);
    assert.equal(stored().STRIDE, 9);
    put(older, { CONFIG_VERSION: 4, STRIDE: 10 });
    assert.equal(loadConfig(path, places).config.STRIDE, 9);
    assert.ok(existsSync(older));
  });

  it("is taken over though it holds settings of its own package that are unknown here", () => {
    const older = put(join(folder, "old.json"), { CONFIG_VERSION: 5, STRIDE: 9, NEW_KEY: 1 });
    const { config, warning } = loadConfig(path, [older]);
    assert.match(warning as string, /old\.json: NEW_KEY is not a known setting/);
    assert.deepEqual([config.STRIDE, stored().STRIDE], [9, 9]);
    assert.equal(loadConfig(path, [older]).warning, undefined, "that is said once");
  });

  it("that is damaged is warned of and not taken over", () => {
    const older = put(join(folder, "old", "loop-police.json"), "{");
    const { config, warning } = loadConfig(path, [older]);
    assert.deepEqual(config, defaultConfig());
    assert.ok(warning?.startsWith(older));
    assert.equal(existsSync(path), false);
  });

  it("is migrated and stamped, once", () => {
    put(path, {
      TOOL_LOOP_BAN: 0,
      CHECK_STRIDE: 25,
      MAX_THINKING_WINDOW: 2000,
      FILE_SCAN_LIMIT: 15,
    });
    const { config, warning } = loadConfig(path, []);
    assert.equal(warning, undefined);
    const { TOOL_LOOP_BAN, STRIDE, MAX_WINDOW, FILE_SCAN_LIMIT } = config;
    assert.deepEqual([TOOL_LOOP_BAN, STRIDE, MAX_WINDOW, FILE_SCAN_LIMIT], [1, 25, 4000, 20]);
    assert.deepEqual(stored(), { ...config, CONFIG_VERSION: 4 });
    assert.deepEqual(loadConfig(path, []).config, config);
  });

  it("is left as it is when something in it is wrong", () => {
    const text = '{"MIN_THINKING_WINDOW":"90"}';
    put(path, text);
    assert.match(loadConfig(path, []).warning as string, /THINKING_WINDOW must be a number/);
    assert.equal(readFileSync(path, "utf8"), text);
  });
});

describe("A migration", () => {
  const values = (from: Record<string, unknown>) => Object.fromEntries(migrate(from).values);

  it("shifts the ban's scale in files without a stamp only", () => {
    assert.deepEqual(values({ TOOL_LOOP_BAN: 0 }), { TOOL_LOOP_BAN: 1 });
    assert.deepEqual(values({ TOOL_LOOP_BAN: 1 }), { TOOL_LOOP_BAN: 2 });
    assert.deepEqual(values({ TOOL_LOOP_BAN: 5 }), { TOOL_LOOP_BAN: 5 });
    assert.deepEqual(values({ TOOL_LOOP_BAN: 0, CONFIG_VERSION: 2 }), { TOOL_LOOP_BAN: 0 });
  });

  it("renames keys before version 3; untouched values give way to the new defaults", () => {
    const renamed = {
      MIN_THINKING_WINDOW: "THINKING_WINDOW",
      MIN_OUTPUT_WINDOW: "OUTPUT_WINDOW",
      MAX_THINKING_WINDOW: "MAX_WINDOW",
      CHECK_STRIDE: "STRIDE",
      PARA_FINGERPRINT_LEN: "FINGERPRINT_LEN",
      PARA_LOOP_THRESHOLD: "SEMANTIC_THRESHOLD",
    };
    for (const [from, to] of Object.entries(renamed)) {
      assert.deepEqual(values({ [from]: 7, CONFIG_VERSION: 2 }), { [to]: 7 });
      assert.deepEqual(values({ [from]: 7, [to]: 8 }), { [to]: 8 });
      assert.deepEqual(values({ [from]: 7, CONFIG_VERSION: 3 }), { [from]: 7 });
    }
    assert.deepEqual(values({ MAX_THINKING_WINDOW: 2000, CHECK_STRIDE: 50 }), {});
  });

  it("drops the removed detector's keys before version 4, and an untouched read limit", () => {
    const old = { FILE_READ_LIMIT: 3, MSG_FILE_READ_LOOP: "x", CONFIG_VERSION: 3 };
    assert.deepEqual(values({ ...old, FILE_SCAN_LIMIT: 15 }), {});
    assert.deepEqual(values({ ...old, FILE_SCAN_LIMIT: 16 }), { FILE_SCAN_LIMIT: 16 });
  });

  it("leaves today's files, newer ones and odd stamps alone", () => {
    for (const stamp of [4, 5, "3"]) {
      const { values: kept, changed } = migrate({ TOOL_LOOP_BAN: 0, CONFIG_VERSION: stamp });
      assert.deepEqual([Object.fromEntries(kept), changed], [{ TOOL_LOOP_BAN: 0 }, false]);
    }
  });
});

describe("The place of the file", () => {
  it("is Pi's own agent directory", async () => {
    const { getAgentDir } = await import("@earendil-works/pi-coding-agent");
    const before = process.env.PI_CODING_AGENT_DIR;
    try {
      for (const set of ["/some/where", "~", "~/agents", "relative", "~other", undefined, ""]) {
        if (set === undefined) delete process.env.PI_CODING_AGENT_DIR;
        else process.env.PI_CODING_AGENT_DIR = set;
        assert.equal(agentDir(), getAgentDir(), `PI_CODING_AGENT_DIR=${set}`);
      }
    } finally {
      if (before === undefined) delete process.env.PI_CODING_AGENT_DIR;
      else process.env.PI_CODING_AGENT_DIR = before;
    }
  });

  it("of an older file is beside the extension or in the replaced package, never in the project", () => {
    const places = olderConfigs("/agent/git/police", "/agent", "/home/u/project");
    assert.deepEqual(places, [
      "/agent/git/police/loop-police.json",
      "/agent/git/police/extensions/loop-police.json",
      "/agent/npm/node_modules/pi-loop-police/extensions/loop-police.json",
      "/agent/git/github.com/sebaxzero/pi-loop-police/extensions/loop-police.json",
    ]);
    const inProject = olderConfigs("/home/u/project/.pi/police", "/agent", "/home/u/project");
    assert.equal(inProject.length, 2);
    // The home is the project: what lies in the agent directory is still the user's own.
    assert.equal(olderConfigs("/home/u/x", "/home/u/.pi/agent", "/home/u").length, 2);
    assert.equal(olderConfigs("/home/u", "/home/u/.pi/agent", "/home/u").length, 2);
  });
});

describe("The reason of an error", () => {
  it("is its code, the first line of its message, or what was thrown", () => {
    assert.equal(reasonOf(Object.assign(new Error("long"), { code: "ENOENT" })), "ENOENT");
    assert.equal(reasonOf(new Error("first\nsecond")), "first");
    assert.equal(reasonOf("text"), "text");
  });
});

describe("The texts", () => {
  it("hold the placeholders that the documentation names", () => {
    const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const expected: Record<string, string[]> = {
      MSG_CONSECUTIVE_LOOP: ["count"],
      MSG_STAGNATION: ["window", "threshold"],
      MSG_FILE_SCAN_LOOP: ["path", "count"],
      MSG_SEARCH_SPIRAL: ["pattern", "paths"],
      MSG_REREAD: ["path", "count", "window"],
      MSG_TOOL_LOOP: ["windowSize"],
      MSG_STUCK: ["count"],
      MSG_REJECTED_LOOP: ["count", "tool", "error", "shape"],
      MSG_REFUSAL_IGNORED: ["tool", "count"],
      MSG_NO_PROGRESS: ["what"],
      MSG_NOTICE: ["what"],
    };
    for (const [key, text] of Object.entries(MESSAGE_DEFAULTS)) {
      assert.deepEqual(new Set(placeholders(text)), new Set(expected[key] ?? []), key);
    }
  });
});
