import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { Channels } from "./channels.ts";
import type { Config } from "./config/keys.ts";
import { reasonOf } from "./config/store.ts";
import type { Detection } from "./detectors/types.ts";
import type { Host } from "./police.ts";
import { shapeOfCall } from "./shape.ts";

/** The type of our messages in the session, and our place in the footer. */
const NAME = "loop-police";

/** How Pi is told to deliver a message; without `triggerTurn` it forces a request by itself. */
const DELIVERY = {
  advice: {},
  notice: { triggerTurn: false },
  new_run: { triggerTurn: true },
} as const;

/** Pi's side of the police: the session of the event that is being handled. */
export class PiHost implements Host {
  turnIndex = 0;
  readonly #pi: ExtensionAPI;
  readonly #channels: Channels;
  #ctx: ExtensionContext | undefined;
  #faultTold = false;

  constructor(pi: ExtensionAPI, config: Readonly<Config>) {
    this.#pi = pi;
    this.#channels = new Channels(
      config,
      (channel, payload) => pi.events.emit(channel, payload),
      (text) => this.tell(text),
    );
  }

  get cwd(): string {
    return this.#context.cwd;
  }

  /** Every handler calls this first: a context is good for its own event. */
  enter(ctx: ExtensionContext): void {
    this.#ctx = ctx;
  }

  now(): number {
    return Date.now();
  }

  abort(): void {
    this.#context.abort();
  }

  send(content: string, how: keyof typeof DELIVERY): void {
    const message = { customType: NAME, content, display: true };
    this.#pi.sendMessage(message, DELIVERY[how]);
  }

  notify(text: string): void {
    this.#context.ui.notify(text, "warning");
  }

  tell(text: string): void {
    this.reply(text, false);
  }

  /** Answers the user: on the screen, or on standard error where there is none. */
  reply(text: string, ok: boolean): void {
    if (this.#context.hasUI) this.#context.ui.notify(text, ok ? "info" : "warning");
    else process.stderr.write(`${text}\n`);
  }

  showStatus(profile: string, detections: number): void {
    const count = `${detections} loop${detections === 1 ? "" : "s"}`;
    const text = `police: ${detections === 0 ? profile : count}`;
    this.#context.ui.setStatus(NAME, text);
  }

  publish({ event, details }: Detection, consecutiveLoops: number): void {
    const { model, sessionManager, cwd } = this.#context;
    this.#channels.publish({
      event,
      timestamp: new Date(this.now()).toISOString(),
      model: model ? { id: model.id, name: model.name, provider: model.provider } : null,
      sessionId: sessionManager.getSessionId(),
      sessionFile: sessionManager.getSessionFile() ?? null,
      cwd,
      turnIndex: this.turnIndex,
      consecutiveLoops,
      details,
    });
  }

  shapeOf(tool: string): string {
    try {
      const active = new Set(this.#pi.getActiveTools());
      const tools = this.#pi.getAllTools().filter(({ name }) => active.has(name));
      return shapeOfCall(tool, tools);
    } catch {
      return "see the tool's description";
    }
  }

  /** Tells the user once of a fault of ours; the session goes on as if we were not there. */
  reportFault(error: unknown): void {
    if (this.#faultTold) return;
    this.#faultTold = true;
    try {
      this.tell(
        `loop-police: a fault of its own (${reasonOf(error)}). The session is not affected.`,
      );
    } catch {
      // Nobody left to tell.
    }
  }

  close(): Promise<void> {
    return this.#channels.close();
  }

  get #context(): ExtensionContext {
    if (this.#ctx === undefined) throw new Error("no session yet");
    return this.#ctx;
  }
}
