import type { Config } from "../config/keys.ts";
import { BoundedMap } from "./bounded_map.ts";
import type { Call, Detection, Detector, Observation } from "./types.ts";

/** Refused calls counted at a time; a message holds some dozens of calls at most. */
const MAX_CALLS = 1000;

interface Refused {
  count: number;
  /** The message in which the call was last refused. */
  message: number;
}

/**
 * Refusals that are read and ignored: the same call refused in `REFUSAL_LIMIT` messages in a row.
 * Several refusals within one message count once: the model had not read the first one yet.
 *
 * The default of 5: a model that heeds a refusal does so at once or after the second; the reported
 * runs that had not by the fifth went on for hundreds.
 */
export function createRefusals(config: Readonly<Config>): Detector {
  const refused = new BoundedMap<string, Refused>(MAX_CALLS);
  let message = 0;

  function judge(call: Call): Detection | undefined {
    const known = refused.get(call.key);
    const inRow = known !== undefined && message - known.message <= 1;
    const again = known?.message !== message;
    const count = inRow ? known.count + (again ? 1 : 0) : 1;
    refused.set(call.key, { count, message });
    if (config.REFUSAL_LIMIT === 0 || count < config.REFUSAL_LIMIT) return undefined;
    return {
      event: "refusal_ignored",
      details: { toolName: call.tool, count },
      advice: { key: "MSG_REFUSAL_IGNORED", values: { tool: call.tool, count } },
      response: { kind: "block", terminate: true },
    };
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "prompt") refused.clear();
    if (seen.kind === "message_end") message++;
    return seen.kind === "refused" ? judge(seen.call) : undefined;
  }

  return {
    observe,
    reset: () => refused.clear(),
    status: () => `refused calls: ${refused.size}`,
  };
}
