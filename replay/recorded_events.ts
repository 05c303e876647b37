/**
 * What Pi would have told extensions while a recorded answer came in: the answer in small pieces,
 * then its calls, then their results. What the extensions do changes what comes next, as in Pi: an
 * answer that is stopped makes no calls, and a refused call has the refusal for its result.
 */

import type { AgentEndEvent, ExtensionEvent } from "@earendil-works/pi-coding-agent";

import type { PiDouble } from "./pi_double.ts";

type AgentMessage = AgentEndEvent["messages"][number];
export type AssistantMessage = Extract<AgentMessage, { role: "assistant" }>;
export type ToolResultMessage = Extract<AgentMessage, { role: "toolResult" }>;
type UpdateEvent = Extract<ExtensionEvent, { type: "message_update" }>;

/** A line of a session, or an event of a stream: what stands in it as a message. */
export interface RecordedLine {
  readonly message?: unknown;
  readonly timestamp?: unknown;
}

/** Characters in each piece of an answer. Providers send fewer; a detector looks every fifty. */
const PIECE = 48;

/** The answer, or undefined if the line holds none. */
export function answerOf(line: RecordedLine | undefined): AssistantMessage | undefined {
  const message = line?.message as AssistantMessage | undefined;
  return message?.role === "assistant" && Array.isArray(message.content) ? message : undefined;
}

/** The results of an answer's calls by the calls' ids. */
export function resultsOf(lines: readonly RecordedLine[]): Map<string, ToolResultMessage> {
  const results = lines.map(({ message }) => message as ToolResultMessage);
  return new Map(results.map((result) => [result.toolCallId, result]));
}

/** When the line was written, in milliseconds; undefined if it does not say. */
export function timeOf(line: RecordedLine | undefined): number | undefined {
  const { timestamp } = (line?.message ?? {}) as { timestamp?: unknown };
  const time = typeof timestamp === "number" ? timestamp : Date.parse(String(line?.timestamp));
  return Number.isFinite(time) ? time : undefined;
}

/**
 * Tells of an answer as it comes in.
 *
 * @param aborted Whether an extension has asked Pi to stop.
 * @returns Whether the answer came in whole.
 */
export async function streamAnswer(
  pi: PiDouble,
  message: AssistantMessage,
  aborted: () => boolean,
): Promise<boolean> {
  await pi.emit({ type: "message_start", message: { ...message, content: [] } });
  const content: AssistantMessage["content"] = [];
  for (const [contentIndex, block] of message.content.entries()) {
    if (block.type === "toolCall") {
      content.push(block);
      continue;
    }
    const whole = block.type === "thinking" ? block.thinking : block.text;
    for (let end = PIECE; end < whole.length + PIECE && !aborted(); end += PIECE) {
      const arrived = whole.slice(0, end);
      const part = block.type === "thinking" ? { thinking: arrived } : { text: arrived };
      content[contentIndex] = { ...block, ...part };
      const partial = { ...message, content: [...content] };
      const delta = whole.slice(end - PIECE, end);
      const assistantMessageEvent = {
        type: `${block.type}_delta`,
        contentIndex,
        delta,
        partial,
      } as UpdateEvent["assistantMessageEvent"];
      await pi.emit({ type: "message_update", message: partial, assistantMessageEvent });
    }
    if (aborted()) {
      await pi.messageEnd({ ...message, content, stopReason: "aborted" });
      return false;
    }
  }
  await pi.messageEnd(message);
  return !aborted();
}
