/**
 * Drives the extensions of a Pi double through a session in the order of Pi's agent loop:
 *
 *   prompt -> [agent_start -> [turn_start -> request -> message, in pieces -> calls -> turn_end]*
 *          -> agent_end -> agent_settled]
 *
 * What the extensions decide has its consequences: a refused call yields its refusal, an abort cuts
 * the stream and ends the run, and a message that is sent once the run has settled starts a new one.
 * A run that an extension ended for good stays ended until the next prompt.
 */

import type { ExtensionContext, ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { runBatch } from "./pi_batch.ts";
import { PiDouble, type SentMessage } from "./pi_double.ts";
import type { MessageStep, Step, StepStream } from "./scenario_steps.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  assistantMessage,
  type Block,
  MODEL,
  toolCallBlock,
  userMessage,
} from "./transcript.ts";

/** What an extension did to keep something from happening. */
export type Enforcement = "block" | "abort" | "terminate";

export interface SessionObserver {
  /** Something was kept from happening while `event` happened. */
  enforced(how: Enforcement, event: number): void;
  /** A `tool_call` handler threw. Pi refuses the call then. */
  threw(error: unknown, event: number): void;
}

/** The folder in which the replayed session works. Nothing is there. */
export const PROJECT = "/project";

/** Pi has read about so many further pieces of a stream when an abort takes effect. */
const PIECES_AFTER_ABORT = 2;

/** So many messages that say nothing may an extension answer with one that makes the model go on. */
const MAX_FAREWELLS = 50;

/** Events of Pi's that an extension may decide something by, and that are not dispatched here. */
const NOT_DISPATCHED = [
  "agent_before_settle",
  "before_provider_headers",
  "before_provider_request",
  "context_with_system",
  "session_before_compact",
] as const;

export class PiSession {
  readonly pi: PiDouble;
  /** What the extensions told the user, in order. */
  readonly notices: string[] = [];
  /** The number of the scenario's event that is happening. */
  event = 0;

  readonly #observer: SessionObserver;
  #run: "none" | "active" | "stopped" = "none";
  #turnOpen = false;
  #turns = 0;
  #aborted = false;
  #transcript: AgentMessage[] = [];
  /** Messages for the next request; those in `steering` force one. */
  #steering: AgentMessage[] = [];
  #waiting: AgentMessage[] = [];
  #seen = 0;
  #calls = 0;
  #clock = 0;

  constructor(observer: SessionObserver) {
    this.#observer = observer;
    this.pi = new PiDouble(this.#context());
  }

  /** Loads an extension and starts the session. Throws what the extension's factory throws. */
  async start(name: string, factory: ExtensionFactory): Promise<void> {
    await this.pi.load(name, factory);
    for (const event of NOT_DISPATCHED) {
      if (this.pi.handlerCount(event) > 0) this.pi.notDoubled.push(`the event ${event}`);
    }
    await this.pi.emit({ type: "session_start", reason: "startup" });
  }

  async take(step: Step): Promise<void> {
    if (step.kind === "prompt") {
      await this.#finishRun();
      this.event = step.event;
      await this.#prompt(step.text);
    } else if (this.#run !== "stopped") {
      if (step.kind === "message") await this.#answer(step);
      else await this.#compact(step.event);
    }
  }

  /** Lets the run come to its end, and ends the session. */
  async end(): Promise<void> {
    await this.#finishRun();
    await this.pi.emit({ type: "session_shutdown", reason: "quit" });
  }

  async #prompt(text: string): Promise<void> {
    await this.pi.tell({ type: "input", text, source: "interactive" });
    await this.pi.tell(beforeAgentStart({ messageType: "user", prompt: text }));
    await this.#beginRun([userMessage(text, this.#now())]);
  }

  async #compact(event: number): Promise<void> {
    this.event = event;
    const summary = "What happened so far.";
    this.#transcript = [userMessage(summary, this.#now())];
    await this.pi.emit({
      type: "session_compact",
      compactionEntry: {
        type: "compaction",
        id: `compaction_${event}`,
        parentId: null,
        timestamp: new Date(this.#now()).toISOString(),
        summary,
        firstKeptEntryId: "",
        tokensBefore: 0,
      },
      fromExtension: false,
      reason: "threshold",
      willRetry: false,
    });
  }

