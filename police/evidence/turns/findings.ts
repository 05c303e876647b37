/** The detections that a standstill over several messages gives rise to. */

import type { Detection } from "../../detectors/types.ts";
import type { Standstill } from "./deliberation.ts";

/** Messages that were looked at, and the share of known words, for the payload. */
const WINDOW = 4;
const SHARE = 0.55;

export function standstill(kind: Standstill, block: number, afterDetection: boolean): Detection {
  const what =
    kind === "no action"
      ? "you have announced this several times and have not done it. Call the tool now, or say what keeps you from it."
      : "your last messages say the same in other words and nothing was done in between. " +
        "The plan is known: carry out its first step now, or ask the user.";
  const advice = { key: "MSG_NO_PROGRESS", values: { what } } as const;
  const response = { kind: "cut", block, keep: 0 } as const;
  if (afterDetection)
    return { event: "rederived_reasoning", details: { streak: 1 }, advice, response };
  return { event: "stagnation", details: { window: WINDOW, threshold: SHARE }, advice, response };
}
