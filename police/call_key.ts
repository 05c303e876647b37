import { createHash } from "node:crypto";

/** Longer keys are replaced by their digest: a history must not hold megabytes of arguments. */
const MAX_KEY_CHARS = 200;

/** Deeper nesting is not followed: it would end the stack, and a cycle has no end. */
const MAX_DEPTH = 1000;

/** Values of one call that are looked at: one object in many places can hold more than memory. */
const MAX_VALUES = 2_000_000;

/**
 * A text that is equal for two calls exactly when tool and arguments are: the order of an object's
 * keys does not matter, that of a list does, and `1`, `"1"` and `true` differ.
 *
 * Undefined for arguments that cannot be compared (a cycle, a getter that throws, a thousand levels
 * of nesting): such a call is equal to no other.
 */
export function callKey(tool: string, input: unknown): string | undefined {
  try {
    const key = `${JSON.stringify(tool)}:${new Writer().write(input, 0)}`;
    if (key.length <= MAX_KEY_CHARS) return key;
    return `sha256:${createHash("sha256").update(key).digest("base64")}`;
  } catch {
    return undefined;
  }
}

class Writer {
  #values = 0;

  write(value: unknown, depth: number): string {
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value !== "object" || value === null) return String(value);
    if (depth === MAX_DEPTH || this.#values > MAX_VALUES) throw new RangeError("too large");
    return Array.isArray(value)
      ? this.#writeList(value, depth)
      : this.#writeObject(value as Record<string, unknown>, depth);
  }

  #writeList(list: readonly unknown[], depth: number): string {
    let text = "[";
    this.#values += list.length;
    for (const item of list) text += `${this.write(item, depth + 1)},`;
    return `${text}]`;
  }

  #writeObject(object: Readonly<Record<string, unknown>>, depth: number): string {
    let text = "{";
    const names = Object.keys(object).sort();
    this.#values += names.length;
    for (const name of names)
      text += `${JSON.stringify(name)}:${this.write(object[name], depth + 1)},`;
    return `${text}}`;
  }
}
