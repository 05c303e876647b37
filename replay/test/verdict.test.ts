/** What is caught, late, missed, left alone or a false alarm, and which expectations hold. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Run, Sign } from "../run_scenario.ts";
import { judge } from "../verdict.ts";
import { scenario } from "./made_up.ts";

const told = (event: number, kind = "tool_loop"): Sign => ({ event, kind, enforced: undefined });
const did = (event: number, kind?: string): Sign => ({ event, kind, enforced: "block" });

function run(...signs: Sign[]): Run {
  return { signs, blocked: 0, firstBlock: null, notices: [], problems: [] };
}

const loop = (by: number | null) => scenario({ expected: { police: { by } } });
const honest = scenario({ label: "legitimate", expected: { police: { by: null } } });

/** Both outcomes with their events, and the unmet expectations. */
function judged(given = loop(5), ...signs: Sign[]) {
  const { any, enforced, unmet } = judge(given, "police", run(...signs));
  const short = ({ outcome, event }: typeof any) => (event ? `${outcome} ${event}` : outcome);
  return [short(any), short(enforced), ...unmet];
}

test("a loop is caught up to its deadline, and late behind it", () => {
  assert.deepEqual(judged(loop(5), told(5), did(5)), ["caught 5", "caught 5"]);
  assert.deepEqual(judged(loop(5), told(6), did(6)), [
    "late 6",
    "late 6",
    "expected a detection by event 5, observed one at event 6 (tool_loop)",
  ]);
});

test("what was only told of is caught, and by enforcement missed or caught later", () => {
  assert.deepEqual(judged(loop(5), told(3)), ["caught 3", "missed"]);
  assert.deepEqual(judged(loop(5), told(3), told(5), did(5)), ["caught 3", "caught 5"]);
  assert.deepEqual(judged(loop(5), told(3), did(8)), ["caught 3", "late 8"]);
});

test("a loop of which nothing is told is missed", () => {
  const unmet = "expected a detection by event 5, observed none";
  assert.deepEqual(judged(loop(5)), ["missed", "missed", unmet]);
});

test("a loop without a deadline is caught at any event, and nothing is expected of it", () => {
  assert.deepEqual(judged(loop(null), did(9)), ["caught 9", "caught 9"]);
  assert.deepEqual(judged(scenario(), did(9)), ["caught 9", "caught 9"]);
  assert.deepEqual(judged(loop(null)), ["missed", "missed"]);
});

test("a legitimate sequence is left alone, or any detection is a false alarm", () => {
  assert.deepEqual(judged(honest), ["left alone", "left alone"]);
  assert.deepEqual(judged(honest, told(4)), [
    "false alarm 4",
    "left alone",
    "expected no detection, observed one at event 4 (tool_loop)",
  ]);
});

test("without an expectation of the police, a false alarm is counted and not complained of", () => {
  const unlabelled = scenario({ label: "legitimate" });
  assert.deepEqual(judged(unlabelled, did(4)), ["false alarm 4", "false alarm 4"]);
});

test("what was enforced is called by what was told at the same event, or else before", () => {
  const kinds = (...signs: Sign[]) => {
    const { any, enforced } = judge(loop(5), "police", run(...signs));
    return [any.kind, any.how, enforced.kind];
  };
  assert.deepEqual(kinds(did(3, "loop_broken")), ["loop_broken", "block", "loop_broken"]);
  assert.deepEqual(kinds(did(3), told(3, "output_loop")), ["output_loop", "block", "output_loop"]);
  assert.deepEqual(kinds(told(2, "stagnation"), did(3)), ["stagnation", null, "stagnation"]);
  assert.deepEqual(kinds(did(3), told(4)), [null, "block", null]);
});

test("the engine is held to the number of refusals and to the first, and to no deadline", () => {
  const given = scenario({
    expected: { engine: { blocked: 2, firstBlock: 6 }, police: { by: 2 } },
  });
  const observed = (blocked: number, firstBlock: number | null) =>
    judge(given, "engine", { ...run(), blocked, firstBlock }).unmet;
  assert.deepEqual(observed(2, 6), []);
  assert.deepEqual(observed(0, null), [
    "expected blocked 2, observed 0",
    "expected firstBlock 6, observed null",
  ]);
  assert.deepEqual(judge(scenario(), "engine", run()).unmet, []);
});
