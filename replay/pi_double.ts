/**
 * A double of Pi's extension host: loads extensions as Pi does, hands their handlers events in Pi's
 * order, and keeps what they did for a harness to look at.
 *
 * It doubles what the shipped extensions use. Touching anything else of Pi's API throws and is kept
 * in `notDoubled`, so that it stays visible when the extension swallows the exception.
 */

import { EventEmitter } from "node:events";

import type {
  BeforeAgentStartEvent,
  ContextEvent,
  ContextEventResult,
  EventBus,
  ExtensionAPI,
  ExtensionContext,
  ExtensionEvent,
  ExtensionFactory,
  ExtensionHandler,
  InputEvent,
  MessageEndEvent,
  MessageEndEventResult,
  RegisteredCommand,
  ToolCallEvent,
  ToolCallEventResult,
  ToolDefinition,
  ToolInfo,
  ToolResultEvent,
  TurnEndEvent,
} from "@earendil-works/pi-coding-agent";

/** An entry as the session file holds it: `data` went through JSON. */
export interface AppendedEntry {
  readonly extension: string;
  readonly customType: string;
  readonly data: unknown;
}

/** A message that an extension sent, with the arguments as they were given. */
export type SentMessage =
  | {
      readonly extension: string;
      readonly kind: "custom";
      readonly arguments: Parameters<ExtensionAPI["sendMessage"]>;
    }
  | {
      readonly extension: string;
      readonly kind: "user";
      readonly arguments: Parameters<ExtensionAPI["sendUserMessage"]>;
    };

export type Command = Omit<RegisteredCommand, "name" | "sourceInfo">;

/** A fault that Pi reports and survives: a handler of a plain event, or of the bus, threw. */
export interface ReportedError {
  /** The extension, or undefined for a handler on the bus. */
  readonly extension: string | undefined;
  /** The event or the bus channel. */
  readonly event: string;
  readonly error: unknown;
}

/** A call for the `tool_call` handlers. They get `input` itself and may change it in place. */
export interface DispatchedCall {
  readonly toolName: string;
  readonly input: Record<string, unknown>;
  /** Default: `call_1`, `call_2`, … */
  readonly toolCallId?: string;
  readonly parentToolCallId?: string;
}

export type ToolCallOutcome =
  | { readonly kind: "admitted" }
  /** `result` is what the first blocking handler returned. */
  | { readonly kind: "refused"; readonly result: ToolCallEventResult }
  /** Pi refuses the call then, and the model reads the bare exception text. */
  | { readonly kind: "threw"; readonly error: unknown };

/** The events that Pi dispatches by rules of their own: their handlers' results have a meaning. */
const RULED_EVENTS = [
  "agent_before_settle",
  "before_agent_start",
  "before_provider_headers",
  "before_provider_request",
  "cache_warming_decision",
  "context",
  "context_with_system",
  "input",
  "message_end",
  "project_trust",
  "resources_discover",
  "session_before_compact",
  "session_before_fork",
  "session_before_switch",
  "session_before_tree",
  "tool_call",
  "tool_result",
  "turn_end",
  "user_bash",
] as const satisfies readonly ExtensionEvent["type"][];

/** An event that handlers are told of, and whose results Pi ignores. */
export type PlainEvent = Exclude<ExtensionEvent, { type: (typeof RULED_EVENTS)[number] }>;

type Handler = (event: never, ctx: never) => unknown;

type DoubledApi = Pick<
  ExtensionAPI,
  | "appendEntry"
  | "events"
  | "getActiveTools"
  | "getAllTools"
  | "on"
  | "registerCommand"
  | "registerTool"
  | "sendMessage"
  | "sendUserMessage"
>;

/** The rest of the API. The compiler holds this list to Pi's types: nothing missing, nothing made up. */
const NOT_DOUBLED_API = {
  exec: true,
  getCommands: true,
  getFlag: true,
  getMcpServers: true,
  getSessionName: true,
  getSettings: true,
  getThinkingLevel: true,
  registerEntryRenderer: true,
  registerFlag: true,
  registerMarkdownTransformer: true,
  registerMcpServer: true,
  registerMessageRenderer: true,
  registerProvider: true,
  registerShortcut: true,
  registerToolRenderer: true,
  registerVirtualModel: true,
  setActiveTools: true,
  setLabel: true,
  setModel: true,
  setSessionName: true,
  setThinkingLevel: true,
  unregisterMcpServer: true,
  unregisterProvider: true,
  unregisterVirtualModel: true,
} satisfies Record<Exclude<keyof ExtensionAPI, keyof DoubledApi>, true>;

