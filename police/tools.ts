/** Tells from a tool's name and arguments what it does, and to which paths. */

import type { Config } from "./config/keys.ts";
import type { ToolRole } from "./detectors/types.ts";

/**
 * Words of a name that tell what a tool does. A name is cut into its words first, so `file_read`
 * and `mcp__fs__readFile` read, and `preview` and `concat` do not. The first role with a word in
 * the name wins: a tool that may write must not be taken for one that only looks.
 */
const ROLE_WORDS: readonly (readonly [ToolRole, ReadonlySet<string>])[] = [
  ["write", new Set(["write", "edit", "create", "replace", "patch", "insert", "append", "delete"])],
  ["search", new Set(["grep", "rg", "ripgrep", "search", "find", "glob"])],
  ["read", new Set(["read", "view", "cat", "head", "tail"])],
];

/** Tools whose names say something else than they do. */
const ROLE_TABLE: ReadonlyMap<string, ToolRole> = new Map([
  ["bash", "other"],
  ["todo_read", "other"],
  ["todoread", "other"],
  ["open_file", "read"],
  ["str_replace", "write"],
]);

/** Tools that do several things and are told which by their `command`. */
const VIEW_COMMANDS = new Set(["view", "read"]);

const PATH_NAMES = [
  "path",
  "paths",
  "file_path",
  "filePath",
  "filename",
  "file",
  "files",
  "absolute_path",
  "target_file",
  "uri",
  "directory",
  "dir",
];

const PATTERN_NAMES = ["pattern", "query", "regex", "search", "term"];

/** Paths of one call that are looked at: tools that read many files take some dozens. */
const MAX_PATHS = 100;

/** What the tool does. The user's lists come first, then the table, then the name's words. */
export function toolRole(tool: string, input: unknown, config: Readonly<Config>): ToolRole {
  if (isListed(tool, config.READ_TOOLS)) return "read";
  if (isListed(tool, config.WRITE_TOOLS)) return "write";
  if (isListed(tool, config.SEARCH_TOOLS)) return "search";
  const known = ROLE_TABLE.get(tool.toLowerCase());
  if (known !== undefined) return known;
  const words = wordsOfName(tool);
  const role = ROLE_WORDS.find(([, wanted]) => words.some((word) => wanted.has(word)))?.[0];
  if (role === "write" && VIEW_COMMANDS.has(String(textsOf(input, ["command"])[0]))) return "read";
  return role ?? "other";
}

/** The paths that a call names, as they are written. */
export function writtenPaths(input: unknown): readonly string[] {
  return textsOf(input, PATH_NAMES).slice(0, MAX_PATHS);
}

/** What a search looks for. */
export function searchPattern(input: unknown): string | undefined {
  return textsOf(input, PATTERN_NAMES)[0];
}

/** Whether a comma-separated list names the tool; case does not matter. */
export function isListed(tool: string, list: string): boolean {
  if (list === "") return false;
  const wanted = tool.toLowerCase();
  return list.split(",").some((name) => name.trim().toLowerCase() === wanted);
}

/** The words of a name, in lower case: cut at signs, and where a capital follows a small letter. */
function wordsOfName(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

/** The texts under the first of the names that has any: a text, or the texts of a list. */
function textsOf(input: unknown, names: readonly string[]): readonly string[] {
  if (typeof input !== "object" || input === null) return [];
  for (const name of names) {
    const value: unknown = (input as Record<string, unknown>)[name];
    const texts = (Array.isArray(value) ? value : [value]).filter(isText);
    if (texts.length > 0) return texts;
  }
  return [];
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
