/** Reads JSON text, and finds the line and column of what is wrong with it. */

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line: number; readonly column: number };

/**
 * Parses JSON text. A fault is placed at the first token that no JSON document could have there, or
 * within a string at the first bad character. Lines and columns count from 1, and a column is one
 * UTF-16 code unit wide.
 */
export function parseJson(text: string): JsonResult {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // The runtime's own message names a place for some faults only.
    const before = text.slice(0, faultOffset(text)).split("\n");
    return { ok: false, line: before.length, column: (before.at(-1) ?? "").length + 1 };
  }
}

/** What the grammar of RFC 8259 allows next; `first…` stands right behind an opening bracket. */
type Next = "value" | "firstValue" | "key" | "firstKey" | "colon" | "separator";
type Bracket = "{" | "[";

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** What ends a run of plain characters in a string; U+007F to U+009F are plain in JSON. */
const SPECIAL = /["\\]|(?![\x7f-\x9f])\p{Cc}/gu;

function faultOffset(text: string): number {
  const open: Bracket[] = [];
  let next: Next | undefined = "value";
  let offset = matchEnd(SPACE, text, 0);
  for (;;) {
    const mark = text.charAt(offset);
    let end = offset + 1;
    let kind = mark;
    if (mark === '"') {
      const string = scanString(text, end);
      if (!string.closed) return string.offset;
      end = string.offset;
    } else if (!"{}[],:".includes(mark)) {
      end = matchEnd(SCALAR, text, offset);
      kind = "scalar";
    }
    next = end === offset || mark === "" ? undefined : after(kind, next, open);
    if (next === undefined) return offset;
    offset = matchEnd(SPACE, text, end);
  }
}

/** Where a sticky pattern's match at `offset` ends: `offset` itself if there is none. */
function matchEnd(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : offset;
}

/** The offset behind a string's closing quote, or of what keeps the string from being closed. */
function scanString(text: string, start: number): { closed: boolean; offset: number } {
  let offset = start;
  for (;;) {
    SPECIAL.lastIndex = offset;
    const special = SPECIAL.exec(text);
    if (!special) return { closed: false, offset: text.length };
    if (special[0] === '"') return { closed: true, offset: special.index + 1 };
    offset = matchEnd(ESCAPE, text, special.index);
    if (offset === special.index) return { closed: false, offset };
  }
}

/** What may follow a token of this kind, or undefined if it may not stand here itself. */
function after(kind: string, next: Next, open: Bracket[]): Next | undefined {
  const inside = open.at(-1);
  const wantsKey = next === "key" || next === "firstKey";
  const wantsValue = next === "value" || next === "firstValue";
  const maySeparate = next === "separator" && inside !== undefined;
  if (kind === '"' && wantsKey) return "colon";
  if (kind === '"' || kind === "scalar") return wantsValue ? "separator" : undefined;
  if (kind === ":") return next === "colon" ? "value" : undefined;
  if (kind === ",") return maySeparate ? (inside === "{" ? "key" : "value") : undefined;
  if (kind === "{" || kind === "[") {
    if (!wantsValue) return undefined;
    open.push(kind);
    return kind === "{" ? "firstKey" : "firstValue";
  }
  const mayClose = maySeparate || next === "firstKey" || next === "firstValue";
  if (!mayClose || inside !== (kind === "}" ? "{" : "[")) return undefined;
  open.pop();
  return "separator";
}
