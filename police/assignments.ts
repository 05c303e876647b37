/** Reads the `KEY=VAL ...` of `/loop-police set`. */

import {
  type Config,
  type ConfigKey,
  isConfigKey,
  isMessageKey,
  isNumberKey,
} from "./config/keys.ts";
import { assignValue } from "./config/values.ts";

export interface AssignResult {
  /** The assignments that were made, as `KEY=VAL`. */
  readonly done: readonly string[];
  /** What was wrong with the others: sentences for the user. */
  readonly problems: readonly string[];
}

/** Makes the assignments that are right, and tells what is wrong with the rest. */
export function assign(config: Config, text: string): AssignResult {
  const done: string[] = [];
  const problems: string[] = [];
  // A value goes on until white space is followed by the next NAME=.
  const [stray = "", ...assignments] = ` ${text.trim()}`.split(/\s+(?=[A-Za-z_]\w*=)/);
  if (stray.trim() !== "") problems.push(`"${stray.trim()}" is no assignment. Write KEY=VAL.`);
  else if (assignments.length === 0) problems.push("Nothing to set. Write KEY=VAL.");
  for (const assignment of assignments) {
    const equals = assignment.indexOf("=");
    const key = assignment.slice(0, equals);
    const value = assignment.slice(equals + 1).trim();
    const problem = assignOne(config, key, value);
    if (problem === undefined) done.push(`${key}=${value}`);
    else problems.push(problem);
  }
  return { done, problems };
}

function assignOne(config: Config, key: string, text: string): string | undefined {
  if (!isConfigKey(key)) return `${key} is not a setting. /loop-police lists them.`;
  if (isMessageKey(key)) return `${key} is a text: edit it in loop-police.json.`;
  const problem = assignValue(config, key, parsed(key, text));
  return problem && `${key}=${text}: ${problem}.`;
}

/** A number where one is wanted; what is no number stays a text, which is then refused. */
function parsed(key: ConfigKey, text: string): string | number {
  if (!isNumberKey(key)) return text;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}
