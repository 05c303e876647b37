import type { MessageUpdateEvent } from "@earendil-works/pi-coding-agent";

import type { Stream } from "./detectors/types.ts";

/** New characters of one block of the message that is arriving. */
export interface StreamPart {
  readonly stream: Stream;
  readonly block: number;
  readonly text: string;
}

/**
 * Tells what is new in each update of a message. Only the updates themselves are read: the message
 * that comes with one may already be several updates ahead of it.
 */
export class StreamReader {
  /** How many characters of each block were read. */
  #read = new Map<number, number>();

  /** A new message begins. */
  start(): void {
    this.#read.clear();
  }

  read({ assistantMessageEvent: update }: MessageUpdateEvent): StreamPart | undefined {
    switch (update.type) {
      case "text_delta":
        return this.#take("output", update.contentIndex, update.delta);
      case "thinking_delta":
        return this.#take("thinking", update.contentIndex, update.delta);
      case "text_end":
        return this.#takeRest("output", update.contentIndex, update.content);
      case "thinking_end":
        return this.#takeRest("thinking", update.contentIndex, update.content);
      default:
        return undefined;
    }
  }

  /** A block may end with text that no delta brought. */
  #takeRest(stream: Stream, block: number, whole: string): StreamPart | undefined {
    return this.#take(stream, block, whole.slice(this.#read.get(block) ?? 0));
  }

  #take(stream: Stream, block: number, text: string): StreamPart | undefined {
    if (text === "") return undefined;
    this.#read.set(block, (this.#read.get(block) ?? 0) + text.length);
    return { stream, block, text };
  }
}
