/** Holds what a guard did against a scenario's label and expectations. */

import type { Enforcement } from "./pi_session.ts";
import type { Run, Sign } from "./run_scenario.ts";
import type { GuardName, Scenario } from "./scenario.ts";

/** Of a loop: caught, late or missed. Of a legitimate sequence: left alone, or a false alarm. */
export type Outcome = "caught" | "late" | "missed" | "left alone" | "false alarm";

export interface Verdict {
  readonly outcome: Outcome;
  /** The event of the first detection, 1 for the first of the scenario; null without one. */
  readonly event: number | null;
  /** The guard's name for what it found; null without a detection, or if it did not say. */
  readonly kind: string | null;
  /** What was kept from happening; null if nothing was. */
  readonly how: Enforcement | null;
}

export interface Judgement {
  /** The event by which a loop is to be caught; null if that is any. */
  readonly by: number | null;
  /** By any detection. */
  readonly any: Verdict;
  /** By what the guard kept from happening alone: a block, an abort, a terminate. */
  readonly enforced: Verdict;
  /** The expectations of the scenario that do not hold, each a sentence. */
  readonly unmet: readonly string[];
}

/** What was detected, by the guard's name for it. */
export function nameOf({ kind }: Verdict): string {
  return kind ?? "unnamed";
}

export function judge(scenario: Scenario, guard: GuardName, run: Run): Judgement {
  const by = scenario.expected.police?.by ?? null;
  const any = verdict(scenario, by, run.signs, run.signs[0]);
  const enforcing = run.signs.find((sign) => sign.enforced !== undefined);
  const enforced = verdict(scenario, by, run.signs, enforcing);
  const unmet = guard === "engine" ? unmetByEngine(scenario, run) : unmetByPolice(scenario, any);
  return { by, any, enforced, unmet: [...unmet] };
}

function verdict(
  { label }: Scenario,
  by: number | null,
  signs: readonly Sign[],
  sign: Sign | undefined,
): Verdict {
  if (sign === undefined) {
    const outcome = label === "loop" ? "missed" : "left alone";
    return { outcome, event: null, kind: null, how: null };
  }
  const { event } = sign;
  const inTime = by === null || event <= by;
  const outcome = label === "legitimate" ? "false alarm" : inTime ? "caught" : "late";
  return {
    outcome,
    event,
    kind: kindOfSign(signs, sign),
    how: sign.enforced ?? howOf(signs, event),
  };
}

/** What is enforced and what it is called are told separately, in either order. */
function kindOfSign(signs: readonly Sign[], sign: Sign): string | null {
  if (sign.kind !== undefined) return sign.kind;
  const named = signs.filter(({ kind }) => kind !== undefined);
  const same = named.find(({ event }) => event === sign.event);
  const before = named.findLast(({ event }) => event < sign.event);
  return (same ?? before)?.kind ?? null;
}

function howOf(signs: readonly Sign[], event: number): Enforcement | null {
  return signs.find((sign) => sign.event === event && sign.enforced)?.enforced ?? null;
}

function* unmetByEngine({ expected: { engine } }: Scenario, run: Run): Generator<string> {
  if (engine === undefined) return;
  for (const field of ["blocked", "firstBlock"] as const) {
    if (engine[field] === run[field]) continue;
    yield `expected ${field} ${engine[field]}, observed ${run[field]}`;
  }
}

function* unmetByPolice({ expected: { police }, label }: Scenario, any: Verdict) {
  if (police === undefined) return;
  const at = any.event === null ? "none" : `one at event ${any.event} (${nameOf(any)})`;
  if (label === "legitimate" && any.event !== null) {
    yield `expected no detection, observed ${at}`;
  } else if (police.by !== null && any.outcome !== "caught") {
    yield `expected a detection by event ${police.by}, observed ${at}`;
  }
}
