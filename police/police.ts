import { callKey } from "./call_key.ts";
import type { Config } from "./config/keys.ts";
import type { Advice, Call, Detection, Observation, Stream } from "./detectors/types.ts";
import { renderMessage, USER_TEXTS, USER_WORDS } from "./messages.ts";
import { createOpenCalls, endingOf, errorOf, type OpenCall, resultText } from "./open_calls.ts";
import { canonicalPath, pathRules } from "./paths.ts";
import { type Cut, Recovery } from "./recovery.ts";
import { searchPattern, toolRole, writtenPaths } from "./tools.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  asFinished,
  callsOf,
  cutMessage,
  type MarkerName,
  ReasoningGate,
  soundThinking,
  textOf,
  withoutThinking,
} from "./transcript.ts";
import { Watch } from "./watch.ts";

/** What can be done to the session in which something was found. */
export interface Host {
  readonly cwd: string;
  /** Milliseconds. */
  now(): number;
  abort(): void;
  /**
   * Sends the model a message: with its next request, which `advice` forces and `notice` does not,
   * or, once the run has settled, in a new run.
   */
  send(text: string, how: "advice" | "notice" | "new_run"): void;
  /** Shows the user something in passing, where there is a user interface. */
  notify(text: string): void;
  /** Tells the user, with or without a user interface. */
  tell(text: string): void;
  publish(detection: Detection, consecutiveLoops: number): void;
  /** What a valid call of the tool looks like. */
  shapeOf(tool: string): string;
}

/** A refused call. `reason` is its result. */
export interface Refusal {
  readonly block: true;
  readonly reason: string;
  readonly terminate?: true;
}

/** A call as Pi hands it to the hook. */
export interface AskedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly parent: string | undefined;
}

/** A call as Pi reports its end. */
export interface EndedCall {
  readonly id: string;
  readonly tool: string;
  readonly result: unknown;
  readonly isError: boolean;
}

/**
 * One session's police: takes what happens, asks the detectors, and does what their findings ask
 * for. All state of the package lives in here; nothing of it grows without bound.
 */
export class Police {
  readonly #config: Readonly<Config>;
  readonly #watch: Watch;
  readonly #recovery: Recovery;
  readonly #gate = new ReasoningGate();
  #open = createOpenCalls();
  /** Notices that wait until it is known whether the message leads to another request. */
  #notices: string[] = [];
  #stage: "streaming" | "ending" | "calls" = "calls";
  /** The calls of this turn that asked Pi to end the run, and what the user is told then. */
  #terminated = new Set<string>();
  #endText: string | undefined;
  /** Whether the transcript says why the run was stopped: Pi then shows it by itself. */
  #explained = false;
  #detections = 0;

  constructor(config: Readonly<Config>) {
    this.#config = config;
    this.#watch = new Watch(config);
    this.#recovery = new Recovery(config);
  }

  /** How many loops were found in this session. */
  get detections(): number {
    return this.#detections;
  }

  userSpoke(): void {
    this.#watch.observe({ kind: "prompt" });
    this.#recovery.forgive();
    this.#endText = undefined;
  }

  contextLost(): void {
    this.#watch.observe({ kind: "context_lost" });
  }

  messageStarted(): void {
    this.#notices = [];
    this.#stage = "streaming";
    this.#recovery.beginMessage();
    this.#watch.observe({ kind: "message_start" });
  }

