import type { Config } from "../config/keys.ts";
import { similarity, wordsOf } from "./text/similarity.ts";
import type { Detection, Detector, Observation } from "./types.ts";

/**
 * Thinking that turns on the spot: in the last `STAGNATION_WINDOW` turns each thought holds
 * `STAGNATION_THRESHOLD` of the words of the one before. Turns without thinking do not count, nor do
 * those whose thinking is blank: some models send a line break in each.
 */
export function createStagnation(config: Readonly<Config>): Detector {
  let last: ReadonlySet<string> | undefined;
  /** How many thoughts in a row, with the last one, are similar. */
  let similarTurns = 0;

  function judge(thinking: string): Detection | undefined {
    const window = config.STAGNATION_WINDOW;
    if (window === 0 || thinking.trim() === "") return undefined;
    const words = wordsOf(thinking);
    const similar = last !== undefined && similarity(last, words) >= config.STAGNATION_THRESHOLD;
    similarTurns = similar ? similarTurns + 1 : 1;
    last = words;
    if (similarTurns < window) return undefined;
    forget();
    return found(window, config.STAGNATION_THRESHOLD);
  }

  function forget(): void {
    last = undefined;
    similarTurns = 0;
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "prompt") forget();
    return seen.kind === "message_end" ? judge(seen.thinking) : undefined;
  }

  return {
    observe,
    reset: forget,
    status: () => `similar thoughts: ${similarTurns} in a row`,
  };
}

function found(window: number, threshold: number): Detection {
  return {
    event: "stagnation",
    details: { window, threshold },
    advice: { key: "MSG_STAGNATION", values: { window, threshold: Math.round(threshold * 100) } },
    response: { kind: "sanitize", scrub: window },
  };
}
