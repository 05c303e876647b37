/** Checks a single value against the table of settings, for files and for `/loop-police set`. */

import {
  type Config,
  type ConfigKey,
  isNumberKey,
  NUMBER_KEYS,
  type NumberKey,
  PROFILES,
} from "./keys.ts";

/** Longest accepted text, in characters: a message of 20,000 is beyond any use. */
const MAX_TEXT_CHARS = 20_000;

/** Puts `value` into `config` if the key may have it; otherwise says why not, in a few words. */
export function assignValue(config: Config, key: ConfigKey, value: unknown): string | undefined {
  const problem = problemOf(key, value);
  if (problem === undefined) Object.assign(config, { [key]: value });
  return problem;
}

function problemOf(key: ConfigKey, value: unknown): string | undefined {
  if (isNumberKey(key)) return numberProblem(NUMBER_KEYS[key], value);
  if (key === "PROFILE") {
    const known = PROFILES.some((profile) => profile === value);
    return known ? undefined : `must be ${PROFILES.join(" or ")}`;
  }
  if (typeof value !== "string") return `must be a text, not ${typeName(value)}`;
  return value.length > MAX_TEXT_CHARS ? `must be at most ${MAX_TEXT_CHARS} characters` : undefined;
}

function numberProblem(rule: NumberKey, value: unknown): string | undefined {
  if (typeof value !== "number") return `must be a number, not ${typeName(value)}`;
  if (rule.off && value === 0) return undefined;
  const inRange = value >= rule.min && value <= rule.max;
  if (inRange && (!rule.integer || Number.isInteger(value))) return undefined;
  return `must be ${rangeOf(rule)}`;
}

/** A number's range in words, like `"0 (off) or a whole number from 2 to 100"`. */
export function rangeOf(rule: NumberKey): string {
  const kind = rule.integer ? "a whole number" : "a number";
  return `${rule.off ? "0 (off) or " : ""}${kind} from ${rule.min} to ${rule.max}`;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return { string: "a text", object: "an object" }[typeof value as string] ?? `a ${typeof value}`;
}