  /** New characters of a block of the message that is arriving. */
  streamed(stream: Stream, block: number, text: string, host: Host): void {
    if (this.#recovery.cutting) return;
    const found = this.#watch.observe({ kind: "text", stream, block, text });
    if (found !== undefined) this.#act(found, host);
  }

  /** A message is complete. Returns what is to be stored instead of it. */
  messageEnded(message: AssistantMessage, host: Host): AssistantMessage | undefined {
    this.#stage = "ending";
    const stored = this.#endMessage(message, host);
    this.#stage = "calls";
    return stored;
  }

  callStarted(id: string, tool: string, rawInput: unknown, parent: string | undefined): void {
    this.#open.set(id, { tool, rawInput, parent });
  }

  /** A call is about to run. Returns its refusal, if it is not to. */
  callAsked(asked: AskedCall, host: Host): Refusal | undefined {
    const call = this.#describe(asked, host);
    const verdict = this.#watch.judge(call);
    const { tool, input, parent } = asked;
    const open = this.#open.get(asked.id) ?? { tool, rawInput: input, parent };
    this.#open.set(asked.id, { ...open, call, refused: verdict.refused });
    for (const found of verdict.detections) this.#act(found, host);
    // The last finding speaks: a refusal that was ignored outweighs the one it ignored.
    const last = verdict.detections.at(-1);
    if (last?.response.kind !== "block") return undefined;
    const reason = this.#render(last.advice);
    if (!last.response.terminate) return { block: true, reason };
    this.#terminated.add(asked.id);
    return { block: true, reason, terminate: true };
  }

  /** A call ran: its result exists. */
  callRan(id: string): void {
    const open = this.#open.get(id);
    if (open !== undefined) open.ran = true;
  }

  callEnded(ended: EndedCall, host: Host): void {
    const { id, result } = ended;
    const open = this.#open.get(id);
    this.#open.delete(id);
    this.#watch.endLane(id);
    const text = resultText(result);
    const seen = this.#whatBecameOf(ended, open, text, host);
    if (seen === undefined) return;
    if (seen.kind !== "result") this.#recovery.noteFinding();
    const found = this.#watch.observe(seen);
    if (found !== undefined) this.#act(found, host);
  }

  turnStarted(host: Host): void {
    if (this.#endText !== undefined) this.#stop(this.#endText, host);
  }

  /** A turn ended; `resultIds` are the calls of its batch. */
  turnEnded(resultIds: readonly string[], host: Host): void {
    this.#recovery.endTurn();
    const ends = resultIds.length > 0 && resultIds.every((id) => this.#terminated.has(id));
    this.#terminated.clear();
    // Pi ends the run by itself only if every call of the batch asked for it.
    if (this.#endText !== undefined && !ends) this.#stop(this.#endText, host);
  }

  /** The run has settled: nothing more comes of it by itself. */
  settled(host: Host): void {
    const aftermath = this.#recovery.settle();
    const text = aftermath?.kind === "stopped" ? aftermath.text : this.#endText;
    if (text !== undefined && this.#explained) host.notify(text);
    else if (text !== undefined) host.tell(text);
    else if (aftermath?.kind === "recover") host.send(this.#render(aftermath.advice), "new_run");
    this.#endText = undefined;
    this.#explained = false;
  }

  /** The messages of a request without the reasoning that is to be left out of it. */
  requestMessages(messages: readonly AgentMessage[]): AgentMessage[] | undefined {
    return this.#gate.filter(messages);
  }

  /** Forgets everything, also what outlives a prompt. */
  reset(): void {
    this.#watch.reset();
    this.#recovery.settle();
    this.#recovery.forgive();
    this.#gate.reset();
    this.#open = createOpenCalls();
    this.#notices = [];
    this.#terminated.clear();
    this.#endText = undefined;
    this.#detections = 0;
  }

  status(): readonly string[] {
    const limit = this.#config.RECOVERY_LIMIT;
    return [
      `loops found: ${this.#detections}`,
      `looped messages in a row: ${this.#recovery.inRow}`,
      `recoveries: ${this.#recovery.recoveries}${limit > 0 ? ` of ${limit}` : ""}`,
      ...this.#watch.status(),
    ];
  }

  #endMessage(message: AssistantMessage, host: Host): AssistantMessage | undefined {
    const cut = this.#recovery.endMessage();
    if (cut !== undefined) {
      this.#watch.observe({ kind: "cut", thinking: soundThinking(message, cut) });
      return this.#store(message, cut);
    }
    if (message.stopReason === "aborted" || message.stopReason === "error") {
      return this.#explain(message);
    }
    this.#recovery.soundMessage();
    this.#gate.noteThinking(message);
    const thinking = textOf(message, "thinking");
    const calls = callsOf(message);
    const output = textOf(message, "text");
    const found = this.#watch.observe({ kind: "message_end", thinking, output, calls });
    const sanitize = found?.response.kind === "sanitize" ? found.response : undefined;
    if (sanitize !== undefined && sanitize.scrub > 1) this.#gate.close(sanitize.scrub);
    if (found !== undefined) this.#act(found, host);
    // A notice behind the final answer would be the last word of the run: only the user gets it.
    if (calls > 0) this.#sendNotices(host);
    if (found === undefined || sanitize === undefined) return undefined;
    return withoutThinking(message, found.event as MarkerName);
  }

  /** Does what a finding asks for, except for what the caller returns to Pi. */
  #act(found: Detection, host: Host): void {
    this.#detections++;
    host.notify(`loop-police: ${USER_WORDS[found.event]}`);
    const { response } = found;
    if (response.kind === "cut" && this.#stage !== "ending") {
      this.#cut(found, response, host);
      // Between messages the run is ended, and there is nothing to trim.
      if (this.#stage === "calls") this.#recovery.endMessage();
      return;
    }
    host.publish(found, this.#recovery.inRow);
    this.#recovery.noteFinding();
    if (response.kind === "notice") {
      this.#notices.push(this.#render(found.advice));
      if (this.#stage === "calls") this.#sendNotices(host);
    } else if (response.kind === "block") {
      if (response.terminate) this.#endText = USER_TEXTS.refusalIgnored(toolOf(found));
    } else if (this.#recovery.advise()) {
      host.send(this.#render(found.advice), "advice");
    } else {
      host.abort();
    }
  }

  #cut(found: Detection, { block, keep }: { block: number; keep: number }, host: Host): void {
    const escalated = this.#recovery.beginCut({ event: found.event, block, keep }, found.advice);
    host.abort();
    const told = "escalated" in found.details ? { ...found.details, escalated } : found.details;
    host.publish({ ...found, details: told } as Detection, this.#recovery.inRow);
  }

  #sendNotices(host: Host): void {
    for (const notice of this.#notices) host.send(notice, "notice");
    this.#notices = [];
  }

  #stop(text: string, host: Host): void {
    this.#endText = undefined;
    this.#recovery.stop(text);
    host.abort();
  }

  /** A message that was cut, as it is stored. */
  #store(message: AssistantMessage, cut: Cut): AssistantMessage {
    const stored = cutMessage(message, cut);
    if (this.#recovery.stopText !== undefined) return this.#explain(stored);
    // An answer is to be continued from the cut. With calls in it, Pi would go on to run them.
    const isAnswer = message.content[cut.block]?.type === "text" && cut.keep > 0;
    return isAnswer && callsOf(message) === 0 ? asFinished(stored) : stored;
  }

  /** A message that was aborted, with the reason if the run is being stopped for good. */
  #explain(message: AssistantMessage): AssistantMessage {
    const errorMessage = this.#recovery.stopText;
    if (errorMessage === undefined) return message;
    this.#explained = true;
    return { ...message, errorMessage };
  }

  #render({ key, values }: Advice): string {
    return renderMessage(this.#config[key], values, this.#config.MSG_SUFFIX);
  }

  #whatBecameOf(
    ended: EndedCall,
    open: OpenCall | undefined,
    text: string,
    host: Host,
  ): Observation | undefined {
    const { id, tool, isError } = ended;
    const ending = endingOf(open, text, isError);
    if (ending.kind === "result") {
      const { call, ran } = ending;
      return { kind: "result", call, ran, isError, text, at: host.now() };
    }
    if (ending.kind === "rejected") {
      const { reason } = ending;
      return { kind: "rejected", tool, reason, error: errorOf(text), shape: host.shapeOf(tool) };
    }
    if (ending.kind === "settled" || open === undefined) return undefined;
    const { rawInput, parent } = open;
    return { kind: "refused", call: this.#describe({ id, tool, input: rawInput, parent }, host) };
  }

  #describe(asked: AskedCall, host: Host): Call {
    const { id, tool, input, parent } = asked;
    const rules = pathRules(host.cwd);
    return {
      id,
      tool,
      // A call that cannot be compared is equal to no other.
      key: callKey(tool, input) ?? `id:${id}`,
      input,
      role: toolRole(tool, input, this.#config),
      paths: writtenPaths(input).map((path) => canonicalPath(path, rules)),
      at: host.now(),
      pattern: searchPattern(input),
      parent,
    };
  }
}

function toolOf(found: Detection): string {
  return "toolName" in found.details ? found.details.toolName : "tool";
}
