/** The messages of a replayed session, as Pi makes them. */

import type { MessageEndEvent } from "@earendil-works/pi-coding-agent";

import type { CallEvent, InvalidEvent } from "./scenario.ts";

export type AgentMessage = MessageEndEvent["message"];
export type AssistantMessage = Extract<AgentMessage, { role: "assistant" }>;
export type ToolResultMessage = Extract<AgentMessage, { role: "toolResult" }>;
export type Block = AssistantMessage["content"][number];
type Arguments = Extract<Block, { type: "toolCall" }>["arguments"];

const NO_USAGE: AssistantMessage["usage"] = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** The model that every replayed message is from. */
export const MODEL = { id: "scripted", name: "scripted", provider: "scripted" } as const;

export function assistantMessage(
  content: Block[],
  stopReason: AssistantMessage["stopReason"],
  timestamp: number,
): AssistantMessage {
  return {
    role: "assistant",
    content,
    api: "openai-completions",
    provider: MODEL.provider,
    model: MODEL.id,
    usage: NO_USAGE,
    stopReason,
    ...(stopReason === "aborted" ? { errorMessage: "Request was aborted." } : {}),
    timestamp,
  };
}

export function userMessage(text: string, timestamp: number): AgentMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

export function toolCallBlock(id: string, given: CallEvent | InvalidEvent): Block {
  const { toolName: name, input } = "call" in given ? given.call : given.invalid;
  // Of arguments that are no JSON, Pi keeps what it can read, which may be nothing.
  const readable = typeof input === "string" ? {} : (input as Arguments);
  return { type: "toolCall", id, name, arguments: readable };
}

export function toolResultMessage(
  id: string,
  toolName: string,
  text: string,
  isError: boolean,
  timestamp: number,
): ToolResultMessage {
  const content = [{ type: "text" as const, text }];
  return { role: "toolResult", toolCallId: id, toolName, content, isError, timestamp };
}
