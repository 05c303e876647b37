import type { Config } from "../config/keys.ts";
import { similarity, wordsOf } from "./text/similarity.ts";
import type { Detection, Detector, Observation } from "./types.ts";

/**
 * Reasoning that leads back to what was just stopped: after any detection, the next message's
 * thinking shares `REDERIVE_THRESHOLD` of its words with the reasoning before the detection.
 * Stays on guard as long as that goes on.
 */
export function createRederived(config: Readonly<Config>): Detector {
  /** The reasoning that led to the latest detection, or will have. */
  let before: ReadonlySet<string> | undefined;
  let armed = false;
  let streak = 0;

  function judge(thinking: string): Detection | undefined {
    const words = thinking.trim() === "" ? undefined : wordsOf(thinking);
    const onGuard = armed && config.REDERIVE_THRESHOLD > 0;
    armed = false;
    if (onGuard && before !== undefined && words !== undefined) {
      if (similarity(before, words) >= config.REDERIVE_THRESHOLD) return found(++streak);
    }
    streak = 0;
    before = words ?? before;
    return undefined;
  }

  function forget(): void {
    before = undefined;
    armed = false;
    streak = 0;
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "prompt") forget();
    if (seen.kind === "detected") armed = true;
    if (seen.kind === "cut" && seen.thinking.trim() !== "") before = wordsOf(seen.thinking);
    return seen.kind === "message_end" ? judge(seen.thinking) : undefined;
  }

  return {
    observe,
    reset: forget,
    status: () => `re-derived reasoning: ${armed ? "on guard" : "idle"}, ${streak} in a row`,
  };
}

function found(streak: number): Detection {
  const advice =
    streak === 1
      ? ({ key: "MSG_REDERIVED", values: {} } as const)
      : ({ key: "MSG_STUCK", values: { count: streak } } as const);
  const response = { kind: "sanitize", scrub: 1 } as const;
  return { event: "rederived_reasoning", details: { streak }, advice, response };
}
