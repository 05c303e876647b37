/** What a call is, before anything came back: which evidence will count for it. */

import type { Call } from "../../detectors/types.ts";
import { hashText } from "../text/hash.ts";
import { type LineRange, readShell } from "./shell.ts";

/**
 * - `read`, `search`, `list`: only look; the same answer again is nothing new, whatever was asked.
 * - `change`: alters files or processes; a new one that succeeds makes later looks fresh.
 * - `send`: reaches somebody outside.
 * - `step`: moves relative to where things are (a key, a scroll): meant to be repeated.
 * - `wait`: passes time.
 * - `action`: all the rest.
 */
export type CallKind = "read" | "search" | "list" | "change" | "send" | "step" | "wait" | "action";

export interface Profile {
  readonly id: string;
  readonly tool: string;
  readonly kind: CallKind;
  /** Equal for calls that differ only cosmetically. */
  readonly key: number;
  /** The tool, or the program that a shell command runs: what fails when it fails again. */
  readonly family: string;
  /** The beginning of what the key is made from, to tell how alike two calls are. */
  readonly spelling: string;
  /** Its name says that it fetches something and does nothing. */
  readonly asks: boolean;
  /** What a search looks for, for the message. */
  readonly query: string;
  /** Lines of files that a read will show; NaN where only the content can tell. */
  readonly ranges: readonly LineRange[];
  /** Where a search or listing looks, if it names exactly one place. */
  readonly place: string;
  readonly asksForState: boolean;
  readonly waits: boolean;
  /** It measures: run again, it may well say something else about the same. */
  readonly measures: boolean;
}

const SHELLS =
  /^(?:bash|sh|shell|zsh|exec|terminal|cmd|powershell|run_?command|execute_?command|shell_?command|run_?terminal_?cmd)$/i;
const TOKENS: readonly (readonly [CallKind, RegExp])[] = [
  ["search", /^(?:search|grep|find|query|lookup|rg)$/],
  ["list", /^(?:ls|list|glob|tree|dir)$/],
  ["send", /^(?:send|post|message|reply|notify|email|mail|comment|publish|tweet)$/],
  [
    "step",
    /^(?:press|key|scroll|move|step|next|previous|tap|undo|redo|tick|advance|forward|back)$/,
  ],
  ["wait", /^(?:sleep|wait)$/],
  [
    "change",
    /^(?:write|edit|create|update|insert|delete|remove|rename|patch|replace|apply|save|upload|install|add|set|put)$/,
  ],
  ["read", /^(?:read|view|open|cat|fetch|get|show)$/],
];
/** Arguments that tell the reader why: they change nothing about the call. */
const REMARKS =
  /^(?:description|reason|reasoning|explanation|thought|rationale|purpose|justification|attempt|nonce|request_?id|timestamp|_.*)$/i;

/** How deep and how far arguments are read; beyond it, the key that Pi's side made decides. */
const DEEPEST = 12;
const LONGEST = 20_000;
/** Characters of the arguments that are compared with those of other calls. */
const SPELLED = 300;
const MEASURING =
  /(?:^|[\W_])(?:ping|bench\w*|hyperfine|perf|measure\w*|latency|timeit|speedtest|iperf3?)(?:$|[\W_])/;
const ASKING =
  /(?:^|_)(?:get|fetch|read|view|show|describe|check|browse|inspect|snapshot|screenshot|open|load|visit|navigate|download)(?:_|$)/;

export function profileOf(call: Call): Profile {
  try {
    const input = isRecord(call.input) ? call.input : {};
    const shell = SHELLS.test(lastToken(call.tool));
    const command = shell ? text(input, "command", "cmd", "script") : "";
    return command === "" ? toolProfile(call, input) : shellProfile(call, command);
  } catch {
    // Arguments that cannot be read (a getter that throws) are known by their key alone.
    return toolProfile({ ...call, input: {} }, {});
  }
}

function shellProfile(call: Call, command: string): Profile {
  const shell = readShell(command);
  return {
    id: call.id,
    tool: call.tool,
    kind: shell.kind === "other" ? "action" : shell.kind,
    key: hashText(`shell ${shell.canonical}`),
    spelling: shell.canonical.slice(0, SPELLED),
    asks: /^(?:curl|wget|http|https|xh)$/.test(shell.program),
    family: `${call.tool} ${shell.program}`,
    query: shell.canonical.slice(0, 120),
    ranges: shell.ranges,
    place: onePlace(shell.canonical),
    asksForState: shell.asksForState,
    waits: shell.waits,
    measures: MEASURING.test(shell.canonical),
  };
}

/** The only file or folder of a search or listing, so that equal lines of two places differ. */
function onePlace(canonical: string): string {
  const places = canonical
    .split(" ")
    .slice(1)
    .filter((word) => !word.startsWith("-"));
  return tidy(places.at(-1) ?? ".");
}

