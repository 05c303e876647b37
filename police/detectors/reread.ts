import type { Config } from "../config/keys.ts";
import { BoundedMap } from "./bounded_map.ts";
import { PendingUndo } from "./pending_undo.ts";
import type { Call, Detection, Detector, Observation } from "./types.ts";

/** Files known to be read; beyond that the one not read for longest is forgotten. */
const MAX_FILES = 10_000;

/** A read in the window; an object of its own, so that it can be taken out again. */
interface Read {
  readonly redundant: boolean;
}

/**
 * A model that has lost track of what it read: `REREAD_RATIO` of the last `REREAD_WINDOW` reads are
 * re-reads of files that have not changed since. The window is emptied when it fires.
 */
export function createReread(config: Readonly<Config>): Detector {
  const seenFiles = new BoundedMap<string, true>(MAX_FILES);
  const pending = new PendingUndo();
  let reads: Read[] = [];

  function judge(call: Call): Detection | undefined {
    const window = config.REREAD_WINDOW;
    if (window === 0 || call.role !== "read") return undefined;
    const path = knownPath(call);
    // A file that is new to the model is never refused, whatever was read before it.
    if (path === undefined || reads.length < window - 1) return undefined;
    // The window's other reads; this one is the last of it.
    const others = reads.slice(reads.length - (window - 1));
    const count = others.filter((read) => read.redundant).length + 1;
    if (count / window < config.REREAD_RATIO) return undefined;
    reads = [];
    return found(call.tool, path, count, window);
  }

  /** The file this call shows again, if it shows nothing else. */
  function knownPath(call: Call): string | undefined {
    return call.paths.every((path) => seenFiles.has(path)) ? call.paths[0] : undefined;
  }

  function countRead(call: Call): void {
    if (call.paths.length === 0) return;
    const read = { redundant: knownPath(call) !== undefined };
    const fresh = call.paths.filter((path) => !seenFiles.has(path));
    reads = [...reads, read].slice(-config.REREAD_WINDOW);
    for (const path of call.paths) seenFiles.set(path, true);
    pending.add(call.id, () => {
      reads = reads.filter((other) => other !== read);
      for (const path of fresh) seenFiles.delete(path);
    });
  }

  function makeFresh(call: Call): void {
    const known = call.paths.filter((path) => seenFiles.delete(path));
    pending.add(call.id, () => {
      for (const path of known) seenFiles.set(path, true);
    });
  }

  function forget(): void {
    reads = [];
    seenFiles.clear();
    pending.clear();
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "call") return judge(seen.call);
    if (seen.kind === "prompt" || seen.kind === "context_lost") forget();
    if (seen.kind === "changed") for (const path of seen.paths) seenFiles.delete(path);
    if (config.REREAD_WINDOW > 0 && seen.kind === "admitted") {
      if (seen.call.role === "read") countRead(seen.call);
      if (seen.call.role === "write") makeFresh(seen.call);
    }
    // A read that failed showed nothing, a change that failed changed nothing.
    if (seen.kind === "result") pending.settle(seen.call.id, seen.ran && !seen.isError);
    return undefined;
  }

  const redundant = (): number => reads.filter((read) => read.redundant).length;
  return {
    observe,
    reset: forget,
    status: () => `re-reads: ${redundant()} of the last ${reads.length} reads`,
  };
}

function found(toolName: string, path: string, count: number, window: number): Detection {
  return {
    event: "redundant_reread",
    details: { toolName, path, count, window },
    advice: { key: "MSG_REREAD", values: { path, count, window } },
    response: { kind: "block", terminate: false },
  };
}
