/**
 * Replays recorded sessions that come on standard input, for a program that reads them.
 *
 * Arguments: `NAME=FILE` for each guard, in the order in which Pi would load them. Standard input:
 * one JSON message a line, see `WorkerMessage`. Standard output: one JSON line when it is ready, and one for each `end`:
 * a verdict, or `{"error": "..."}`.
 */

import { readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import type { Tool } from "./arguments.ts";
import { type BranchCall, type Guard, GuardedBranch, type Place } from "./guarded_branch.ts";
import type { RecordedLine } from "./recorded_events.ts";

export type WorkerMessage =
  | readonly ["branch", Place]
  | readonly ["restart"]
  | readonly ["tools", readonly Tool[]]
  | readonly ["prompt", RecordedLine]
  | readonly ["compacted"]
  | readonly ["turn", readonly BranchCall[], RecordedLine?, (readonly RecordedLine[])?]
  | readonly ["drop"]
  | readonly ["end"];

const NEWLINE = 0x0a;

/** Bytes that are read at a time: what a pipe holds. */
const PIECE = 1 << 16;

/** Loads the guards that the arguments name. */
export async function loadGuards(args: readonly string[]): Promise<Guard[]> {
  const guards: Guard[] = [];
  for (const argument of args) {
    const at = argument.indexOf("=");
    const name = argument.slice(0, at);
    const file = argument.slice(at + 1);
    const module: { default?: unknown } = await import(pathToFileURL(file).href);
    if (typeof module.default !== "function") throw new Error(`${file} is no Pi extension`);
    guards.push({ name, factory: module.default as ExtensionFactory });
  }
  return guards;
}

/** Answers every `end` with one line. Nothing that a session holds ends the worker. */
export async function serve(
  guards: readonly Guard[],
  input: AsyncIterable<Uint8Array>,
  answer: (line: string) => void,
): Promise<void> {
  let branch: GuardedBranch | undefined;
  let failure: string | undefined;
  const take = async (message: WorkerMessage): Promise<void> => {
    if (message[0] === "turn") {
      const [, calls, line, results] = message;
      await branch?.turn(calls, line, results);
    } else if (message[0] === "branch") {
      failure = undefined;
      branch = await GuardedBranch.begin(guards, message[1]);
    } else if (message[0] === "restart") await branch?.restart();
    else if (message[0] === "tools") branch?.declareTools(message[1]);
    else if (message[0] === "prompt") await branch?.prompt(message[1]);
    else if (message[0] === "compacted") await branch?.compacted();
    else if (message[0] === "drop") branch = undefined;
    else answer(JSON.stringify(failure === undefined ? branch?.end() : { error: failure }));
  };
  for await (const text of wholeLines(input)) {
    for (const line of text.split("\n")) {
      const message = JSON.parse(line) as WorkerMessage;
      try {
        await take(message);
      } catch (error) {
        branch = undefined;
        failure ??= String(error);
      }
    }
  }
}

/** What comes in, cut behind the last line that is complete, without its end. */
async function* wholeLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array[] = [];
  for await (const chunk of input) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end !== -1) {
      yield Buffer.concat([...pending, chunk.subarray(0, end)]).toString();
      pending = [];
    }
    // A copy, for what comes next may be read into the same memory.
    if (end + 1 < chunk.length) pending.push(Uint8Array.from(chunk.subarray(end + 1)));
  }
}

/**
 * Reads an open file to its end, as a pipe brings it. What is yielded is valid until the next piece.
 *
 * It waits in the read itself: a stream costs several times as much for each of the many short
 * waits. Timers and the like of the guards run between two pieces.
 */
export async function* readPieces(file: number): AsyncGenerator<Uint8Array> {
  const memory = Buffer.allocUnsafe(PIECE);
  for (;;) {
    const length = readSync(file, memory);
    if (length === 0) return;
    yield memory.subarray(0, length);
    await setImmediate();
  }
}
