/** How much the calls of a session repeat, whatever a guard makes of it. */

import { hash } from "node:crypto";

/** Successive calls among which the strongest repeat is looked for: what the loop breaker looks at. */
const WINDOW = 20;

/** A longer key is replaced by its digest, so that a session's last calls take little memory. */
const LONG_KEY = 1024;

/** Counts identical calls: the same tool with the same input, in whatever order its fields stand. */
export class Repetition {
  /** The most identical calls that directly followed one another. */
  longestRun = 0;
  /** The most identical calls among any twenty that followed one another. */
  strongestRepeat = 0;
  readonly #recent: (string | undefined)[] = [];
  #last: string | undefined;
  #run = 0;

  /** Counts a call. One that is too deep for a key is like no other. */
  count(toolName: string, input: unknown): void {
    const key = keyOf(toolName, input);
    this.#run = key !== undefined && key === this.#last ? this.#run + 1 : 1;
    this.#last = key;
    this.#recent.push(key);
    if (this.#recent.length > WINDOW) this.#recent.shift();
    let equal = 0;
    for (const other of this.#recent) if (other !== undefined && other === key) equal += 1;
    this.longestRun = Math.max(this.longestRun, this.#run);
    this.strongestRepeat = Math.max(this.strongestRepeat, equal, 1);
  }
}

function keyOf(toolName: string, input: unknown): string | undefined {
  try {
    const key = JSON.stringify([toolName, ordered(input)]);
    return key.length > LONG_KEY ? hash("sha256", key, "base64") : key;
  } catch {
    return undefined;
  }
}

/** The same value with the fields of all objects in one order, that of their names. */
function ordered(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  if (isFlatAndOrdered(value)) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, ordered(field)] as const);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Most inputs are, and need no copy. */
function isFlatAndOrdered(value: object): boolean {
  let last = "";
  for (const [name, field] of Object.entries(value)) {
    if (name < last || (typeof field === "object" && field !== null)) return false;
    last = name;
  }
  return true;
}
