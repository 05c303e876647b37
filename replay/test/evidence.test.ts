/** The committed fixtures, held against the table that they were written from. */

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { createCodingTools } from "@earendil-works/pi-coding-agent";
import { Value } from "typebox/value";

import extension from "../../engine/engine.ts";
import { type Fixture, parseFixture } from "../fixture.ts";
import { replayFixture } from "../replay.ts";
import { readNotation } from "./notation.ts";
import { ROOT } from "./project.ts";

const GUARDS = path.join(ROOT, "fixtures", "guards");

interface Row {
  readonly calls: number;
  readonly blocked: number;
  readonly firstBlock: number | null;
  readonly sequence: string;
}

const TABLE: Readonly<Record<string, Row>> = {
  "accepted-contract": {
    calls: 5,
    blocked: 0,
    firstBlock: null,
    sequence: "bash A, read B, edit C, edit D, bash E",
  },
  "accepted-magicmock": {
    calls: 22,
    blocked: 0,
    firstBlock: null,
    sequence: "bash A B C D E, read F G, write H, bash I J K L M N N O O, edit P P Q R, bash I",
  },
  "anchor-mismatch": {
    calls: 60,
    blocked: 46,
    firstBlock: 14,
    sequence: "bash A, read B, bash C D, edit E E, read B, edit E, edit F x7, read B, edit F x44",
  },
  "edit-schema-retry": {
    calls: 5,
    blocked: 0,
    firstBlock: null,
    sequence: "read A, edit B, bash C D, read A",
  },
  "healthy-excerpt": {
    calls: 6,
    blocked: 0,
    firstBlock: null,
    sequence: "bash A, read B, bash C, write D, bash C, read E",
  },
  "runaway-excerpt": { calls: 6, blocked: 1, firstBlock: 6, sequence: "bash A x6" },
};

async function load(name: string): Promise<{ text: string; fixture: Fixture }> {
  const text = await readFile(path.join(GUARDS, `${name}.json`), "utf8");
  const result = parseFixture(text);
  assert.ok(result.ok, `${name}: ${result.ok || result.problems}`);
  return { text, fixture: result.fixture };
}

test("the committed fixtures are those of the table, no more and no fewer", async () => {
  const files = await readdir(GUARDS);
  assert.deepEqual(
    files.sort(),
    Object.keys(TABLE)
      .map((name) => `${name}.json`)
      .sort(),
  );
});

for (const [name, row] of Object.entries(TABLE)) {
  test(`${name} is named like its file and expects what the table says`, async () => {
    const { fixture } = await load(name);
    const { blocked, firstBlock } = row;
    assert.equal(fixture.name, name);
    assert.deepEqual(fixture.expected, { blocked, entries: blocked, firstBlock });
  });

  test(`${name} has the table's sequence: equal letters are equal calls, and only they`, async () => {
    const { fixture } = await load(name);
    const noted = readNotation(row.sequence);
    assert.equal(noted.length, row.calls);
    assert.deepEqual(
      fixture.calls.map(({ toolName }) => toolName),
      noted.map(({ tool }) => tool),
    );
    for (const [i, call] of fixture.calls.entries()) {
      for (const [j, other] of fixture.calls.entries()) {
        assert.equal(
          isDeepStrictEqual(call, other),
          noted[i]?.letter === noted[j]?.letter,
          `calls ${i + 1} and ${j + 1}`,
        );
      }
    }
  });

  test(`${name} holds only inputs that Pi's own tools accept`, async () => {
    const { fixture } = await load(name);
    const tools = new Map(createCodingTools(ROOT).map((tool) => [tool.name, tool]));
    for (const { toolName, input } of fixture.calls) {
      const tool = tools.get(toolName);
      assert.ok(tool, `Pi has no tool ${toolName}`);
      assert.ok(Value.Check(tool.parameters, input), JSON.stringify(input));
    }
  });

  test(`${name} is written as JSON.stringify writes it, so that a change shows as one`, async () => {
    const { text } = await load(name);
    assert.equal(text, `${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  });

  test(`${name} replays through the shipped extension as the table says`, async () => {
    const { fixture } = await load(name);
    const { calls, blocked, firstBlock } = row;
    assert.deepEqual(await replayFixture(fixture, extension), {
      observation: { name, calls, blocked, firstBlock, entries: blocked },
      problems: [],
    });
  });
}

test("the healthy and the runaway excerpt share a call, or shared state would go unseen", async () => {
  const healthy = (await load("healthy-excerpt")).fixture.calls;
  const runaway = (await load("runaway-excerpt")).fixture.calls;
  assert.ok(healthy.some((call) => isDeepStrictEqual(call, runaway[0])));
});

test("the notation repeats the letter before xN and keeps the tool of the group", () => {
  assert.deepEqual(readNotation("bash A B x2, read C"), [
    { tool: "bash", letter: "A" },
    { tool: "bash", letter: "B" },
    { tool: "bash", letter: "B" },
    { tool: "read", letter: "C" },
  ]);
  assert.throws(() => readNotation("bash A, read bee"), /"bee" is not a letter/);
});