function toolProfile(call: Call, input: Readonly<Record<string, unknown>>): Profile {
  const kind = kindOf(call);
  const path = call.paths[0] ?? "";
  const spelling = stable(input, call.key);
  const words = text(input, "query", "pattern", "q", "regex", "search", "text", "sql");
  return {
    id: call.id,
    tool: call.tool,
    kind,
    key: hashText(`${call.tool} ${spelling}`),
    spelling: spelling.slice(0, SPELLED),
    asks: kind === "action" && ASKING.test(snake(call.tool)),
    family: call.tool,
    query: (call.pattern ?? words).slice(0, 120),
    ranges: kind === "read" && call.paths.length === 1 ? [rangeOf(path, input)] : [],
    place: kind === "list" || call.paths.length === 1 ? tidy(path === "" ? "." : path) : "",
    asksForState: /(?:^|_)(?:status|state|poll|health|progress|job|jobs)(?:_|$)/.test(
      snake(call.tool),
    ),
    waits: kind === "wait",
    measures: MEASURING.test(snake(call.tool)),
  };
}

function kindOf(call: Call): CallKind {
  const tokens = snake(call.tool).split("_");
  if (call.role === "write") return "change";
  if (call.role === "read") return "read";
  for (const [kind, pattern] of TOKENS) {
    if (kind === "read" && call.paths.length === 0) continue;
    if (tokens.some((token) => pattern.test(token))) return kind;
  }
  const input = isRecord(call.input) ? call.input : {};
  if (/scroll|press|next|step/i.test(text(input, "action", "type", "key"))) return "step";
  return call.role === "search" ? "search" : "action";
}

/** `mcp__fs__readFile` -> `mcp_fs_read_file`. */
function snake(name: string): string {
  return name
    .slice(0, 200)
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "_");
}

function lastToken(tool: string): string {
  return tool.slice(tool.lastIndexOf("__") < 0 ? 0 : tool.lastIndexOf("__") + 2);
}

/** The lines that a reading tool is asked for, in the spellings that tools use. */
function rangeOf(path: string, input: Readonly<Record<string, unknown>>): LineRange {
  const { view_range: view } = input;
  if (Array.isArray(view)) {
    return { path, from: natural(view[0]) ?? 1, to: natural(view[1]) ?? Number.POSITIVE_INFINITY };
  }
  const from = firstNatural(
    input,
    "offset",
    "start_line",
    "startLine",
    "line_start",
    "start",
    "from",
  );
  const limit = firstNatural(input, "limit", "count", "lines", "num_lines", "max_lines", "length");
  const end = firstNatural(input, "end_line", "endLine", "line_end", "end", "to");
  const first = from ?? 1;
  return {
    path,
    from: first,
    to: end ?? (limit === undefined ? Number.POSITIVE_INFINITY : first + limit - 1),
  };
}

function firstNatural(
  input: Readonly<Record<string, unknown>>,
  ...names: string[]
): number | undefined {
  for (const name of names) {
    const value = natural(input[name]);
    if (value !== undefined) return value;
  }
  return undefined;
}

function natural(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= 0 ? number : undefined;
}

function text(input: Readonly<Record<string, unknown>>, ...names: string[]): string {
  for (const name of names) {
    const value = input[name];
    if (typeof value === "string" && value.trim() !== "") return value;
  }
  return "";
}

function tidy(path: string): string {
  return path
    .trim()
    .replace(/\/{2,}/g, "/")
    .replace(/^(?:\.\/)+(?=.)/, "")
    .replace(/(?<=.)\/$/, "");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text of the arguments in which order, spacing, path spelling and remarks do not count. */
function stable(input: Readonly<Record<string, unknown>>, fallback: string): string {
  const names = Object.keys(input);
  const meant = names.filter((name) => !REMARKS.test(name));
  const parts: string[] = [];
  const budget = { left: LONGEST };
  for (const name of (meant.length > 0 ? meant : names).sort()) {
    parts.push(JSON.stringify(name), spell(input[name], 0, budget));
  }
  return names.length > 0 && budget.left > 0 ? parts.join(" ") : fallback;
}

function spell(value: unknown, depth: number, budget: { left: number }): string {
  budget.left -= typeof value === "string" ? value.length : 1;
  if (depth > DEEPEST) budget.left = 0;
  if (budget.left <= 0) return "…";
  if (typeof value === "string") {
    const calm = value.trim().replace(/\s+/g, " ");
    if (/^\d+$/.test(calm)) return calm;
    return JSON.stringify(/^[\w./~-]+$/.test(calm) ? tidy(calm) : calm);
  }
  if (Array.isArray(value)) return `[${value.map((v) => spell(v, depth + 1, budget)).join(",")}]`;
  if (isRecord(value)) {
    const fields = Object.keys(value).sort();
    return `{${fields.map((f) => `${f}:${spell(value[f], depth + 1, budget)}`).join(",")}}`;
  }
  return String(value);
}
