/** Calls that Pi rejects before anybody sees them, over and over: the run is stopped and told why. */

import { BoundedMap } from "../../detectors/bounded_map.ts";
import type { Detection, Observation } from "../../detectors/types.ts";

type Rejected = Observation & { readonly kind: "rejected" };

const MOST_TOOLS = 256;
/** Tools that do not exist are one: a model that guesses names guesses ever new ones. */
const UNKNOWN = "?";

export class Rejections {
  readonly #counts = new BoundedMap<string, number>(MOST_TOOLS);

  /**
   * Counts a rejection. Recorded loops went on for dozens of calls (57 of 60 in one), labelled
   * honest runs get it right after three tries.
   *
   * @param limit rejections of one tool, without a valid call of it in between; 0 is never
   */
  take(seen: Rejected, limit: number): Detection | undefined {
    const key = seen.reason === "unknown_tool" ? UNKNOWN : seen.tool;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (limit === 0 || count % limit !== 0) return undefined;
    const { tool, error, shape, reason } = seen;
    return {
      event: "rejected_call_loop",
      details: { toolName: tool, count, reason },
      advice: { key: "MSG_REJECTED_LOOP", values: { tool, count, error, shape } },
      response: { kind: "cut", block: 0, keep: 0 },
    };
  }

  /** A call of the tool was valid. */
  accepted(tool: string): void {
    this.#counts.delete(tool);
    this.#counts.delete(UNKNOWN);
  }

  clear(): void {
    this.#counts.clear();
  }
}
