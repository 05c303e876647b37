/**
 * A guard of the tests' own, written apart from the shipped one, that can be given one fault at a time.
 * The replay must accept it without a fault, and must not with one.
 */

import type { ExtensionAPI, ExtensionFactory } from "@earendil-works/pi-coding-agent";

export interface Variation {
  /** How many equal calls must be in the window for the next to be refused. */
  readonly threshold?: number;
  /** How many calls the window holds. */
  readonly window?: number;
  /** How a refused call enters the window: not at all, as itself, or as a call that equals no other. */
  readonly refusedEntersAs?: "nothing" | "itself" | "stranger";
  /** Whether all registrations share one window, as they do with state at module scope. */
  readonly sharesState?: boolean;
  /** Whether an input's own `__proto__` properties are overlooked. */
  readonly losesProto?: boolean;
}

export function guard(variation: Variation = {}): ExtensionFactory {
  const shared: string[] = [];
  return (pi) => register(pi, variation, variation.sharesState ? shared : []);
}

function register(pi: ExtensionAPI, variation: Variation, window: string[]): void {
  const { threshold = 5, window: size = 20, refusedEntersAs = "nothing" } = variation;
  let refusals = 0;
  const enter = (key: string) => {
    window.push(key);
    if (window.length > size) window.shift();
  };
  pi.on("tool_call", ({ toolName, input }) => {
    const key = `${toolName} ${text(input, variation.losesProto ?? false)}`;
    const repeats = window.filter((other) => other === key).length;
    if (repeats < threshold) return enter(key);
    refusals += 1;
    if (refusedEntersAs === "itself") enter(key);
    if (refusedEntersAs === "stranger") enter(`refusal ${refusals}`);
    pi.appendEntry("loop_broken", { tool: toolName, repeats, blockedSoFar: 1 });
    return { block: true, reason: "This call was made before; take another action." };
  });
}

function text(value: unknown, losesProto: boolean): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([name]) => !losesProto || name !== "__proto__");
  const members = fields.map(
    ([name, field]) => `${JSON.stringify(name)}:${text(field, losesProto)}`,
  );
  return Array.isArray(value) ? `[${members}]` : `{${members.sort()}}`;
}
