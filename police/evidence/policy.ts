/** The one door to the `evidence` profile: every observation goes in, detections come out. */

import type { Config } from "../config/keys.ts";
import type { Detection, Detector, Observation, Stream } from "../detectors/types.ts";
import { CallsWatch } from "./calls/calls_watch.ts";
import { Rejections } from "./calls/rejections.ts";
import { BlockWatch } from "./streams/block_watch.ts";
import { streamLoop } from "./streams/findings.ts";
import { Deliberation } from "./turns/deliberation.ts";
import { standstill } from "./turns/findings.ts";

/** Blocks of one message that are told apart; further ones share the last place. */
const MOST_BLOCKS = 64;

/** The settings that this profile follows; they may change while it watches. */
export type EvidenceConfig = Pick<Config, "REJECTED_LOOP_LIMIT">;

/**
 * What is watched, and what for:
 *
 *   calls         does the next call bring anything?         (block)
 *   blocks        does the text of one block go round?       (cut)
 *   deliberation  do messages turn over what is not done?    (cut)
 *   rejections    does Pi refuse one call after the other?   (cut, between messages)
 *
 * A call that brings something new, or the user, ends every standstill.
 */
export function createEvidencePolicy(config: Readonly<EvidenceConfig>): Detector {
  return new EvidencePolicy(config);
}

class EvidencePolicy implements Detector {
  readonly #config: Readonly<EvidenceConfig>;
  #calls = new CallsWatch();
  #rejections = new Rejections();
  #deliberation = new Deliberation();
  #blocks = new Map<string, BlockWatch>();
  /** Something was detected and nothing has moved on since. */
  #warned = false;

  constructor(config: Readonly<EvidenceConfig>) {
    this.#config = config;
  }

  observe(seen: Observation): Detection | undefined {
    const found = this.#observe(seen);
    if (found !== undefined) this.#warned = true;
    return found;
  }

  reset(): void {
    this.#calls = new CallsWatch();
    this.#rejections = new Rejections();
    this.#deliberation = new Deliberation();
    this.#blocks = new Map();
    this.#warned = false;
  }

  status(): string {
    return `${this.#calls.status}, ${this.#deliberation.status}`;
  }

  #observe(seen: Observation): Detection | undefined {
    switch (seen.kind) {
      case "prompt":
        this.#calls.prompt();
        this.#rejections.clear();
        this.#deliberation.prompt();
        this.#warned = false;
        return undefined;
      case "context_lost":
        this.#calls.contextLost();
        return undefined;
      case "message_start":
        this.#blocks = new Map();
        this.#deliberation.messageStart();
        return undefined;
      case "text":
        return this.#text(seen.stream, seen.block, seen.text);
      case "message_end":
        this.#deliberation.messageEnd(seen.calls);
        return undefined;
      case "call":
        this.#deliberation.acted();
        return this.#calls.look(seen.call);
      case "admitted":
        this.#calls.admitted(seen.call);
        this.#rejections.accepted(seen.call.tool);
        return undefined;
      case "refused":
        this.#calls.refused(seen.call);
        return undefined;
      case "result":
        return this.#result(seen);
      case "changed":
        this.#calls.changed();
        this.#movedOn();
        return undefined;
      case "rejected":
        this.#deliberation.acted();
        return this.#rejections.take(seen, this.#config.REJECTED_LOOP_LIMIT);
      default:
        return undefined;
    }
  }

  #text(stream: Stream, block: number, piece: string): Detection | undefined {
    const place = `${stream} ${Math.min(block, MOST_BLOCKS)}`;
    const watch = this.#blocks.get(place) ?? new BlockWatch(stream);
    this.#blocks.set(place, watch);
    const loop = watch.push(piece);
    if (loop !== undefined) return streamLoop(stream, block, loop);
    const still = this.#deliberation.text(stream, piece);
    return still && standstill(still, block, this.#warned);
  }

  #result(seen: Observation & { kind: "result" }): Detection | undefined {
    const { moves, notice } = this.#calls.result(seen.call, seen.ran, seen.isError, seen.text);
    if (moves) this.#movedOn();
    return notice;
  }

  #movedOn(): void {
    this.#deliberation.progress();
    this.#warned = false;
  }
}
