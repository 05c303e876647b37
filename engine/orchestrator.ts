/**
 * Satyrn Engine's `/implement CONTRACT`: asks the Python side whether a contract can be worked on.
 *
 * It sends one JSON request to one `satyrn-engine protocol` process and shows what came of it. The
 * file is self-contained, so that Pi can load it from a package or by itself.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** The version of requests and responses. */
const VERSION = 1;

/** How long the engine may take, in milliseconds: `uvx` may have to fetch it first. */
const TIMEOUT_MS = 30_000;

/** A response is one line; more than this many characters are none. */
const MAX_RESPONSE = 1 << 20;

/** Names the engine's command; else it is looked for on `PATH`, and then asked of `uvx`. */
const COMMAND_VARIABLE = "SATYRN_ENGINE";
const COMMANDS = ["satyrn-engine", "uvx satyrn-engine"];

/** What the exit codes of the engine mean, for when it gives no response. 1 is a crash. */
const EXIT_CODES: Readonly<Record<number, string>> = {
  2: "USAGE",
  3: "CONTRACT_UNREADABLE",
  4: "CONTRACT_INVALID_YAML",
  5: "CONTRACT_MISSING_FIELD",
  6: "REPO_UNAVAILABLE",
  7: "INVALID_REQUEST",
};

/** What came of a request. */
export interface EngineResponse {
  readonly ok: boolean;
  /** `OK`, a refusal of the engine's, or one of the adapter's own, which begin with `ENGINE_`. */
  readonly code: string;
  /** A sentence for the user. */
  readonly message: string;
}

/** What the adapter takes from its surroundings. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** How a process of the engine ended. */
type Ending =
  | { readonly kind: "not_started"; readonly reason: string; readonly missing: boolean }
  | { readonly kind: "timeout" }
  | { readonly kind: "ended"; readonly exit: number | string; readonly said: string };

/** Registers `/implement` with Pi. */
export default function orchestrator(pi: ExtensionAPI): void {
  pi.registerCommand("implement", {
    description: "Check a contract: /implement CONTRACT",
    handler: async (args, ctx) => {
      const contract = args.trim();
      const { code, message, ok } =
        contract === ""
          ? { ok: false, code: "USAGE", message: "name a contract: /implement CONTRACT" }
          : await askEngine(ctx.cwd, resolve(ctx.cwd, contract));
      const text = `${code}: ${message}`;
      if (ctx.hasUI) ctx.ui.notify(text, ok ? "info" : "error");
      else process.stderr.write(`${text}\n`);
    },
  });
}

/** Asks the engine to check a contract. Whatever goes wrong is in the response, never thrown. */
export async function askEngine(
  repo: string,
  contract: string,
  { env, timeoutMs }: Surroundings = { env: process.env, timeoutMs: TIMEOUT_MS },
): Promise<EngineResponse> {
  const request = JSON.stringify({ version: VERSION, operation: "check", repo, contract });
  const chosen = env[COMMAND_VARIABLE]?.trim();
  const commands = chosen ? [chosen] : COMMANDS;
  // Without the folder nothing could be started in it, and it is the engine's to say that it is gone.
  const cwd = existsSync(`${repo}/.`) ? repo : tmpdir();
  const failed: string[] = [];
  for (const command of commands) {
    const ending = await run(command, request, cwd, env, timeoutMs);
    if (ending.kind !== "not_started") return responseOf(ending, command, timeoutMs);
    failed.push(`${command} (${ending.reason})`);
    if (!ending.missing) break;
  }
  const remedy = `Install it with "uv tool install satyrn-engine", or name it in $${COMMAND_VARIABLE}.`;
  const message = `the engine could not be started; tried ${failed.join(", ")}. ${remedy}`;
  return { ok: false, code: "ENGINE_START_FAILED", message };
}

function responseOf(
  ending: Exclude<Ending, { kind: "not_started" }>,
  command: string,
  timeoutMs: number,
): EngineResponse {
  if (ending.kind === "timeout") {
    const message = `${command} gave no response within ${timeoutMs / 1000} s and was ended.`;
    return { ok: false, code: "ENGINE_TIMEOUT", message };
  }
  const { exit, said } = ending;
  const response = parse(said);
  if (response !== undefined) return response;
  const code = typeof exit === "number" ? EXIT_CODES[exit] : undefined;
  if (code !== undefined) {
    return { ok: false, code, message: `${command} ended with ${exit} and gave no response.` };
  }
  if (exit !== 0) {
    return { ok: false, code: "ENGINE_CRASHED", message: `${command} ended with ${exit}.` };
  }
  const message = `${command} gave a response that cannot be understood.`;
  return { ok: false, code: "ENGINE_MALFORMED_RESPONSE", message };
}

function parse(text: string): EngineResponse | undefined {
  try {
    const { version, ok, code, message } = JSON.parse(text);
    const sound =
      version === VERSION &&
      typeof ok === "boolean" &&
      typeof code === "string" &&
      typeof message === "string" &&
      ok === (code === "OK");
    return sound ? { ok, code, message } : undefined;
  } catch {
    return undefined;
  }
}

/** The words of a command; quotes keep a path with spaces together. */
function words(command: string): string[] {
  return Array.from(command.matchAll(/"[^"]*"|\S+/g), ([part]) => part.replace(/^"(.*)"$/, "$1"));
}

/** Runs the command in a folder, with the request on its standard input. */
function run(
  command: string,
  request: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<Ending> {
  const [program = "", ...args] = words(command);
  return new Promise((done) => {
    let engine: ChildProcessWithoutNullStreams;
    try {
      // A group of its own, so that what `uvx` starts can be ended with it.
      engine = spawn(program, [...args, "protocol"], { cwd, env, detached: true });
    } catch (error) {
      done({ kind: "not_started", reason: String(error), missing: false });
      return;
    }
    let said = "";
    const timer = setTimeout(() => {
      end(engine);
      done({ kind: "timeout" });
    }, timeoutMs);
    const settle = (ending: Ending) => {
      clearTimeout(timer);
      done(ending);
    };
    engine.on("error", (error: NodeJS.ErrnoException) => {
      const missing = error.code === "ENOENT";
      settle({ kind: "not_started", reason: missing ? "not found" : error.message, missing });
    });
    engine.on("close", (code, signal) => {
      settle({ kind: "ended", exit: code ?? (signal as string), said });
    });
    engine.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.length > MAX_RESPONSE) end(engine);
    });
    // What it says there is for its own user; the pipe must not fill up.
    engine.stderr.resume();
    // It may end without reading the request; how it ended tells why.
    engine.stdin.on("error", () => {});
    engine.stdin.end(request);
  });
}

function end(engine: ChildProcessWithoutNullStreams): void {
  try {
    process.kill(-(engine.pid as number), "SIGKILL");
  } catch {
    engine.kill("SIGKILL");
  }
}
