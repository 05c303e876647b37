/** Replays a scenario through a guard's registered handlers, and notes what the guard did. */

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { type Enforcement, PiSession } from "./pi_session.ts";
import { describe } from "./replay.ts";
import type { Scenario } from "./scenario.ts";
import { stepsOf } from "./scenario_steps.ts";

/** The entry in the session by which the engine tells of each refusal. */
export const ENGINE_ENTRY = "loop_broken";

/** The channel on Pi's event bus on which the police tell of each detection. */
export const POLICE_CHANNEL = "loop-police:detection";

/** Something that a guard told of, or did. */
export interface Sign {
  /** The number of the scenario's event, 1 for the first, during which it happened. */
  readonly event: number;
  /** What was found, by the guard's own name for it; undefined if the guard did not say. */
  readonly kind: string | undefined;
  /** What the guard kept from happening; undefined if it only told of something. */
  readonly enforced: Enforcement | undefined;
}

export interface Run {
  /** In the order in which they happened. */
  readonly signs: readonly Sign[];
  /** How many calls were refused, and which was the first among those that reached the hook. */
  readonly blocked: number;
  readonly firstBlock: number | null;
  /** What the guard told the user. */
  readonly notices: readonly string[];
  /** What must not happen with any guard, each a sentence. */
  readonly problems: readonly string[];
}

/** Replays one scenario on a fresh registration of the guard. Nothing it does is thrown on. */
export async function runScenario(
  scenario: Pick<Scenario, "events">,
  guard: ExtensionFactory,
): Promise<Run> {
  const signs: Sign[] = [];
  const problems: string[] = [];
  let calls = 0;
  let entries = 0;
  const refused: number[] = [];

  const session = new PiSession({
    enforced: (enforced, event) => {
      if (enforced === "block") refused.push(calls);
      const told = session.pi.entries.slice(entries);
      entries = session.pi.entries.length;
      const entry = told.find(({ customType }) => customType === ENGINE_ENTRY);
      signs.push({ event, kind: entry?.customType, enforced });
    },
    threw: (error, event) => problems.push(`event ${event}: the handler threw: ${describe(error)}`),
  });
  session.pi.events.on(POLICE_CHANNEL, (payload) => {
    const { event: kind }: { event?: unknown } = Object(payload);
    signs.push({ event: session.event, kind: String(kind), enforced: undefined });
  });

  try {
    await session.start("the guard", async (pi) => {
      // Registered before the guard: sees every call, also those that the guard refuses.
      pi.on("tool_call", () => {
        calls += 1;
      });
      await guard(pi);
    });
    for (const step of stepsOf(scenario)) await session.take(step);
    await session.end();
  } catch (error) {
    problems.push(`the replay broke off: ${describe(error)}`);
  }
  for (const { event, error } of session.pi.errors) {
    problems.push(`the handler of ${event} threw: ${describe(error)}`);
  }
  for (const member of session.pi.notDoubled) {
    problems.push(`the guard touched ${member}, which the Pi double lacks`);
  }
  return {
    signs,
    blocked: refused.length,
    firstBlock: refused[0] ?? null,
    notices: session.notices,
    problems: [...new Set(problems)],
  };
}
