/** The committed collection: the shipped guards meet the project's bar on it, and say so. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { main } from "../score_cli.ts";
import { ROOT } from "./project.ts";

/** The bar for the evidence profile, by what it keeps from happening alone. */
const LEAST_RECALL = 0.97;
const MOST_FALSE_ALARMS = 0.01;
const MOST_DELAY = 3;

/** Scores all committed scenarios. */
async function score(...args: string[]) {
  const lines: string[] = [];
  const stderr: string[] = [];
  const code = await main(["--json", ...args], {
    root: ROOT,
    cwd: ROOT,
    stdout: (line) => lines.push(line),
    stderr: (line) => stderr.push(line),
  });
  const rows = lines.map((line) => JSON.parse(line));
  const summary = rows.find(
    ({ type, kind, counted }) => type === "summary" && kind === null && counted === "enforced",
  );
  return { code, stderr, rows, summary };
}

test("the evidence profile meets the bar by enforcement", async () => {
  const { summary } = await score("--guard", "police", "--profile", "evidence");
  const { recall, falseAlarms, medianDelay } = summary;
  assert.ok(recall.of + falseAlarms.of >= 120, `${recall.of} and ${falseAlarms.of} scenarios`);
  assert.ok(recall.rate >= LEAST_RECALL, `recall ${recall.rate}`);
  assert.ok(falseAlarms.rate <= MOST_FALSE_ALARMS, `false alarms ${falseAlarms.rate}`);
  assert.ok(medianDelay <= MOST_DELAY, `median delay ${medianDelay}`);
});

test("every file is well-formed, and no guard does what none may", async () => {
  const { stderr } = await score();
  const missed = / (engine|police): expected /;
  assert.deepEqual(
    stderr.filter((line) => !missed.test(line)),
    [],
  );
});

test("a replay of the collection is the same every time", async () => {
  const first = await score("--profile", "evidence");
  assert.deepEqual(await score("--profile", "evidence"), first);
});
