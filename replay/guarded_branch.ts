/** Replays one branch of a recorded session through extensions, as one Pi that had them installed. */

import type {
  ExtensionAPI,
  ExtensionContext,
  ExtensionFactory,
  TurnEndEvent,
} from "@earendil-works/pi-coding-agent";

import { type Tool, Tools } from "./arguments.ts";
import { PiDouble, type ToolCallOutcome } from "./pi_double.ts";
import {
  type AssistantMessage,
  answerOf,
  type RecordedLine,
  resultsOf,
  streamAnswer,
  type ToolResultMessage,
  timeOf,
} from "./recorded_events.ts";
import { Repetition } from "./repetition.ts";

/** An extension under its short name. */
export interface Guard {
  readonly name: string;
  readonly factory: ExtensionFactory;
}

/** A call: the id of its result, the tool, the model's arguments, and whether it reached the hook. */
export type BranchCall = readonly [
  id: string,
  toolName: string,
  given: unknown,
  reachedHook: boolean,
];

/** Where a session took place, as far as its file tells. */
export interface Place {
  readonly id: string;
  readonly cwd: string;
}

/** What the guards did with a branch. Calls are numbered from 0, those that Pi refused included. */
export interface BranchVerdict {
  /** Call, and the guard that refused it. */
  readonly refusals: readonly (readonly [call: number, guard: string])[];
  /** The answer in which something was found, counted from 0, and what it was. */
  readonly detections: readonly (readonly [turn: number, kind: string])[];
  /** How many calls the model had made when a guard first found something; null if none did. */
  readonly firstDetection: number | null;
  /** The same for what a guard first kept from happening: it refused a call, or stopped an answer. */
  readonly firstEnforcement: number | null;
  readonly longestRun: number;
  readonly strongestRepeat: number;
  /** What the guards did wrong, each a sentence, each once. */
  readonly faults: readonly string[];
}

/** The telemetry of the loop breaker. */
const LOOP_BROKEN = "loop_broken";
/** The bus channel on which police tell of a detection. */
const DETECTION = "loop-police:detection";

const realNow = Date.now;

export class GuardedBranch {
  readonly #guards: readonly Guard[];
  readonly #tools = new Tools();
  readonly #repetition = new Repetition();
  readonly #refusals: [number, string][] = [];
  readonly #detections: [number, string][] = [];
  #firstDetection: number | null = null;
  #firstEnforcement: number | null = null;
  readonly #faults = new Set<string>();
  readonly #place: Place;
  #pi = new PiDouble();
  /** Which guard answered the call at hand. */
  #refusedBy = "";
  #calls = 0;
  /** Whether a call is with the hook: the model has made it, and it is not counted yet. */
  #asking = false;
  #turns = 0;
  /** Whether a guard asked Pi to stop the answer that comes in. */
  #aborted = false;
  #running = false;

  private constructor(guards: readonly Guard[], place: Place) {
    this.#guards = guards;
    this.#place = place;
  }

  /** @throws What an extension throws when it is registered. */
  static async begin(guards: readonly Guard[], place: Place): Promise<GuardedBranch> {
    const branch = new GuardedBranch(guards, place);
    await branch.restart();
    return branch;
  }