/** All of a handler's context, held to Pi's types like the list above. */
const CONTEXT = {
  abort: true,
  compact: true,
  cwd: true,
  getContextUsage: true,
  getSystemPrompt: true,
  hasPendingMessages: true,
  hasUI: true,
  isIdle: true,
  isProjectTrusted: true,
  mode: true,
  model: true,
  modelRegistry: true,
  scopedModels: true,
  sessionManager: true,
  shutdown: true,
  signal: true,
  thinkingLevel: true,
  ui: true,
} satisfies Record<keyof ExtensionContext, true>;

/** What `pi -p` gives. */
const PRINT_MODE = { mode: "print", hasUI: false } as const satisfies Partial<ExtensionContext>;

/** A handler and the extension that registered it. */
interface Listener {
  readonly extension: string;
  readonly handler: Handler;
}

/** One extension's registrations. */
interface Loaded {
  readonly name: string;
  readonly handlers: Map<string, Handler[]>;
  loading: boolean;
}

/**
 * One session's extension host. A second session, or a second fixture, takes a second double: Pi
 * calls the factories again then, on the same cached modules.
 */
export class PiDouble {
  readonly entries: AppendedEntry[] = [];
  readonly messages: SentMessage[] = [];
  readonly commands = new Map<string, Command>();
  readonly tools = new Map<string, ToolDefinition>();
  readonly errors: ReportedError[] = [];
  /** Members of Pi's API that were touched and that the double lacks, for example `pi.exec`. */
  readonly notDoubled: string[] = [];
  /** The bus that extensions know as `pi.events`. */
  readonly events: EventBus = this.#createBus();
  /** What handlers get as their second argument. */
  readonly context: ExtensionContext;

  readonly #extensions: Loaded[] = [];
  /** The handlers of each event, until one is registered or removed. */
  readonly #rounds = new Map<string, readonly Listener[]>();
  #calls = 0;

  /**
   * @param context Members of the handlers' context, getters included; the rest stays not doubled,
   *   but for `mode` and `hasUI`, which are those of `pi -p`.
   */
  constructor(context: Partial<ExtensionContext> = {}) {
    const members = Object.keys(CONTEXT).map((member) => [
      member,
      { enumerable: true, configurable: true, get: () => this.#touched(`ctx.${member}`) },
    ]);
    this.context = Object.defineProperties({} as ExtensionContext, {
      ...Object.fromEntries(members),
      ...Object.getOwnPropertyDescriptors(PRINT_MODE),
      ...Object.getOwnPropertyDescriptors(context),
    });
  }

  /**
   * Runs an extension's factory. Extensions are dispatched to in the order of loading.
   *
   * @throws What the factory throws. What it registered before may remain: take a new double then.
   */
  async load(name: string, factory: ExtensionFactory): Promise<void> {
    const extension: Loaded = { name, handlers: new Map(), loading: true };
    await factory(this.#createApi(extension));
    extension.loading = false;
    this.#extensions.push(extension);
    this.#rounds.clear();
  }

  /** How many handlers are registered for an event, by all extensions together. */
  handlerCount(event: ExtensionEvent["type"]): number {
    return this.#handlersOf(event).length;
  }

  /**
   * Hands a call to the `tool_call` handlers as Pi does: one is awaited after the other, each sees
   * what those before it changed in the input, and the first to block ends the round.
   */
  async toolCall(call: DispatchedCall): Promise<ToolCallOutcome> {
    this.#calls += 1;
    const event: ToolCallEvent = {
      type: "tool_call",
      toolCallId: `call_${this.#calls}`,
      ...call,
    };
    for (const { handler } of this.#handlersOf("tool_call")) {
      try {
        const decide = handler as ExtensionHandler<ToolCallEvent, ToolCallEventResult>;
        const result = await decide(event, this.context);
        if (result?.block) return { kind: "refused", result };
      } catch (error) {
        return { kind: "threw", error };
      }
    }
    return { kind: "admitted" };
  }

  /**
   * Tells the handlers of a plain event, one after the other. One that throws is kept in `errors`,
   * and the next one is told nevertheless.
   *
   * @throws For an event that Pi dispatches by rules of its own.
   */
  async emit(event: PlainEvent): Promise<void> {
    if ((RULED_EVENTS as readonly string[]).includes(event.type)) this.#touched(event.type);
    for (const { extension, handler } of this.#handlersOf(event.type)) {
      try {
        await (handler as ExtensionHandler<PlainEvent>)(event, this.context);
      } catch (error) {
        this.errors.push({ extension, event: event.type, error });
      }
    }
  }

  /**
   * Hands an ended message to the `message_end` handlers: each may replace it for those after it.
   *
   * @returns The message that Pi would store.
   */
  async messageEnd(message: MessageEndEvent["message"]): Promise<MessageEndEvent["message"]> {
    let stored = message;
    await this.#dispatch<MessageEndEvent, MessageEndEventResult>(
      "message_end",
      () => ({ type: "message_end", message: stored }),
      (result) => {
        stored = result.message ?? stored;
      },
    );
    return stored;
  }

  /**
   * Hands the messages of a request to the `context` handlers: each gets what those before it made
   * of them.
   *
   * @returns The messages that Pi would send.
   */
  async request(messages: ContextEvent["messages"]): Promise<ContextEvent["messages"]> {
    let sent = messages;
    await this.#dispatch<ContextEvent, ContextEventResult>(
      "context",
      () => ({ type: "context", messages: sent }),
      (result) => {
        sent = result.messages ?? sent;
      },
    );
    return sent;
  }

