/** The scoreboard as text for people, and as JSON lines for programs. */

import type { Score, Summary, Tally } from "./scoreboard.ts";
import type { Share } from "./statistics.ts";
import { nameOf, type Verdict } from "./verdict.ts";

/** One line on one scenario. */
export function scoreLine(score: Score): string {
  const { name, guard, profile, unmet } = score;
  const mark = unmet.length > 0 ? " [not as expected]" : "";
  return `${guardName(guard, profile)}: ${name}: ${describeVerdict(score)}${mark}`;
}

function describeVerdict({ any, enforced }: Score): string {
  if (any.event === null) return any.outcome;
  return `${any.outcome} at event ${any.event} (${nameOf(any)}, ${howTold(any, enforced)})`;
}

function howTold(any: Verdict, enforced: Verdict): string {
  if (any.how !== null) return any.how;
  if (enforced.event === null) return "told only";
  const late = enforced.outcome === "late" ? ", late" : "";
  return `told; ${enforced.how} at event ${enforced.event}${late}`;
}

/** The tables of all summaries and tallies, one guard and profile after the other. */
export function* report(
  summaries: readonly Summary[],
  tallies: readonly Tally[],
): Generator<string> {
  const name = (row: Summary | Tally) => guardName(row.guard, row.profile);
  const summed = Map.groupBy(summaries, name);
  const tallied = Map.groupBy(tallies, name);
  for (const [guard, rows] of summed) {
    yield "";
    yield guard;
    yield* table(SUMMARY_HEAD, rows.map(summaryCells));
    const found = tallied.get(guard) ?? [];
    if (found.length > 0) yield "";
    yield* table(TALLY_HEAD, found.map(tallyCells));
  }
}

function guardName(guard: string, profile: string | null): string {
  return profile === null ? guard : `${guard} ${profile}`;
}

const SUMMARY_HEAD = [
  "kind",
  "counted",
  "caught",
  "recall (95%)",
  "late",
  "false alarms",
  "rate (95%)",
  "median event",
  "median delay",
];

function summaryCells(row: Summary): string[] {
  const { recall, falseAlarms } = row;
  return [
    row.kind ?? "all",
    row.counted,
    countOf(recall),
    rateOf(recall),
    String(row.late),
    countOf(falseAlarms),
    rateOf(falseAlarms),
    numberOrDash(row.medianEvent),
    numberOrDash(row.medianDelay),
  ];
}

const TALLY_HEAD = ["first detection", "counted", "loops", "false alarms"];

function tallyCells(row: Tally): string[] {
  return [row.detection, row.counted, String(row.loops), String(row.falseAlarms)];
}

function countOf({ count, of }: Share): string {
  return `${count} of ${of}`;
}

function rateOf({ rate, interval }: Share): string {
  if (rate === null || interval === null) return "-";
  const [low, high] = interval.map(percent);
  return `${percent(rate)} (${low}-${high})`;
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(1)}%`;
}

function numberOrDash(value: number | null): string {
  return value === null ? "-" : String(value);
}

/** Lines with their cells one below the other; nothing at all for no rows. */
function* table(head: readonly string[], rows: readonly string[][]): Generator<string> {
  if (rows.length === 0) return;
  const lines = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => cell(line, column).length)),
  );
  for (const line of lines) {
    const cells = widths.map((width, column) => cell(line, column).padEnd(width));
    yield `  ${cells.join("  ").trimEnd()}`;
  }
}

function cell(line: readonly string[], column: number): string {
  return line[column] as string;
}

/** One line of the output for programs. */
export function jsonLine(
  type: "scenario" | "summary" | "detections",
  value: Score | Summary | Tally,
): string {
  return JSON.stringify({ type, ...value });
}
