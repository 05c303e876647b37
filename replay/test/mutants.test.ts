/**
 * What the replay would catch. Each faulty guard is replayed over the committed evidence and over
 * fixtures made up here, in one process, as the command does; what it is caught by is named exactly.
 */

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import extension from "../../engine/engine.ts";
import { type Fixture, parseFixture, readFixture } from "../fixture.ts";
import { replayFixture } from "../replay.ts";
import { guard } from "./guard_variants.ts";
import { madeUp } from "./notation.ts";
import { ROOT } from "./project.ts";

/** Equal calls that leave the window one by one: what the committed fixtures are too short to show. */
const MADE_UP = [
  madeUp("last-in-window", "bash A x5 B C D E F G H I J K L M N O P A", {
    blocked: 1,
    entries: 1,
    firstBlock: 21,
  }),
  madeUp("just-out-of-window", "bash A x5 B C D E F G H I J K L M N O P Q A", {
    blocked: 0,
    entries: 0,
    firstBlock: null,
  }),
  madeUp("refused-at-the-edge", "bash A x5 B C D E F G H I J K L M N O P A x5 Q A", {
    blocked: 5,
    entries: 5,
    firstBlock: 21,
  }),
];

/** Written as text, since a `__proto__` in an object literal is no property. */
const PROTO = [
  protoFixture("proto-differs", [1, 2, 3, 4, 5, 6], { blocked: 0, firstBlock: null }),
  protoFixture("proto-equal", [1, 1, 1, 1, 1, 1], { blocked: 1, firstBlock: 6 }),
];

function protoFixture(
  name: string,
  values: readonly number[],
  expected: { blocked: number; firstBlock: number | null },
): Fixture {
  const calls = values.map((n) => `{"toolName": "set", "input": {"at": {"__proto__": ${n}}}}`);
  const result = parseFixture(
    `{"name": "${name}", "calls": [${calls}],
      "expected": ${JSON.stringify({ ...expected, entries: expected.blocked })}}`,
  );
  assert.ok(result.ok);
  return result.fixture;
}

async function committed(): Promise<Fixture[]> {
  const folder = path.join(ROOT, "fixtures", "guards");
  const files = (await readdir(folder)).sort();
  const results = await Promise.all(files.map((file) => readFixture(path.join(folder, file))));
  return results.map((result) => {
    assert.ok(result.ok);
    return result.fixture;
  });
}

/** Replays one after the other and returns `fixture: problem` for all that was found. */
async function caught(fixtures: readonly Fixture[], faulty: ExtensionFactory): Promise<string[]> {
  const found: string[] = [];
  for (const fixture of fixtures) {
    const { problems } = await replayFixture(fixture, faulty);
    found.push(...problems.map((problem) => `${fixture.name}: ${problem}`));
  }
  return found;
}

test("the shipped extension passes the committed evidence and the made-up one", async () => {
  assert.deepEqual(await caught([...(await committed()), ...MADE_UP, ...PROTO], extension), []);
});

test("a guard of the tests' own without a fault passes all of it too", async () => {
  assert.deepEqual(await caught([...(await committed()), ...MADE_UP, ...PROTO], guard()), []);
});

test("state at module scope is caught by the committed evidence", async () => {
  assert.deepEqual(await caught(await committed(), guard({ sharesState: true })), [
    "runaway-excerpt: expected blocked 1, observed 2",
    "runaway-excerpt: expected firstBlock 6, observed 5",
    "runaway-excerpt: expected entries 1, observed 2",
  ]);
});

test("a threshold that is one too low is caught by the committed evidence", async () => {
  assert.deepEqual(await caught(await committed(), guard({ threshold: 4 })), [
    "anchor-mismatch: expected blocked 46, observed 47",
    "anchor-mismatch: expected firstBlock 14, observed 13",
    "anchor-mismatch: expected entries 46, observed 47",
    "runaway-excerpt: expected blocked 1, observed 2",
    "runaway-excerpt: expected firstBlock 6, observed 5",
    "runaway-excerpt: expected entries 1, observed 2",
  ]);
});

test("a threshold that is one too high is caught by the committed evidence", async () => {
  assert.deepEqual(await caught(await committed(), guard({ threshold: 6 })), [
    "anchor-mismatch: expected blocked 46, observed 45",
    "anchor-mismatch: expected firstBlock 14, observed 15",
    "anchor-mismatch: expected entries 46, observed 45",
    "runaway-excerpt: expected blocked 1, observed 0",
    "runaway-excerpt: expected firstBlock 6, observed null",
    "runaway-excerpt: expected entries 1, observed 0",
  ]);
});

test("refused calls that push the others out are caught by the committed evidence", async () => {
  const found = await caught(await committed(), guard({ refusedEntersAs: "stranger" }));
  assert.deepEqual(found, [
    "anchor-mismatch: expected blocked 46, observed 36",
    "anchor-mismatch: expected entries 46, observed 36",
  ]);
});

test("refused calls that count as repeats are caught at the edge of the window", async () => {
  const faulty = guard({ refusedEntersAs: "itself" });
  // In the committed runs a refused call is tried again at once, so that counting it shows nowhere.
  assert.deepEqual(await caught(await committed(), faulty), []);
  assert.deepEqual(await caught(MADE_UP, faulty), [
    "refused-at-the-edge: expected blocked 5, observed 6",
    "refused-at-the-edge: expected entries 5, observed 6",
  ]);
});

test("a window that is one too short is caught by the made-up evidence alone", async () => {
  const faulty = guard({ window: 19 });
  // No committed run admits twenty calls between the first repeat and the last.
  assert.deepEqual(await caught(await committed(), faulty), []);
  assert.deepEqual(await caught(MADE_UP, faulty), [
    "last-in-window: expected blocked 1, observed 0",
    "last-in-window: expected firstBlock 21, observed null",
    "last-in-window: expected entries 1, observed 0",
    "refused-at-the-edge: expected blocked 5, observed 1",
    "refused-at-the-edge: expected firstBlock 21, observed 27",
    "refused-at-the-edge: expected entries 5, observed 1",
  ]);
});

test("a window that is one too long is caught by the made-up evidence alone", async () => {
  const faulty = guard({ window: 21 });
  assert.deepEqual(await caught(await committed(), faulty), []);
  assert.deepEqual(await caught(MADE_UP, faulty), [
    "just-out-of-window: expected blocked 0, observed 1",
    "just-out-of-window: expected firstBlock null, observed 22",
    "just-out-of-window: expected entries 0, observed 1",
    "refused-at-the-edge: expected blocked 5, observed 6",
    "refused-at-the-edge: expected entries 5, observed 6",
  ]);
});

test("a guard that loses __proto__ is caught by inputs that differ in nothing else", async () => {
  const faulty = guard({ losesProto: true });
  assert.deepEqual(await caught(PROTO, faulty), [
    "proto-differs: expected blocked 0, observed 1",
    "proto-differs: expected firstBlock null, observed 6",
    "proto-differs: expected entries 0, observed 1",
  ]);
});
