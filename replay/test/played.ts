/** Plays events through extensions, and says what these were told. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { PiSession } from "../pi_session.ts";
import type { ScenarioEvent } from "../scenario.ts";
import { stepsOf } from "../scenario_steps.ts";

/** An event as handlers get it, with the fields that any of them may have. */
export interface Told {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Played {
  readonly session: PiSession;
  /** Every event that the extension was told of. */
  readonly told: readonly Told[];
  readonly enforced: readonly (readonly [how: string, event: number])[];
  readonly threw: readonly unknown[];
}

const EVENTS = [
  "session_start",
  "input",
  "before_agent_start",
  "agent_start",
  "turn_start",
  "context",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_call",
  "tool_result",
  "tool_execution_end",
  "turn_end",
  "session_compact",
  "agent_end",
  "agent_settled",
  "session_shutdown",
] as const;

/** What an extension does at an event; what it returns is its handler's result. */
export type Reaction = (event: Told, pi: ExtensionAPI, ctx: ExtensionContext) => unknown;

/** Plays events to the end of the session, with an extension that reacts to all of them alike. */
export async function play(
  events: readonly ScenarioEvent[],
  react: Reaction = () => undefined,
): Promise<Played> {
  const told: Told[] = [];
  const enforced: [string, number][] = [];
  const threw: unknown[] = [];
  const session = new PiSession({
    enforced: (how, event) => enforced.push([how, event]),
    threw: (error) => threw.push(error),
  });
  await session.start("probe", (pi) => {
    const on = pi.on.bind(pi) as unknown as (
      type: string,
      handler: (event: Told, ctx: ExtensionContext) => unknown,
    ) => void;
    for (const type of EVENTS) {
      on(type, (event, ctx) => {
        told.push(structuredClone(event));
        return react(event, pi, ctx);
      });
    }
  });
  for (const step of stepsOf({ events })) await session.take(step);
  await session.end();
  return { session, told, enforced, threw };
}

/** The types of what was told, each with the role of its message or the id of its call. */
export function outline(told: readonly Told[]): string[] {
  return told.map((event) => {
    const { type, toolCallId } = event;
    const { role } = (event.message ?? {}) as { role?: string };
    const update = (event.assistantMessageEvent ?? {}) as { type?: string };
    const detail = type === "message_update" ? update.type : (role ?? toolCallId);
    return detail === undefined ? type : `${type} ${detail}`;
  });
}
