import type { Config } from "../config/keys.ts";
import { isListed } from "../tools.ts";
import { BoundedMap } from "./bounded_map.ts";
import { CallsSequence } from "./calls_sequence.ts";
import type { Call, Detection, Detector, Observation } from "./types.ts";

/** Calls remembered: finds cycles of up to 500 calls, in some 100 kB of memory. */
const MAX_HISTORY = 1000;

/** Banned calls remembered; far more than a session that loops gets to. */
const MAX_BANNED = 10_000;

/**
 * Calls that repeat back to back: the last W calls are the W before them, for any W. Admitted calls
 * only; a refused one leaves the history as it was, so that its next attempt is refused again.
 */
export function createToolLoop(config: Readonly<Config>): Detector {
  let history = new CallsSequence(MAX_HISTORY);
  const banned = new BoundedMap<string, true>(MAX_BANNED);

  function judge(call: Call): Detection | undefined {
    if (config.TOOL_LOOP_BAN === 0 || isListed(call.tool, config.TOOL_LOOP_EXEMPT))
      return undefined;
    const bans = config.TOOL_LOOP_BAN === 2;
    if (bans && banned.has(call.key)) return found(call.tool, 1, true);
    const windowSize = history.wouldRepeat(call.key);
    if (windowSize === 0) return undefined;
    if (bans) banned.set(call.key, true);
    return found(call.tool, windowSize, bans);
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "call") return judge(seen.call);
    if (seen.kind === "admitted" && config.TOOL_LOOP_BAN > 0) history.record(seen.call.key);
    // A ban is for the rest of the session: it outlives the prompt.
    if (seen.kind === "prompt") history = new CallsSequence(MAX_HISTORY);
    return undefined;
  }

  return {
    observe,
    reset(): void {
      history = new CallsSequence(MAX_HISTORY);
      banned.clear();
    },
    status: () => `calls remembered: ${history.size}, banned: ${banned.size}`,
  };
}

function found(toolName: string, windowSize: number, banned: boolean): Detection {
  return {
    event: "tool_loop",
    details: { toolName, windowSize, banned },
    advice: { key: "MSG_TOOL_LOOP", values: { windowSize } },
    response: { kind: "block", terminate: false },
  };
}
