/**
 * Tells other programs of a detection: on Pi's event bus, in a log file, and by running a command.
 * The payload is public: its fields are never renamed. No channel can hold up or change anything.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { resolve } from "node:path";

import type { Config } from "./config/keys.ts";
import { reasonOf } from "./config/store.ts";
import type { DetailsOf, EventName } from "./detectors/types.ts";

/** The channel on Pi's event bus. */
export const DETECTION_CHANNEL = "loop-police:detection";

/** Metadata only: never what the model thought, and never a tool's arguments. */
export interface DetectionPayload<E extends EventName = EventName> {
  readonly event: E;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly model: { readonly id: string; readonly name: string; readonly provider: string } | null;
  readonly sessionId: string;
  readonly sessionFile: string | null;
  readonly cwd: string;
  readonly turnIndex: number;
  readonly consecutiveLoops: number;
  readonly details: DetailsOf[E];
}

/** How long the end of a session waits for hooks that are still running, in milliseconds. */
const MAX_FAREWELL_MS = 2000;

/** Hooks running at a time; a detection beyond that runs none. */
const MAX_HOOKS = 16;

export class Channels {
  readonly #config: Readonly<Config>;
  readonly #emit: (channel: string, payload: DetectionPayload) => void;
  readonly #warn: (text: string) => void;
  readonly #running = new Map<ChildProcess, Promise<void>>();
  readonly #warned = new Set<string>();

  constructor(
    config: Readonly<Config>,
    emit: (channel: string, payload: DetectionPayload) => void,
    warn: (text: string) => void,
  ) {
    this.#config = config;
    this.#emit = emit;
    this.#warn = warn;
  }

  publish(payload: DetectionPayload): void {
    this.#attempt("a listener", () => this.#emit(DETECTION_CHANNEL, payload));
    const log = this.#config.HOOK_LOG.trim();
    if (log !== "") {
      this.#attempt("HOOK_LOG", () => {
        appendFileSync(resolve(payload.cwd, log), `${JSON.stringify(payload)}\n`);
      });
    }
    const [command, ...args] = this.#config.HOOK_CMD.split(/\s+/).filter((part) => part !== "");
    if (command !== undefined) {
      this.#attempt("HOOK_CMD", () => this.#run(command, args, payload));
    }
  }

  /** Gives hooks that still run a moment to end, and ends those that do not. */
  async close(): Promise<void> {
    const wait = Math.min(this.#config.HOOK_TIMEOUT_MS, MAX_FAREWELL_MS);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((done) => {
      timer = setTimeout(done, wait);
    });
    await Promise.race([Promise.all(this.#running.values()), late]);
    clearTimeout(timer);
    for (const hook of this.#running.keys()) hook.kill("SIGKILL");
  }

  #run(command: string, args: readonly string[], payload: DetectionPayload): void {
    if (this.#running.size >= MAX_HOOKS) return;
    const hook = spawn(command, [...args, JSON.stringify(payload)], {
      cwd: payload.cwd,
      stdio: "ignore",
      windowsHide: true,
    });
    const timeout = this.#config.HOOK_TIMEOUT_MS;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      hook.kill("SIGKILL");
    }, timeout);
    const ended = new Promise<void>((done) => {
      hook.on("error", (error) => {
        this.#warnOnce("HOOK_CMD", `could not be run (${reasonOf(error)})`);
        done();
      });
      hook.on("exit", (code) => {
        if (late) this.#warnOnce("HOOK_CMD", `took longer than ${timeout} ms and was killed`);
        else if (code !== 0) this.#warnOnce("HOOK_CMD", `exited with ${code ?? "a signal"}`);
        done();
      });
    });
    hook.unref();
    this.#running.set(
      hook,
      ended.then(() => this.#forget(hook, timer)),
    );
  }

  #forget(hook: ChildProcess, timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#running.delete(hook);
  }

  #attempt(what: string, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#warnOnce(what, `failed (${reasonOf(error)})`);
    }
  }

  #warnOnce(what: string, problem: string): void {
    if (this.#warned.has(what)) return;
    this.#warned.add(what);
    this.#warn(`loop-police: ${what} ${problem}. Detection goes on; this is said once a session.`);
  }
}
