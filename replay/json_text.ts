/** Reads JSON text, and finds the line and column of what is wrong with it. */

/** What is wrong with a text; a number is too large if it would be read as infinite. */
export type FaultKind = "syntax" | "repeated name" | "number too large";

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly kind: FaultKind;
      readonly line: number;
      readonly column: number;
    };

/**
 * Parses JSON text, and refuses as well what `JSON.parse` would quietly read as something else: a
 * name that an object has twice, and a number beyond the largest one.
 *
 * The first fault is placed at the token that is wrong, or that no JSON document could have there,
 * or within a string at the first bad character. Lines and columns count from 1, and a column is one
 * UTF-16 code unit wide.
 */
export function parseJson(text: string): JsonResult {
  const { kind, offset } = firstFault(text);
  // The runtime judges the syntax, but its message names a place for some faults only.
  const value = kind === "syntax" ? parsed(text) : undefined;
  if (value !== undefined) return { ok: true, value };
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { ok: false, kind, line, column: offset - before.lastIndexOf("\n") };
}

/** The value of a JSON text, which is never undefined; undefined if the text is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the grammar of RFC 8259 allows next; `first…` stands right behind an opening bracket. */
type Next = "value" | "firstValue" | "key" | "firstKey" | "colon" | "separator";

/** An array or object whose end has not come, and the names that it has so far. */
interface Open {
  readonly bracket: "{" | "[";
  readonly names: Set<string>;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** What ends a run of plain characters in a string; U+007F to U+009F are plain in JSON. */
const SPECIAL = /["\\]|(?![\x7f-\x9f])\p{Cc}/gu;

/** The first fault; for a text without any, a fault of its syntax at its end. */
function firstFault(text: string): { kind: FaultKind; offset: number } {
  const open: Open[] = [];
  let next: Next | undefined = "value";
  let offset = matchEnd(SPACE, text, 0);
  for (;;) {
    const mark = text.charAt(offset);
    let end = offset + 1;
    let kind = mark;
    if (mark === '"') {
      const string = scanString(text, end);
      if (!string.closed) return { kind: "syntax", offset: string.offset };
      end = string.offset;
    } else if (!"{}[],:".includes(mark)) {
      end = matchEnd(SCALAR, text, offset);
      kind = "scalar";
    }
    next = mark === "" ? undefined : after(kind, next, open);
    if (next === undefined) return { kind: "syntax", offset };
    const token = text.slice(offset, end);
    if (next === "colon" && isRepeated(token, open)) return { kind: "repeated name", offset };
    if (kind === "scalar" && Math.abs(Number(token)) === Number.POSITIVE_INFINITY) {
      return { kind: "number too large", offset };
    }
    // A word that is no scalar has no length and is met again, where a separator is due.
    offset = matchEnd(SPACE, text, end);
  }
}

/** Whether the innermost object has a name already; the name is added to it. */
function isRepeated(quoted: string, open: readonly Open[]): boolean {
  const { names } = open.at(-1) as Open;
  const before = names.size;
  // Two names may be written in two ways and be the same.
  return names.add(JSON.parse(quoted)).size === before;
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
function after(kind: string, next: Next, open: Open[]): Next | undefined {
  const inside = open.at(-1)?.bracket;
  const wantsKey = next === "key" || next === "firstKey";
  const wantsValue = next === "value" || next === "firstValue";
  const maySeparate = next === "separator" && inside !== undefined;
  if (kind === '"' && wantsKey) return "colon";
  if (kind === '"' || kind === "scalar") return wantsValue ? "separator" : undefined;
  if (kind === ":") return next === "colon" ? "value" : undefined;
  if (kind === ",") return maySeparate ? (inside === "{" ? "key" : "value") : undefined;
  if (kind === "{" || kind === "[") {
    if (!wantsValue) return undefined;
    open.push({ bracket: kind, names: new Set() });
    return kind === "{" ? "firstKey" : "firstValue";
  }
  const mayClose = maySeparate || next === "firstKey" || next === "firstValue";
  if (!mayClose || inside !== (kind === "}" ? "{" : "[")) return undefined;
  open.pop();
  return "separator";
}
