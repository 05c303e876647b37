import type { Config } from "../config/keys.ts";
import { BoundedMap } from "./bounded_map.ts";
import { PendingUndo } from "./pending_undo.ts";
import type { Call, Detection, Detector, Observation } from "./types.ts";

/** Patterns remembered, and places remembered of each. */
const MAX_PATTERNS = 1000;
const MAX_PLACES = 10_000;

/** Where a search looks that names no path. */
const EVERYWHERE = "*";

/**
 * The same pattern searched in ever more places: a search that would reach `SEARCH_EXPAND_LIMIT`
 * of them is refused. It is not recorded, so the places already searched stay open.
 */
export function createSearchSpiral(config: Readonly<Config>): Detector {
  const searched = new BoundedMap<string, BoundedMap<string, true>>(MAX_PATTERNS);
  const pending = new PendingUndo();

  function judge(call: Call): Detection | undefined {
    if (config.SEARCH_EXPAND_LIMIT === 0 || !isSearch(call)) return undefined;
    const known = searched.get(call.pattern);
    const fresh = placesOf(call).filter((place) => !known?.has(place)).length;
    const paths = (known?.size ?? 0) + fresh;
    if (fresh === 0 || paths < config.SEARCH_EXPAND_LIMIT) return undefined;
    return found(call.tool, call.pattern, paths);
  }

  function record(call: Call & { readonly pattern: string }): void {
    const known = searched.get(call.pattern) ?? new BoundedMap<string, true>(MAX_PLACES);
    const fresh = placesOf(call).filter((place) => !known.has(place));
    for (const place of fresh) known.set(place, true);
    searched.set(call.pattern, known);
    pending.add(call.id, () => {
      for (const place of fresh) known.delete(place);
    });
  }

  function forget(): void {
    searched.clear();
    pending.clear();
  }

  function observe(seen: Observation): Detection | undefined {
    if (seen.kind === "call") return judge(seen.call);
    if (seen.kind === "prompt") forget();
    if (seen.kind === "admitted" && isSearch(seen.call)) record(seen.call);
    if (seen.kind === "result") pending.settle(seen.call.id, seen.ran);
    return undefined;
  }

  return { observe, reset: forget, status: () => `patterns searched: ${searched.size}` };
}

function isSearch(call: Call): call is Call & { readonly pattern: string } {
  return call.role === "search" && call.pattern !== undefined;
}

function placesOf(call: Call): readonly string[] {
  return call.paths.length === 0 ? [EVERYWHERE] : call.paths;
}

function found(toolName: string, pattern: string, paths: number): Detection {
  return {
    event: "search_spiral",
    details: { toolName, pattern, paths },
    advice: { key: "MSG_SEARCH_SPIRAL", values: { pattern, paths } },
    response: { kind: "block", terminate: false },
  };
}
