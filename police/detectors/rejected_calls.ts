import type { Config } from "../config/keys.ts";
import { BoundedMap } from "./bounded_map.ts";
import type { Detection, Detector, Observation } from "./types.ts";

/** Tools counted at a time; a session has some dozens. */
const MAX_TOOLS = 1000;

/** Tools that do not exist count as one: a model that guesses names guesses ever new ones. */
const UNKNOWN_TOOLS = "?";

/**
 * Calls that Pi rejects before any hook: `REJECTED_LOOP_LIMIT` invalid calls of one tool without a
 * valid one of it in between. Fires again after every further `REJECTED_LOOP_LIMIT`.
 *
 * The default of 4 leaves a model three tries at a schema. Recorded runs that went on after that
 * went on for dozens of calls (57 of 60 in one, 25 in a row in another).
 */
export function createRejectedCalls(config: Readonly<Config>): Detector {
  const rejections = new BoundedMap<string, number>(MAX_TOOLS);

  function judge(seen: Observation & { readonly kind: "rejected" }): Detection | undefined {
    const tool = seen.reason === "unknown_tool" ? UNKNOWN_TOOLS : seen.tool;
    const count = (rejections.get(tool) ?? 0) + 1;
    rejections.set(tool, count);
    const limit = config.REJECTED_LOOP_LIMIT;
    if (limit === 0 || count % limit !== 0) return undefined;
    const { error, shape, reason } = seen;
    return {
      event: "rejected_call_loop",
      details: { toolName: seen.tool, count, reason },
      advice: { key: "MSG_REJECTED_LOOP", values: { tool: seen.tool, count, error, shape } },
      response: { kind: "advise" },
    };
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "prompt") rejections.clear();
    if (seen.kind === "admitted") {
      rejections.delete(seen.call.tool);
      rejections.delete(UNKNOWN_TOOLS);
    }
    return seen.kind === "rejected" ? judge(seen) : undefined;
  }

  return {
    observe,
    reset: () => rejections.clear(),
    status: () => `tools with rejected calls: ${rejections.size}`,
  };
}