  /** Tells the handlers of an event whose results the harness has no use for, by Pi's rules. */
  async tell(
    event: BeforeAgentStartEvent | InputEvent | ToolResultEvent | TurnEndEvent,
  ): Promise<void> {
    await this.#dispatch(
      event.type,
      () => event,
      () => undefined,
    );
  }

  /** One handler after the other; one that throws is kept in `errors`, the next one goes on. */
  async #dispatch<E extends ExtensionEvent, R>(
    type: E["type"],
    event: () => E,
    take: (result: R) => void,
  ): Promise<void> {
    for (const { extension, handler } of this.#handlersOf(type)) {
      try {
        const result = await (handler as ExtensionHandler<E, R>)(event(), this.context);
        if (result) take(result);
      } catch (error) {
        this.errors.push({ extension, event: type, error });
      }
    }
  }

  /** A copy: what handlers register or remove during a round counts from the next round on. */
  #handlersOf(event: string): readonly Listener[] {
    let round = this.#rounds.get(event);
    if (round === undefined) {
      round = this.#extensions.flatMap(({ name, handlers }) =>
        (handlers.get(event) ?? []).map((handler) => ({ extension: name, handler })),
      );
      this.#rounds.set(event, round);
    }
    return round;
  }

  #touched(member: string): never {
    this.notDoubled.push(member);
    throw new Error(`The Pi double has no ${member}; add it to replay/pi_double.ts as Pi has it.`);
  }

  #createApi(extension: Loaded): ExtensionAPI {
    const name = extension.name;
    const doubled: DoubledApi = {
      events: this.events,
      getActiveTools: () => [...this.tools.keys()],
      getAllTools: () => [...this.tools.values()].map(toolInfo),
      on: (event: string, handler: Handler) => {
        this.#rounds.delete(event);
        const remove = register(extension.handlers, event, handler);
        return () => {
          this.#rounds.delete(event);
          remove();
        };
      },
      registerCommand: (command, options) => this.commands.set(command, options),
      registerTool: (tool) => this.tools.set(tool.name, tool as unknown as ToolDefinition),
      appendEntry: (customType, data) => {
        refuseWhileLoading(extension, "appendEntry");
        this.entries.push({ extension: name, customType, data: throughJson(data) });
      },
      sendMessage: (...args) => {
        refuseWhileLoading(extension, "sendMessage");
        this.messages.push({ extension: name, kind: "custom", arguments: args });
      },
      sendUserMessage: (...args) => {
        refuseWhileLoading(extension, "sendUserMessage");
        this.messages.push({ extension: name, kind: "user", arguments: args });
      },
    };
    const rest = Object.keys(NOT_DOUBLED_API).map((member) => [
      member,
      () => this.#touched(`pi.${member}`),
    ]);
    return { ...doubled, ...Object.fromEntries(rest) };
  }

  #createBus(): EventBus {
    const emitter = new EventEmitter();
    return {
      emit: (channel, data) => void emitter.emit(channel, data),
      on: (channel, handler) => {
        const contained = async (data: unknown) => {
          try {
            await handler(data);
          } catch (error) {
            this.errors.push({ extension: undefined, event: channel, error });
          }
        };
        emitter.on(channel, contained);
        return () => void emitter.off(channel, contained);
      },
    };
  }
}

/** What Pi tells extensions of a registered tool. */
function toolInfo(tool: ToolDefinition): ToolInfo {
  const { name, description, parameters } = tool;
  return { name, description, parameters, exposure: "direct" } as ToolInfo;
}

/** Registers a handler and returns what removes that one registration. */
function register(handlers: Map<string, Handler[]>, event: string, handler: Handler): () => void {
  // A function of its own: the same handler may be registered twice, and removed once.
  const registered: Handler = (received, ctx) => handler(received, ctx);
  const list = handlers.get(event) ?? [];
  handlers.set(event, list);
  list.push(registered);
  return () => {
    const index = list.indexOf(registered);
    if (index !== -1) list.splice(index, 1);
  };
}

/** Pi connects these methods to the session after all factories have run. */
function refuseWhileLoading(extension: Loaded, method: string): void {
  if (!extension.loading) return;
  throw new Error(`pi.${method} cannot be called while the extension ${extension.name} loads.`);
}

function throughJson(data: unknown): unknown {
  return data === undefined ? undefined : JSON.parse(JSON.stringify(data));
}
