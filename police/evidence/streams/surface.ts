/** What a line of text is at the surface: prose, or one of the forms that repeat by nature. */

export type Surface =
  | "blank"
  | "fence"
  | "rule"
  | "table"
  | "log"
  | "data"
  | "code"
  | "heading"
  | "list"
  | "prose";

/** Forms in which equal or nearly equal lines are what the reader wants (rows 1 to 5, 19, 49). */
const REGULAR: ReadonlySet<Surface> = new Set(["rule", "table", "log", "data", "code"]);

const FENCE = /^\s*(?:```|~~~)/;
const LETTER = /\p{L}/u;
const TABLE = /^\s*[|│┃║]|[^|\s]\s+\|\s+.*\|/;
const LOG =
  /^\s*[[(]?(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[\]:\s])/;
const JSON_LINE = /^\s*(?:[{}[\]]|"[^"]*"\s*:)|[{[]\s*$|["'\])}\d],\s*$/;
const CSV = /^[^\s,;]+(?:[,;][^,;]*){2,}$/;
const KEYWORD =
  /^\s*(?:import|from|export|#include|using|package|require|const|let|var|def|class|function|func|fn|return|public|private|protected|static|struct|enum|interface|type|@\w+|if\s*\(|for\s*\(|while\s*\(|else\b|elif\b|try\b|switch\b)[\s{(:;]?.*[=(){};:"'<>]/;
const MARKUP = /^\s*<[/!?]?[a-z][^<>]*>?/i;
const SQL =
  /^\s*(?:INSERT INTO|SELECT\b.*\bFROM|UPDATE\b.*\bSET|DELETE FROM|(?:CREATE|ALTER|DROP) TABLE)\b/;
const CODE_END = /(?:[;{}]|=>|\\)\s*$/;
const YAML = /^\s*- +[a-z_][\w.-]*:(?: +\S+){0,3}\s*$/;
const LIST = /^\s*(?:[-*+•‣◦]|\(?(?:\d{1,4}|[a-z])[.)、．])\s*(?=\S)/;
const HEADING = /^\s*#{1,6}\s/;

const SHORT_CELLS = 24;

export function surfaceOf(line: string): Surface {
  if (line.trim() === "") return "blank";
  if (FENCE.test(line)) return "fence";
  if (!LETTER.test(line)) return /\d/.test(line) ? "data" : "rule";
  if (HEADING.test(line)) return "heading";
  if (TABLE.test(line)) return "table";
  if (LOG.test(line)) return "log";
  if (YAML.test(line)) return "data";
  if (LIST.test(line)) return "list";
  if (
    MARKUP.test(line) ||
    SQL.test(line) ||
    KEYWORD.test(line) ||
    CODE_END.test(line) ||
    /^(?: {4}|\t)/.test(line)
  )
    return "code";
  if (JSON_LINE.test(line) || isData(line) || isCells(line)) return "data";
  return "prose";
}

export function isRegular(surface: Surface): boolean {
  return REGULAR.has(surface);
}

/** Addresses, paths, values: one long token, separated fields, or more digits than words. */
function isData(line: string): boolean {
  const text = line.trim();
  if (CSV.test(text) && !/[,;] /.test(text)) return true;
  if (!/\s/.test(text) && /[/:_\\=]/.test(text)) return true;
  const digits = text.replace(/[^\d]/g, "").length;
  return digits * 3 > text.length;
}

/** A row of results: a word or two, or the same few over and over, and no sentence (row 19). */
function isCells(line: string): boolean {
  if (/[.,;:!?。，！？：]/.test(line)) return false;
  const words = line.trim().split(/\s+/);
  if (words.length <= 2) return line.trim().length <= SHORT_CELLS;
  return new Set(words).size * 2 <= words.length;
}
