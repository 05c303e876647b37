/** A session for tests: drives a `Police` as Pi would, and keeps what it did. */

import type { Config } from "../config/keys.ts";
import type { Detection, Stream } from "../detectors/types.ts";
import { type Host, Police, type Refusal } from "../police.ts";
import type { AgentMessage, AssistantMessage } from "../transcript.ts";
import { config } from "./observations.ts";

type Content = AssistantMessage["content"];

let clock = 0;

export function assistant(
  content: Content,
  more: Partial<AssistantMessage> = {},
): AssistantMessage {
  clock += 1;
  return {
    role: "assistant",
    content,
    api: "openai-completions",
    provider: "p",
    model: "m",
    usage: {
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: "stop",
    timestamp: clock,
    ...more,
  };
}

export function user(text: string): AgentMessage {
  return { role: "user", content: text, timestamp: 0 };
}

export const text = (written: string) => ({ type: "text", text: written }) as const;
export const thinking = (written: string, more = {}) =>
  ({ type: "thinking", thinking: written, ...more }) as const;
export const toolCall = (name: string, more = {}) =>
  ({ type: "toolCall", id: "id", name, arguments: {}, ...more }) as const;

export class TestSession implements Host {
  readonly config: Config;
  readonly police: Police;
  readonly sent: [how: string, text: string][] = [];
  readonly told: string[] = [];
  readonly notified: string[] = [];
  readonly published: [Detection, number][] = [];
  aborts = 0;
  cwd = "/project";
  #ids = 0;

  constructor(values: Partial<Config> = {}) {
    this.config = config(values);
    this.police = new Police(this.config);
  }

  now = () => 0;
  abort = () => void this.aborts++;
  send = (message: string, how: string) => void this.sent.push([how, message]);
  tell = (message: string) => void this.told.push(message);
  notify = (message: string) => void this.notified.push(message);
  publish = (found: Detection, inRow: number) => void this.published.push([found, inRow]);
  shapeOf = (tool: string) => `${tool}(...)`;

  get events(): string[] {
    return this.published.map(([found]) => found.event);
  }

  /** Streams one block and ends the message: aborted if the police asked for it. */
  answer(written: string, stream: Stream = "output", piece = 20): AssistantMessage {
    this.police.messageStarted();
    const before = this.aborts;
    let arrived = "";
    for (let at = 0; at < written.length && this.aborts === before; at += piece) {
      arrived += written.slice(at, at + piece);
      this.police.streamed(stream, 0, written.slice(at, at + piece), this);
    }
    // Pi delivers some more after an abort.
    for (let i = 0; i < 2; i++) this.police.streamed(stream, 0, written.slice(0, piece), this);
    const aborted = this.aborts > before;
    const content = [stream === "output" ? text(arrived) : thinking(arrived)];
    const message = assistant(content, { stopReason: aborted ? "aborted" : "stop" });
    const stored = this.police.messageEnded(message, this) ?? message;
    this.police.turnEnded([], this);
    if (aborted) this.police.settled(this);
    return stored;
  }

  /** A message with reasoning and one call to come. */
  think(written: string, calls = 1): AssistantMessage {
    this.police.messageStarted();
    const content: Content = [thinking(written), ...Array(calls).fill(toolCall("bash"))];
    const message = assistant(content, { stopReason: calls > 0 ? "toolUse" : "stop" });
    return this.police.messageEnded(message, this) ?? message;
  }

  /** One call from its start to its end. */
  call(
    tool: string,
    input: unknown,
    how: { isError?: boolean; ran?: boolean; parent?: string } = {},
  ) {
    this.#ids += 1;
    const id = `call${this.#ids}`;
    const refusal = this.ask(id, tool, input, how.parent);
    const ran = refusal === undefined && how.ran !== false;
    if (ran) this.police.callRan(id);
    const isError = !ran || how.isError === true;
    const result = { content: [{ type: "text", text: refusal?.reason ?? "result" }] };
    this.police.callEnded({ id, tool, result, isError }, this);
    return { id, refusal };
  }

  ask(id: string, tool: string, input: unknown, parent?: string): Refusal | undefined {
    this.police.callStarted(id, tool, input, parent);
    return this.police.callAsked({ id, tool, input, parent }, this);
  }

  /** A message with one call, its result, and the end of its turn. */
  turn(tool: string, input: unknown, how: { isError?: boolean; ran?: boolean } = {}) {
    this.police.turnStarted(this);
    this.police.messageStarted();
    this.police.messageEnded(assistant([toolCall(tool)]), this);
    const { id, refusal } = this.call(tool, input, how);
    this.police.turnEnded([id], this);
    return refusal;
  }

  /** A call that Pi, or another extension, refused before the police were asked. */
  refusedElsewhere(tool: string, input: unknown, words: string): void {
    this.#ids += 1;
    const id = `call${this.#ids}`;
    this.police.callStarted(id, tool, input, undefined);
    const result = { content: [{ type: "text", text: words }] };
    this.police.callEnded({ id, tool, result, isError: true }, this);
  }
}