  /** Gives the branch guards that have seen nothing, as Pi does where a fork begins. */
  async restart(): Promise<void> {
    this.#noteFaults();
    this.#pi = new PiDouble(this.#context());
    this.#pi.events.on(DETECTION, (payload) => {
      this.#detected(String((payload as { event?: unknown }).event));
    });
    for (const { name, factory } of this.#guards) {
      await this.#pi.load(name, (pi) => factory(this.#attributed(pi, name)));
    }
  }

  declareTools(tools: readonly Tool[]): void {
    this.#tools.declare(tools);
  }

  /** The user spoke. */
  async prompt(line: RecordedLine): Promise<void> {
    await this.#settle();
    this.#setClock(line);
    await this.#pi.tell({ type: "input", text: "", source: "interactive" });
  }

  /** The context was cut down to a summary. */
  async compacted(): Promise<void> {
    const compactionEntry = {} as never;
    const event = { type: "session_compact", compactionEntry, fromExtension: false } as never;
    await this.#pi.emit(event);
  }

  /**
   * Replays the calls of one answer: all are put to the hook before the first one's result.
   *
   * @param line The answer, for guards that read along; only the calls count without it.
   * @param results The results of the calls.
   */
  async turn(
    calls: readonly BranchCall[],
    line?: RecordedLine,
    results: readonly RecordedLine[] = [],
  ): Promise<void> {
    const message = answerOf(line);
    if (message === undefined) {
      for (const [id, toolName, given, reachedHook] of calls) {
        if (reachedHook) await this.#ask(id, toolName, this.#counted(toolName, given));
        this.#calls += 1;
      }
    } else {
      // Also the calls that are never made, as when a guard stops the answer.
      for (const [, toolName, given, reachedHook] of calls) {
        if (reachedHook) this.#counted(toolName, given);
      }
      this.#setClock(line);
      await this.#readAlong(calls, message, results);
    }
    this.#turns += 1;
  }

  /** The input of a call that reached the hook, counted whatever the guards make of it. */
  #counted(toolName: string, given: unknown): Record<string, unknown> {
    const input = this.#tools.accept(toolName, given);
    this.#repetition.count(toolName, input);
    return input;
  }

  async #readAlong(
    calls: readonly BranchCall[],
    message: AssistantMessage,
    lines: readonly RecordedLine[],
  ): Promise<void> {
    if (!this.#running) await this.#pi.emit({ type: "agent_start" });
    this.#running = true;
    this.#aborted = false;
    const turnIndex = this.#turns;
    await this.#pi.emit({ type: "turn_start", turnIndex, timestamp: Date.now() });
    const whole = await streamAnswer(this.#pi, message, () => this.#aborted);
    const toolResults: ToolResultMessage[] = [];
    if (whole) toolResults.push(...(await this.#runCalls(calls, lines)));
    else this.#calls += calls.length;
    // What handlers may add to a turn's end is none of the replay's business.
    const ended = { type: "turn_end", turnIndex, message, toolResults } as Partial<TurnEndEvent>;
    await this.#pi.tell(ended as TurnEndEvent);
    if (!whole) await this.#settle();
    this.#pi.messages.length = 0;
  }

  async #runCalls(
    calls: readonly BranchCall[],
    lines: readonly RecordedLine[],
  ): Promise<ToolResultMessage[]> {
    const outcomes: (ToolCallOutcome | undefined)[] = [];
    for (const [toolCallId, toolName, args, reachedHook] of calls) {
      await this.#pi.emit({ type: "tool_execution_start", toolCallId, toolName, args });
      const input = this.#tools.accept(toolName, args);
      outcomes.push(reachedHook ? await this.#ask(toolCallId, toolName, input) : undefined);
      this.#calls += 1;
    }
    const recorded = resultsOf(lines);
    const results: ToolResultMessage[] = [];
    for (const [index, [toolCallId, toolName, given]] of calls.entries()) {
      const outcome = outcomes[index];
      const result = recorded.get(toolCallId);
      if (result === undefined) continue;
      this.#setClock({ message: result });
      const { content, details, isError } = resultAfter(outcome, result);
      const input = this.#tools.accept(toolName, given);
      if (outcome?.kind === "admitted") {
        const event = { type: "tool_result", toolCallId, toolName, input, content, isError };
        await this.#pi.tell({ ...event, details } as never);
      }
      const end = { type: "tool_execution_end", toolCallId, toolName, isError } as const;
      await this.#pi.emit({ ...end, result: { content, details } });
      results.push({ ...result, content, isError });
    }
    return results;
  }

  async #settle(): Promise<void> {
    if (!this.#running) return;
    this.#running = false;
    await this.#pi.emit({ type: "agent_settled", aborted: this.#aborted });
  }

  /** The guards' clock is the session's: they may judge by the time between two results. */
  #setClock(line: RecordedLine | undefined): void {
    const time = timeOf(line);
    if (time !== undefined) Date.now = () => time;
  }

  end(): BranchVerdict {
    Date.now = realNow;
    this.#noteFaults();
    return {
      refusals: this.#refusals,
      detections: this.#detections,
      firstDetection: this.#firstDetection,
      firstEnforcement: this.#firstEnforcement,
      longestRun: this.#repetition.longestRun,
      strongestRepeat: this.#repetition.strongestRepeat,
      faults: [...this.#faults],
    };
  }

  /** Asks the guards. The input is theirs from then on: they may change it. */
  async #ask(
    toolCallId: string,
    toolName: string,
    input: Record<string, unknown>,
  ): Promise<ToolCallOutcome> {
    const entries = this.#pi.entries.length;
    this.#asking = true;
    const outcome = await this.#pi.toolCall({ toolCallId, toolName, input });
    if (outcome.kind === "refused") {
      this.#refusals.push([this.#calls, this.#refusedBy]);
      this.#firstEnforcement ??= this.#made;
    } else if (outcome.kind === "threw")
      this.#faults.add(`a tool_call handler threw ${outcome.error}`);
    if (this.#pi.entries.length > entries) {
      for (const { customType } of this.#pi.entries.splice(entries)) {
        if (customType === LOOP_BROKEN) this.#detected(LOOP_BROKEN);
      }
    }
    this.#asking = false;
    return outcome;
  }

  #detected(kind: string): void {
    this.#detections.push([this.#turns, kind]);
    this.#firstDetection ??= this.#made;
  }

  get #made(): number {
    return this.#calls + (this.#asking ? 1 : 0);
  }

  /** Guards talk to a screen that nobody sees. */
  #context(): Partial<ExtensionContext> {
    const { id, cwd } = this.#place;
    return {
      cwd,
      mode: "tui",
      hasUI: true,
      model: undefined,
      abort: () => {
        this.#aborted = true;
        this.#firstEnforcement ??= this.#made;
      },
      isProjectTrusted: () => false,
      ui: { notify: () => {}, setStatus: () => {} } as unknown as ExtensionContext["ui"],
      sessionManager: {
        getSessionId: () => id,
        getSessionFile: () => undefined,
      } as unknown as ExtensionContext["sessionManager"],
    };
  }

  /** The guard's API, which notes down when one of its handlers refuses a call. */
  #attributed(pi: ExtensionAPI, name: string): ExtensionAPI {
    const on = (event: string, handler: (...args: unknown[]) => unknown) => {
      const note = (answer: unknown) => {
        if ((answer as { block?: boolean } | undefined)?.block) this.#refusedBy = name;
        return answer;
      };
      const noting = (...args: unknown[]) => {
        const answer = handler(...args);
        return isThenable(answer) ? Promise.resolve(answer).then(note) : note(answer);
      };
      return (pi.on as (event: string, handler: unknown) => unknown)(
        event,
        event === "tool_call" ? noting : handler,
      );
    };
    return { ...pi, on } as ExtensionAPI;
  }

  #noteFaults(): void {
    for (const { event, error } of this.#pi.errors) this.#faults.add(`${event} handler: ${error}`);
    for (const member of this.#pi.notDoubled) this.#faults.add(`touched ${member}, not doubled`);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
}

/** A refused call has the refusal for its result, whatever happened when it was recorded. */
function resultAfter(
  outcome: ToolCallOutcome | undefined,
  recorded: ToolResultMessage,
): Pick<ToolResultMessage, "content" | "details" | "isError"> {
  if (outcome?.kind !== "refused") return recorded;
  const text = outcome.result.reason ?? "";
  return { content: [{ type: "text", text }], details: {}, isError: true };
}
