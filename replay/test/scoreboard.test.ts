/** Sums by guard, profile and kind, and how they are shown. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Run, Sign } from "../run_scenario.ts";
import type { Scenario } from "../scenario.ts";
import { jsonLine, report, scoreLine } from "../score_report.ts";
import { kindOfScenario, type Score, summaries, tallies } from "../scoreboard.ts";
import { judge } from "../verdict.ts";
import { call, scenario, user } from "./made_up.ts";

/** A score of the police in the evidence profile, with these signs: `t3` told, `b3` a block. */
function score(more: Partial<Scenario>, signs: string, where: Partial<Score> = {}): Score {
  const read = signs.split(" ").filter((sign) => sign !== "");
  const run: Run = {
    signs: read.map((sign): Sign => {
      const event = Number(sign.slice(1));
      return sign.startsWith("t")
        ? { event, kind: "tool_loop", enforced: undefined }
        : { event, kind: undefined, enforced: "block" };
    }),
    blocked: 0,
    firstBlock: null,
    notices: [],
    problems: [],
  };
  const given = scenario({ kind: "cycle", ...more });
  const { name, label } = given;
  const own = { name, label, guard: "police", profile: "evidence" } as const;
  const kind = kindOfScenario(given);
  return { ...own, kind, ...judge(given, "police", run), ...where };
}

const by = (event: number | null) => ({ expected: { police: { by: event } } });
const honest = { label: "legitimate", ...by(null) } as const;

const SCORES = [
  score(by(4), "t3 b3"),
  score(by(4), "t4 t6 b6"),
  score(by(4), "t9"),
  score(by(null), "t2 b2"),
  score(by(4), ""),
  score({ ...honest, kind: "polling" }, ""),
  score({ ...honest, kind: "polling" }, "t3"),
  score(honest, "b3"),
];

test("all kinds are summed up together, and each by itself, with any detection and by enforcement", () => {
  const rows = summaries(SCORES).map((row) => [
    row.kind,
    row.counted,
    ...[row.recall.count, row.recall.of, row.late],
    ...[row.falseAlarms.count, row.falseAlarms.of, row.medianEvent, row.medianDelay],
  ]);
  assert.deepEqual(rows, [
    [null, "any", 3, 5, 1, 2, 3, 3.5, 0],
    [null, "enforced", 2, 5, 1, 1, 3, 3, 1],
    ["cycle", "any", 3, 5, 1, 1, 1, 3.5, 0],
    ["cycle", "enforced", 2, 5, 1, 1, 1, 3, 1],
    ["polling", "any", 0, 0, 0, 1, 2, null, null],
    ["polling", "enforced", 0, 0, 0, 0, 2, null, null],
  ]);
});

test("guards and profiles are summed up apart", () => {
  const engine = score(by(4), "b4", { guard: "engine", profile: null });
  const classic = score(by(4), "t4", { profile: "classic" });
  const rows = summaries([engine, classic, engine]).filter(({ kind }) => kind === null);
  assert.deepEqual(
    rows.map(({ guard, profile, counted, recall }) => [guard, profile, counted, recall.count]),
    [
      ["engine", null, "any", 2],
      ["engine", null, "enforced", 2],
      ["police", "classic", "any", 1],
      ["police", "classic", "enforced", 0],
    ],
  );
});

test("first detections are tallied by what the guard calls them", () => {
  const rows = tallies(SCORES).map((row) => [
    row.detection,
    row.counted,
    row.loops,
    row.falseAlarms,
  ]);
  assert.deepEqual(rows, [
    ["tool_loop", "any", 4, 1],
    ["unnamed", "any", 0, 1],
    ["tool_loop", "enforced", 3, 0],
    ["unnamed", "enforced", 0, 1],
  ]);
});

for (const [kind, events] of [
  ["calls", [user, call("ls")]],
  ["batches with text", [user, { text: "a" }, { batch: [call("ls")] }]],
  ["calls with thinking and text", [user, { text: "a" }, { thinking: "b" }, call("ls")]],
  ["thinking", [user, { thinking: "a" }]],
  ["prompts", [user, { compaction: true }]],
  ["rejected calls", [user, call("ls"), { invalid: { toolName: "x", input: {} }, error: "no" }]],
  [
    "rejected calls",
    [user, { batch: [{ invalid: { toolName: "x", input: {} }, error: "no" }, call("ls")] }],
  ],
] as const) {
  test(`a scenario that says no kind is of the kind ${kind} by its ${events.length} events`, () => {
    assert.equal(kindOfScenario({ events }), kind);
    assert.equal(kindOfScenario({ events, kind: "polling" }), "polling");
  });
}

test("a line says what happened at which event, what it was called and what was done", () => {
  assert.deepEqual(SCORES.map(scoreLine), [
    "police evidence: made-up: caught at event 3 (tool_loop, block)",
    "police evidence: made-up: caught at event 4 (tool_loop, told; block at event 6, late)",
    "police evidence: made-up: late at event 9 (tool_loop, told only) [not as expected]",
    "police evidence: made-up: caught at event 2 (tool_loop, block)",
    "police evidence: made-up: missed [not as expected]",
    "police evidence: made-up: left alone",
    "police evidence: made-up: false alarm at event 3 (tool_loop, told only) [not as expected]",
    "police evidence: made-up: false alarm at event 3 (unnamed, block) [not as expected]",
  ]);
  const engine = score(by(9), "t3 b5", { guard: "engine", profile: null });
  assert.equal(
    scoreLine(engine),
    "engine: made-up: caught at event 3 (tool_loop, told; block at event 5)",
  );
});

test("the report has a table of sums and one of detections, with rates and their intervals", () => {
  const few = [score(by(4), "t3 b3"), score({ ...honest, kind: "polling" }, "")];
  const lines = [...report(summaries(few), tallies(few))];
  assert.deepEqual(lines.slice(0, 4), [
    "",
    "police evidence",
    "  kind     counted   caught  recall (95%)           late  false alarms  rate (95%)         " +
      "median event  median delay",
    "  all      any       1 of 1  100.0% (20.7%-100.0%)  0     0 of 1        0.0% (0.0%-79.3%)  " +
      "3             0",
  ]);
  assert.ok(
    lines.includes(
      "  polling  any       0 of 0  -                      0     0 of 1        0.0% (0.0%-79.3%)  -             -",
    ),
  );
  assert.deepEqual(lines.slice(-4), [
    "",
    "  first detection  counted   loops  false alarms",
    "  tool_loop        any       1      0",
    "  tool_loop        enforced  1      0",
  ]);
});

test("a guard that detected nothing has no table of detections", () => {
  const none = [score(by(4), "")];
  const lines = [...report(summaries(none), tallies(none))];
  assert.equal(lines.length, 7);
  assert.equal(
    lines.some((line) => line.includes("first detection")),
    false,
  );
});

test("a line for programs holds everything, and says what it is", () => {
  const [first] = SCORES;
  assert.ok(first);
  assert.deepEqual(JSON.parse(jsonLine("scenario", first)), { type: "scenario", ...first });
});
