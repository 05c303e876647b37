/**
 * The table of every setting: its default, its range, and what it does.
 *
 * Names and defaults of the first group are those of the package this one replaces, so that an
 * existing `loop-police.json` keeps its meaning.
 */

import { MESSAGE_DEFAULTS, type MessageKey } from "../messages.ts";

/** A number. With `off`, 0 switches the detector off and `min` counts for all other values. */
export interface NumberKey {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly integer: boolean;
  readonly off: boolean;
  readonly about: string;
}

export interface TextKey {
  readonly default: string;
  readonly about: string;
}

const whole = { integer: true, off: false } as const;
const wholeOrOff = { integer: true, off: true } as const;
const share = { min: 0.01, max: 1, integer: false } as const;

/** Blocks above 100,000 characters would cost megabytes of memory for each stream. */
const MAX_BLOCK = 100_000;

export const NUMBER_KEYS = {
  THINKING_WINDOW: {
    ...wholeOrOff,
    default: 80,
    min: 1,
    max: MAX_BLOCK,
    about: "shortest repeating block flagged in thinking, in characters",
  },
  OUTPUT_WINDOW: {
    ...wholeOrOff,
    default: 100,
    min: 1,
    max: MAX_BLOCK,
    about: "shortest repeating block flagged in the answer, in characters",
  },
  MAX_WINDOW: {
    ...whole,
    default: 4000,
    min: 1,
    max: MAX_BLOCK,
    about: "longest repeating block looked for, in characters",
  },
  STRIDE: {
    ...whole,
    default: 50,
    min: 1,
    max: MAX_BLOCK,
    about: "streams are checked every so many characters",
  },
  PARA_MIN_LEN: {
    ...whole,
    default: 40,
    min: 1,
    max: 10_000,
    about: "shorter paragraphs are ignored",
  },
  FINGERPRINT_LEN: {
    ...whole,
    default: 60,
    min: 1,
    max: 10_000,
    about: "paragraphs that begin with the same so many characters are the same",
  },
  SEMANTIC_THRESHOLD: {
    ...wholeOrOff,
    default: 3,
    min: 2,
    max: 1000,
    about: "the same paragraph so often is a loop",
  },
  STAGNATION_WINDOW: {
    ...wholeOrOff,
    default: 4,
    min: 2,
    max: 100,
    about: "so many turns of similar thinking are stagnation",
  },
  STAGNATION_THRESHOLD: {
    ...share,
    off: false,
    default: 0.85,
    about: "share of equal words that makes two thoughts similar",
  },
  FILE_SCAN_LIMIT: {
    ...wholeOrOff,
    default: 20,
    min: 1,
    max: 100_000,
    about: "reads of one path before further ones are blocked",
  },
  SEARCH_EXPAND_LIMIT: {
    ...wholeOrOff,
    default: 3,
    min: 2,
    max: 10_000,
    about: "a search that reaches so many places is blocked",
  },
  REREAD_WINDOW: {
    ...wholeOrOff,
    default: 10,
    min: 1,
    max: 1000,
    about: "reads looked back on for re-reads",
  },
  REREAD_RATIO: {
    default: 0.4,
    min: 0,
    max: 1,
    integer: false,
    off: false,
    about: "share of re-reads among them at which one is blocked",
  },
  CONSECUTIVE_LOOP_LIMIT: {
    ...wholeOrOff,
    default: 2,
    min: 1,
    max: 1000,
    about: "looped turns in a row before the message gets stronger",
  },
  TOOL_LOOP_BAN: {
    ...whole,
    default: 1,
    min: 0,
    max: 2,
    about: "0 = off, 1 = block while repeated, 2 = block for the rest of the session",
  },
  REDERIVE_THRESHOLD: {
    ...share,
    off: true,
    default: 0.85,
    about: "share of equal words at which thinking after a detection is removed",
  },
  HOOK_TIMEOUT_MS: {
    ...whole,
    default: 5000,
    min: 1,
    max: 600_000,
    about: "HOOK_CMD is killed after so many milliseconds",
  },
  RECOVERY_LIMIT: {
    ...wholeOrOff,
    default: 3,
    min: 1,
    max: 1000,
    about: "recoveries of one run before it is stopped",
  },
  REJECTED_LOOP_LIMIT: {
    ...wholeOrOff,
    default: 4,
    min: 2,
    max: 1000,
    about: "invalid calls of one tool before the model is shown a valid one",
  },
  REFUSAL_LIMIT: {
    ...wholeOrOff,
    default: 5,
    min: 2,
    max: 1000,
    about: "refusals of one call in a row before the run is stopped",
  },
} as const satisfies Record<string, NumberKey>;

export const TEXT_KEYS = {
  TOOL_LOOP_EXEMPT: {
    default: "",
    about: "tools never blocked for repeating, by name, with commas",
  },
  HOOK_CMD: { default: "", about: "command run on every detection" },
  HOOK_LOG: { default: "", about: "file that gets one JSON line for every detection" },
  READ_TOOLS: { default: "", about: "further tools that read the path they are given" },
  WRITE_TOOLS: { default: "", about: "further tools that change the path they are given" },
  SEARCH_TOOLS: { default: "", about: "further tools that search" },
} as const satisfies Record<string, TextKey>;

/** The rule sets to choose from; the first is the default. */
export const PROFILES = ["classic", "evidence"] as const;

export type Profile = (typeof PROFILES)[number];
export type NumberName = keyof typeof NUMBER_KEYS;
export type TextName = keyof typeof TEXT_KEYS;
export type ConfigKey = NumberName | TextName | MessageKey | "PROFILE";

/** Every setting, resolved: each value has its type and lies in its range. */
export type Config = Record<NumberName, number> &
  Record<TextName | MessageKey, string> & { PROFILE: Profile };

/** A fresh configuration that holds nothing but defaults. */
export function defaultConfig(): Config {
  const defaults: Record<string, unknown> = {};
  for (const [key, { default: value }] of Object.entries(NUMBER_KEYS)) defaults[key] = value;
  for (const [key, { default: value }] of Object.entries(TEXT_KEYS)) defaults[key] = value;
  Object.assign(defaults, { PROFILE: PROFILES[0] }, MESSAGE_DEFAULTS);
  return defaults as Config;
}

/** True for an own name of the table: `toString` is none. */
export function isConfigKey(key: string): key is ConfigKey {
  return isNumberKey(key) || isTextKey(key) || isMessageKey(key) || key === "PROFILE";
}

export function isNumberKey(key: string): key is NumberName {
  return Object.hasOwn(NUMBER_KEYS, key);
}

export function isTextKey(key: string): key is TextName {
  return Object.hasOwn(TEXT_KEYS, key);
}

export function isMessageKey(key: string): key is MessageKey {
  return Object.hasOwn(MESSAGE_DEFAULTS, key);
}
