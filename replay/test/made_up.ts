/** Scenarios with made-up contents. */

import type { CallEvent, Scenario, ScenarioEvent } from "../scenario.ts";

export const user: ScenarioEvent = { user: "Go on." };

export function call(command: string, text = "done"): CallEvent {
  return { call: { toolName: "bash", input: { command } }, result: { text, isError: false } };
}

/** Equal calls with equal results. */
export function calls(times: number): CallEvent[] {
  return Array.from({ length: times }, () => call("ls"));
}

export function scenario(more: Partial<Scenario> = {}): Scenario {
  return {
    version: 1,
    name: "made-up",
    label: "loop",
    guards: ["engine", "police"],
    events: [user, ...calls(8)],
    expected: {},
    ...more,
  };
}
