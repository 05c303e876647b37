/** Takes looping text and reasoning out of messages. Messages are copied, never changed. */

import type { MessageEndEvent } from "@earendil-works/pi-coding-agent";

import { MARKERS } from "./messages.ts";
import type { Cut } from "./recovery.ts";

export type AgentMessage = MessageEndEvent["message"];
export type AssistantMessage = Extract<AgentMessage, { role: "assistant" }>;
type Block = AssistantMessage["content"][number];

/** The text that stands where something was taken out. */
export type MarkerName = keyof typeof MARKERS;

export function isAssistant(message: AgentMessage): message is AssistantMessage {
  return message.role === "assistant" && Array.isArray(message.content);
}

/** All text of one kind of a message's blocks. */
export function textOf(message: AssistantMessage, kind: "thinking" | "text"): string {
  const texts = message.content.map((block) => {
    if (block.type !== kind) return "";
    return block.type === "thinking" ? block.thinking : block.text;
  });
  return texts.filter((text) => text !== "").join("\n");
}

/** How many tool calls a message holds. */
export function callsOf(message: AssistantMessage): number {
  return message.content.filter((block) => block.type === "toolCall").length;
}

/** The reasoning of a message that was cut, as far as it did not loop. */
export function soundThinking(message: AssistantMessage, cut: Cut): string {
  const content = message.content.map((block, index) =>
    index === cut.block && block.type === "thinking"
      ? { ...block, thinking: block.thinking.slice(0, cut.keep) }
      : block,
  );
  return textOf({ ...message, content }, "thinking");
}

/**
 * The message with its looping block cut. A block of reasoning gives way to an ordinary text, so
 * that neither a signature nor a redacted payload brings it back; text is kept up to the loop.
 */
export function cutMessage(message: AssistantMessage, cut: Cut): AssistantMessage {
  const marker = MARKERS[cut.event as MarkerName];
  const content = message.content.map((block, index) => {
    if (index !== cut.block) return withoutThoughtSignature(block);
    const kept = block.type === "text" ? cutText(block.text, cut.keep).trimEnd() : "";
    return textBlock(kept === "" ? marker : `${kept}\n\n${marker}`);
  });
  return { ...message, content };
}

/**
 * Pi leaves aborted messages out of later requests. One whose sound part is to be continued is
 * stored as an ordinary one instead, so that the model sees how far it got.
 */
export function asFinished(message: AssistantMessage): AssistantMessage {
  const { errorMessage: _, ...rest } = message;
  return { ...rest, stopReason: "stop" };
}

/** The message with all its reasoning replaced by one marker. */
export function withoutThinking(message: AssistantMessage, marker: MarkerName): AssistantMessage {
  const first = message.content.findIndex((block) => block.type === "thinking");
  const content = message.content.flatMap((block, index) => {
    if (block.type !== "thinking") return [withoutThoughtSignature(block)];
    return index === first ? [textBlock(MARKERS[marker])] : [];
  });
  return { ...message, content };
}

/** The message without its reasoning, unless there is nothing else in it. */
function withoutTrace(message: AssistantMessage): AssistantMessage {
  const rest = message.content.filter((block) => block.type !== "thinking");
  if (rest.length === 0) return withoutThinking(message, "stagnation");
  return { ...message, content: rest.map(withoutThoughtSignature) };
}

/** Remembers which messages' reasoning is to be left out of requests; the transcript keeps it. */
export class ReasoningGate {
  /** When the latest messages with reasoning were made: their name in the transcript. */
  #recent: number[] = [];
  #closedTo: readonly number[] = [];

  noteThinking(message: AssistantMessage): void {
    if (textOf(message, "thinking") === "") return;
    this.#recent = [...this.#recent, message.timestamp].slice(-MAX_RECENT);
  }

  /** Leaves the reasoning of the last `count` messages out from now on. */
  close(count: number): void {
    this.#closedTo = [...this.#closedTo, ...this.#recent.slice(-count)].slice(-MAX_CLOSED);
  }

  /** The messages of a request without the reasoning that is to be left out. */
  filter(messages: readonly AgentMessage[]): AgentMessage[] | undefined {
    if (this.#closedTo.length === 0) return undefined;
    const closed = new Set(this.#closedTo);
    return messages.map((message) =>
      isAssistant(message) && closed.has(message.timestamp) ? withoutTrace(message) : message,
    );
  }

  reset(): void {
    this.#recent = [];
    this.#closedTo = [];
  }
}

/** The largest STAGNATION_WINDOW, and messages of ten such windows. */
const MAX_RECENT = 100;
const MAX_CLOSED = 1000;

function textBlock(text: string): Block {
  return { type: "text", text };
}

/** Calls may carry the provider's opaque thoughts, too. */
function withoutThoughtSignature(block: Block): Block {
  if (block.type !== "toolCall") return block;
  const { thoughtSignature: _, ...rest } = block;
  return rest;
}

/** The first `keep` units of a text, without half a character at the end. */
function cutText(text: string, keep: number): string {
  const last = text.charCodeAt(keep - 1);
  const half = keep > 0 && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, half ? keep - 1 : keep);
}
