import type { Config } from "../config/keys.ts";
import { BoundedMap } from "./bounded_map.ts";
import { PendingUndo } from "./pending_undo.ts";
import type { Call, Detection, Detector, Observation } from "./types.ts";

/** Files whose reads are counted; beyond that the one not read for longest is forgotten. */
const MAX_FILES = 10_000;

/**
 * One file read over and over: `FILE_SCAN_LIMIT` reads of a path, whatever their line ranges. Only
 * reads that ran count, and a change of the file starts the count anew.
 */
export function createFileScan(config: Readonly<Config>): Detector {
  const reads = new BoundedMap<string, number>(MAX_FILES);
  const pending = new PendingUndo();

  function judge(call: Call): Detection | undefined {
    if (config.FILE_SCAN_LIMIT === 0 || call.role !== "read") return undefined;
    const full = call.paths.find((path) => countOf(path) >= config.FILE_SCAN_LIMIT);
    return full === undefined ? undefined : found(call.tool, full, countOf(full));
  }

  function countOf(path: string): number {
    return reads.get(path) ?? 0;
  }

  function countRead(call: Call): void {
    for (const path of call.paths) reads.set(path, countOf(path) + 1);
    pending.add(call.id, () => {
      for (const path of call.paths) reads.set(path, Math.max(0, countOf(path) - 1));
    });
  }

  function startAnew(call: Call): void {
    const before = call.paths.map((path) => [path, countOf(path)] as const);
    for (const path of call.paths) reads.delete(path);
    pending.add(call.id, () => {
      for (const [path, count] of before) reads.set(path, countOf(path) + count);
    });
  }

  function forget(): void {
    reads.clear();
    pending.clear();
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "call") return judge(seen.call);
    if (seen.kind === "prompt" || seen.kind === "context_lost") forget();
    if (seen.kind === "changed") for (const path of seen.paths) reads.delete(path);
    if (seen.kind === "admitted" && seen.call.role === "read") countRead(seen.call);
    if (seen.kind === "admitted" && seen.call.role === "write") startAnew(seen.call);
    if (seen.kind === "result") pending.settle(seen.call.id, didItsWork(seen));
    return undefined;
  }

  return { observe, reset: forget, status: () => `files read: ${reads.size}` };
}

/** A read counts as soon as it ran; a change only if it succeeded. */
function didItsWork(seen: { call: Call; ran: boolean; isError: boolean }): boolean {
  return seen.ran && (seen.call.role === "read" || !seen.isError);
}

function found(toolName: string, path: string, count: number): Detection {
  return {
    event: "file_scan_loop",
    details: { toolName, path, count },
    advice: { key: "MSG_FILE_SCAN_LOOP", values: { path, count } },
    response: { kind: "block", terminate: false },
  };
}
