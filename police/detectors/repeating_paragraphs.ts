import type { Config } from "../config/keys.ts";
import { BoundedMap } from "./bounded_map.ts";
import { ParagraphCounter } from "./text/paragraph_counter.ts";
import type { Detection, Detector, Observation, Stream } from "./types.ts";

/** Blocks of one message that are watched at a time: only the newest ones still grow. */
const MAX_BLOCKS = 16;

interface Watched {
  readonly paragraphs: ParagraphCounter;
  /** Characters until the next check. */
  untilCheck: number;
}

/**
 * Streams that come back to the same paragraph: `SEMANTIC_THRESHOLD` paragraphs of a block begin
 * with the same `FINGERPRINT_LEN` characters. Checked every `STRIDE`.
 */
export function createRepeatingParagraphs(config: Readonly<Config>): Detector {
  const blocks = new BoundedMap<number, Watched>(MAX_BLOCKS);

  function watch(block: number): Watched {
    const known = blocks.get(block);
    if (known !== undefined) return known;
    const paragraphs = new ParagraphCounter({
      minLength: config.PARA_MIN_LEN,
      fingerprint: config.FINGERPRINT_LEN,
      threshold: config.SEMANTIC_THRESHOLD,
    });
    const watched = { paragraphs, untilCheck: config.STRIDE };
    blocks.set(block, watched);
    return watched;
  }

  function read(stream: Stream, block: number, text: string): Detection | undefined {
    if (config.SEMANTIC_THRESHOLD === 0) return undefined;
    const watched = watch(block);
    for (let i = 0; i < text.length; i++) {
      watched.paragraphs.push(text.charCodeAt(i));
      if (--watched.untilCheck > 0) continue;
      watched.untilCheck = config.STRIDE;
      const keep = watched.paragraphs.find();
      if (keep !== undefined) return found(stream, block, keep);
    }
    return undefined;
  }

  return {
    observe(seen: Observation): Detection | undefined {
      if (seen.kind === "message_start") blocks.clear();
      return seen.kind === "text" ? read(seen.stream, seen.block, seen.text) : undefined;
    },
    reset: () => blocks.clear(),
  };
}

function found(stream: Stream, block: number, keep: number): Detection {
  const thinking = stream === "thinking";
  return {
    event: thinking ? "semantic_loop" : "output_semantic_loop",
    details: { stream, kind: "semantic", escalated: false },
    advice: { key: thinking ? "MSG_SEMANTIC_LOOP" : "MSG_OUTPUT_SEMANTIC_LOOP", values: {} },
    response: { kind: "cut", block, keep },
  };
}
