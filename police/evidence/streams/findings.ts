/** The detections that a stream gives rise to. */

import type { Detection, Stream } from "../../detectors/types.ts";
import type { StreamLoop } from "./block_watch.ts";

export function streamLoop(stream: Stream, block: number, loop: StreamLoop): Detection {
  const details = { stream, kind: loop.kind, escalated: false };
  const response = { kind: "cut", block, keep: loop.keep } as const;
  if (stream === "thinking") {
    return loop.kind === "character"
      ? {
          event: "thinking_loop",
          details,
          advice: { key: "MSG_THINKING_LOOP", values: {} },
          response,
        }
      : {
          event: "semantic_loop",
          details,
          advice: { key: "MSG_SEMANTIC_LOOP", values: {} },
          response,
        };
  }
  return loop.kind === "character"
    ? { event: "output_loop", details, advice: { key: "MSG_OUTPUT_LOOP", values: {} }, response }
    : {
        event: "output_semantic_loop",
        details,
        advice: { key: "MSG_OUTPUT_SEMANTIC_LOOP", values: {} },
        response,
      };
}
