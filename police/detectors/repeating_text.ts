import type { Config } from "../config/keys.ts";
import { BoundedMap } from "./bounded_map.ts";
import { DoubledSuffix } from "./text/doubled_suffix.ts";
import type { Detection, Detector, Observation, Stream } from "./types.ts";

/** Blocks of one message that are watched at a time: only the newest ones still grow. */
const MAX_BLOCKS = 16;

interface Watched {
  readonly suffix: DoubledSuffix;
  /** Characters until the next check. */
  untilCheck: number;
}

/**
 * Streams that say the same word for word: the text ends in two adjacent copies of a block of
 * `THINKING_WINDOW` or `OUTPUT_WINDOW` to `MAX_WINDOW` characters. Checked every `STRIDE`.
 */
export function createRepeatingText(config: Readonly<Config>): Detector {
  const blocks = new BoundedMap<number, Watched>(MAX_BLOCKS);

  function watch(block: number, shortest: number): Watched {
    const known = blocks.get(block);
    if (known !== undefined) return known;
    const suffix = new DoubledSuffix(shortest, config.MAX_WINDOW);
    const watched = { suffix, untilCheck: config.STRIDE };
    blocks.set(block, watched);
    return watched;
  }

  function read(stream: Stream, block: number, text: string): Detection | undefined {
    const shortest = stream === "thinking" ? config.THINKING_WINDOW : config.OUTPUT_WINDOW;
    if (shortest === 0 || shortest > config.MAX_WINDOW) return undefined;
    const watched = watch(block, shortest);
    for (let i = 0; i < text.length; i++) {
      watched.suffix.push(text.charCodeAt(i));
      if (--watched.untilCheck > 0) continue;
      watched.untilCheck = config.STRIDE;
      const size = watched.suffix.find();
      if (size > 0) return found(stream, block, watched.suffix.length - size);
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
    event: thinking ? "thinking_loop" : "output_loop",
    details: { stream, kind: "character", escalated: false },
    advice: { key: thinking ? "MSG_THINKING_LOOP" : "MSG_OUTPUT_LOOP", values: {} },
    response: { kind: "cut", block, keep },
  };
}