  /** One assistant message, its calls, and the end of its turn. */
  async #answer({ streams, batch }: MessageStep): Promise<void> {
    this.event = streams[0]?.event ?? batch?.event ?? this.event;
    // A model that answers again without a prompt was made to go on, but not by the user.
    if (this.#run === "none") await this.#beginRun([]);
    await this.#openTurn();
    const calls = (batch?.calls ?? []).map((given) => ({ id: this.#nextId(), given }));
    const blocks = calls.map(({ id, given }) => toolCallBlock(id, given));
    const message = await this.#say(streams, blocks);
    if (message.stopReason === "aborted") {
      await this.#closeTurn(message, []);
      await this.#endRun();
      return;
    }
    this.event = batch?.event ?? this.event;
    const { results, terminated } = await runBatch(calls, {
      pi: this.pi,
      isAborted: () => this.#aborted,
      now: () => this.#now(),
      enforced: (how) => this.#observer.enforced(how, this.event),
      threw: (error) => this.#observer.threw(error, this.event),
    });
    this.#transcript.push(...results);
    await this.#closeTurn(message, results);
    const wantsMore = calls.length > 0 && !terminated;
    if (this.#aborted && (wantsMore || this.#steering.length > 0)) await this.#answerAborted();
    else if (!wantsMore && this.#steering.length === 0) await this.#endRun(terminated);
  }

  /** The run goes on, but its next request is aborted before anything comes of it. */
  async #answerAborted(): Promise<void> {
    await this.#openTurn();
    await this.#closeTurn(await this.#say([], []), []);
    await this.#endRun();
  }

  /** A run that is not at its end yet ends with a message that says nothing. */
  async #finishRun(): Promise<void> {
    for (let farewells = 0; this.#run === "active"; farewells += 1) {
      if (farewells === MAX_FAREWELLS) throw new Error("the extension keeps the run from ending");
      await this.#answer({ kind: "message", streams: [], batch: undefined });
    }
    this.#run = "none";
  }

  async #beginRun(messages: readonly AgentMessage[]): Promise<void> {
    this.#run = "active";
    this.#aborted = false;
    this.#turns = 0;
    this.#collect();
    this.#steering.push(...messages);
    await this.pi.emit({ type: "agent_start" });
    await this.#openTurn();
  }

  /**
   * @param terminated Whether all calls of the last batch asked for the end.
   */
  async #endRun(terminated = false): Promise<void> {
    await this.pi.emit({ type: "agent_end", messages: [...this.#transcript] });
    this.#collect();
    // What was sent while the run was being aborted never arrives.
    this.#steering = [];
    this.#run = this.#aborted || terminated ? "stopped" : "none";
    await this.pi.emit({ type: "agent_settled", aborted: this.#aborted });
    const starts = this.#sent().filter((sent) => sent.kind === "user" || triggersTurn(sent));
    if (starts.length === 0) return;
    const messages = starts.map((sent) => this.#asMessage(sent));
    await this.pi.tell(beforeAgentStart({ messageType: "custom", message: messages[0] }));
    await this.#beginRun(messages);
  }

  async #openTurn(): Promise<void> {
    if (this.#turnOpen) return;
    this.#turnOpen = true;
    await this.pi.emit({ type: "turn_start", turnIndex: this.#turns, timestamp: this.#now() });
    this.#collect();
    const arriving = [...this.#waiting, ...this.#steering];
    this.#waiting = [];
    this.#steering = [];
    for (const message of arriving) {
      this.#transcript.push(message);
      await this.pi.emit({ type: "message_start", message });
      await this.pi.messageEnd(message);
    }
  }

  async #closeTurn(
    message: AssistantMessage,
    toolResults: Extract<AgentMessage, { role: "toolResult" }>[],
  ): Promise<void> {
    const aborted = message.stopReason === "aborted";
    await this.pi.tell({
      type: "turn_end",
      turnIndex: this.#turns,
      message,
      toolResults,
      messageEntryId: "",
      toolResultEntryIds: [],
      entries: [],
      continue: false,
      context: { contextEntries: [], contextMessages: [], runnableMessages: [] },
      outcome: aborted ? "aborted" : "completed",
    } as unknown as Parameters<PiDouble["tell"]>[0]);
    this.#turns += 1;
    this.#turnOpen = false;
    this.#collect();
  }

  /** Requests a message and streams it, as far as no extension aborts it. */
  async #say(streams: readonly StepStream[], calls: readonly Block[]): Promise<AssistantMessage> {
    await this.pi.request([...this.#transcript]);
    const content: Block[] = [];
    const timestamp = this.#now();
    const partial = () => assistantMessage([...content], "stop", timestamp);
    await this.pi.emit({ type: "message_start", message: partial() });
    for (const stream of streams) {
      if (this.#aborted) break;
      this.event = stream.event;
      await this.#stream(stream, content, partial);
    }
    if (!this.#aborted) content.push(...calls);
    const stopReason = this.#aborted ? "aborted" : calls.length > 0 ? "toolUse" : "stop";
    const whole = assistantMessage(content, stopReason, timestamp);
    const stored = (await this.pi.messageEnd(whole)) as AssistantMessage;
    this.#transcript.push(stored);
    return stored;
  }

  /** Streams one block into `content`. */
  async #stream(
    { type, text, chunk }: StepStream,
    content: Block[],
    partial: () => AssistantMessage,
  ): Promise<void> {
    const contentIndex = content.length;
    const update = (event: { type: string; delta?: string; content?: string }) => {
      const message = partial();
      const assistantMessageEvent = { ...event, contentIndex, partial: message } as never;
      return this.pi.emit({ type: "message_update", message, assistantMessageEvent });
    };
    content.push(blockOf(type, ""));
    await update({ type: `${type}_start` });
    let further = PIECES_AFTER_ABORT;
    let arrived = 0;
    while (arrived < text.length) {
      if (this.#aborted) {
        if (further === 0) return;
        further -= 1;
      }
      const delta = pieceAt(text, arrived, chunk);
      arrived += delta.length;
      content[contentIndex] = blockOf(type, text.slice(0, arrived));
      await update({ type: `${type}_delta`, delta });
    }
    await update({ type: `${type}_end`, content: text });
  }

  #abort(): void {
    if (this.#run !== "active" || this.#aborted) return;
    this.#aborted = true;
    this.#observer.enforced("abort", this.event);
  }

  /** Puts what the extensions sent where Pi would deliver it from while a run is active. */
  #collect(): void {
    for (const sent of this.#sent()) {
      const forces = sent.kind === "user" || sent.arguments[1]?.triggerTurn !== false;
      (forces ? this.#steering : this.#waiting).push(this.#asMessage(sent));
    }
  }

  /** What the extensions sent since the last look. */
  #sent(): readonly SentMessage[] {
    const sent = this.pi.messages.slice(this.#seen);
    this.#seen = this.pi.messages.length;
    return sent;
  }

  #asMessage(sent: SentMessage): AgentMessage {
    const timestamp = this.#now();
    if (sent.kind === "custom") return { role: "custom", ...sent.arguments[0], timestamp };
    return { role: "user", content: sent.arguments[0], timestamp };
  }

  #nextId(): string {
    this.#calls += 1;
    return `call_${this.#calls}`;
  }

  /** Milliseconds; no two messages are of the same one. */
  #now(): number {
    this.#clock += 1;
    return this.#clock;
  }

  #context(): Partial<ExtensionContext> {
    const ui = { notify: (text: string) => void this.notices.push(text), setStatus: () => {} };
    const session = { getSessionId: () => "replay", getSessionFile: () => undefined };
    return {
      mode: "tui",
      hasUI: true,
      cwd: PROJECT,
      model: MODEL as unknown as ExtensionContext["model"],
      ui: this.#only("ctx.ui", ui) as ExtensionContext["ui"],
      sessionManager: this.#only(
        "ctx.sessionManager",
        session,
      ) as ExtensionContext["sessionManager"],
      abort: () => this.#abort(),
    };
  }

  /** An object that has these members, and that names any other that is touched. */
  #only(name: string, members: object): unknown {
    return new Proxy(members, {
      get: (target, member) => {
        if (member in target) return Reflect.get(target, member);
        this.pi.notDoubled.push(`${name}.${String(member)}`);
        return undefined;
      },
    });
  }
}

/** The system prompt of a replayed session is empty. */
function beforeAgentStart(trigger: object): Parameters<PiDouble["tell"]>[0] {
  const event = { type: "before_agent_start", systemPrompt: "", systemPromptOptions: {} };
  return { ...event, ...trigger } as unknown as Parameters<PiDouble["tell"]>[0];
}

function triggersTurn(sent: SentMessage): boolean {
  return sent.kind === "custom" && sent.arguments[1]?.triggerTurn === true;
}

function blockOf(type: StepStream["type"], text: string): Block {
  return type === "text" ? { type, text } : { type, thinking: text };
}

/** The next piece of a text; it does not end within a character that takes two units. */
function pieceAt(text: string, start: number, chunk: number): string {
  const last = text.charCodeAt(start + chunk - 1);
  const half = last >= 0xd800 && last <= 0xdbff;
  return text.slice(start, start + chunk + (half ? 1 : 0));
}
