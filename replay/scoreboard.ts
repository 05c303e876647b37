/** Sums up verdicts by guard, profile and kind. */

import type { GuardName, Label, Scenario, ScenarioEvent } from "./scenario.ts";
import { median, type Share, share } from "./statistics.ts";
import { type Judgement, nameOf, type Verdict } from "./verdict.ts";

/** One scenario, as one guard did on it. */
export interface Score extends Judgement {
  readonly name: string;
  readonly guard: GuardName;
  /** The profile of the police; null for a guard that has none. */
  readonly profile: string | null;
  readonly label: Label;
  /** What kind of sequence it is. */
  readonly kind: string;
}

/** Which detections count: any, or only what was kept from happening. */
export const COUNTED = ["any", "enforced"] as const;
export type Counted = (typeof COUNTED)[number];

/** How a guard did on the scenarios of one kind. */
export interface Summary {
  readonly guard: GuardName;
  readonly profile: string | null;
  /** Null for all kinds together. */
  readonly kind: string | null;
  readonly counted: Counted;
  /** Loops that were caught in time. */
  readonly recall: Share;
  /** Loops that were caught, but too late. */
  readonly late: number;
  /** Legitimate sequences in which anything was detected. */
  readonly falseAlarms: Share;
  /** The median number of the event at which loops were caught, late ones too; null for none. */
  readonly medianEvent: number | null;
  /** The median number of events beyond the one by which they were to be caught; null for none. */
  readonly medianDelay: number | null;
}

/** How often a guard's first detection was of one of its kinds. */
export interface Tally {
  readonly guard: GuardName;
  readonly profile: string | null;
  /** The guard's name for what it found. */
  readonly detection: string;
  readonly counted: Counted;
  readonly loops: number;
  readonly falseAlarms: number;
}

/** The kind of a scenario: what it says itself, or else what its events are made of. */
export function kindOfScenario({ kind, events }: Pick<Scenario, "kind" | "events">): string {
  if (kind !== undefined) return kind;
  const flat = events.flatMap((event): readonly ScenarioEvent[] =>
    "batch" in event ? [event, ...event.batch] : [event],
  );
  const has = (field: string) => flat.some((event) => field in event);
  if (has("invalid")) return "rejected calls";
  const streams = ["thinking", "text"].filter(has).join(" and ");
  const calls = has("batch") ? "batches" : has("call") ? "calls" : "";
  return [calls, streams].filter((part) => part !== "").join(" with ") || "prompts";
}

/** All summaries of a guard and profile: all kinds together first, then kind by kind. */
export function summaries(scores: readonly Score[]): Summary[] {
  return groups(scores).flatMap(({ guard, profile, members }) => {
    const kinds = [...new Set(members.map(({ kind }) => kind))].sort();
    return [null, ...kinds].flatMap((kind) => {
      const chosen = members.filter((score) => kind === null || score.kind === kind);
      return COUNTED.map((counted) => ({
        guard,
        profile,
        kind,
        counted,
        ...sumUp(chosen, counted),
      }));
    });
  });
}

/** All tallies, by guard and profile, and then by the name of what was detected. */
export function tallies(scores: readonly Score[]): Tally[] {
  return groups(scores).flatMap(({ guard, profile, members }) =>
    COUNTED.flatMap((counted) => {
      const detected = members.filter((score) => score[counted].event !== null);
      const name = (score: Score) => nameOf(score[counted]);
      return [...new Set(detected.map(name))].sort().map((detection) => {
        const same = detected.filter((score) => name(score) === detection);
        const loops = same.filter(({ label }) => label === "loop").length;
        return { guard, profile, detection, counted, loops, falseAlarms: same.length - loops };
      });
    }),
  );
}

function groups(scores: readonly Score[]) {
  const byKey = Map.groupBy(scores, ({ guard, profile }) => `${guard} ${profile}`);
  return [...byKey.values()].map((members) => {
    const [{ guard, profile }] = members as [Score, ...Score[]];
    return { guard, profile, members };
  });
}

function sumUp(scores: readonly Score[], counted: Counted) {
  const loops = scores.filter(({ label }) => label === "loop");
  const honest = scores.filter(({ label }) => label === "legitimate");
  const of = (some: readonly Score[], outcome: Verdict["outcome"]) =>
    some.filter((score) => score[counted].outcome === outcome).length;
  const found = loops.flatMap(({ by, [counted]: { event } }) =>
    event === null ? [] : [{ event, by }],
  );
  const delays = found.flatMap(({ event, by }) => (by === null ? [] : [Math.max(0, event - by)]));
  return {
    recall: share(of(loops, "caught"), loops.length),
    late: of(loops, "late"),
    falseAlarms: share(of(honest, "false alarm"), honest.length),
    medianEvent: median(found.map(({ event }) => event)),
    medianDelay: median(delays),
  };
}
