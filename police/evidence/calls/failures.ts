/** The same fault again and again, whatever the arguments: they are not what is wrong. */

import { BoundedMap } from "../../detectors/bounded_map.ts";
import { hashText } from "../text/hash.ts";
import type { Outcome } from "../text/outcome.ts";
import type { Profile } from "./profile.ts";

const MOST_FAMILIES = 64;

/** Faults that no argument can mend: credentials, rights, a program that is not there. */
const ENVIRONMENT =
  /\b(?:401|403|unauthori[sz]ed|forbidden|permission denied|eacces|eperm|access denied|api key|credentials?|quota|billing|not logged in|command not found|not installed|no space left|read-only file system)\b/i;
/** Success that speaks of a fault: tools that answer with a text instead of an error. */
const FAULT = /^\W*(?:error|fatal|http (?:4|5)\d\d|exception|traceback|failed|failure)\b|"error":/i;
/** What a shell adds; without anything else it says too little to be compared. */
const EXIT = /\(?no output\)?|command exited with code \d+|exit code:? \d+/gi;
/** An error is recognised by how it begins. */
const COMPARED = 400;

/**
 * Equal faults after which the next call of the family is refused. An environment fault stays
 * whatever is asked (row 22: the same 401 for every wording), so three are enough. Other faults
 * can be met by honest trying: recorded sessions show runs of up to three equal ones that end in
 * success. An edit that does not find its text is often mended by the fourth attempt after a read.
 */
const LIMITS = { environment: 3, other: 4, edit: 5, passing: 9 };

/** Shorter words of the question are found in any text. */
const SHORTEST_ECHO = 4;

interface Streak {
  fault: number;
  count: number;
  limit: number;
  text: string;
}

export class Failures {
  #streaks = new BoundedMap<string, Streak>(MOST_FAMILIES);

  /** The streak that the next call of this family would continue, if it is long enough to stop. */
  stuck(profile: Profile): { count: number; text: string } | undefined {
    const streak = this.#streaks.get(profile.family);
    if (streak === undefined || streak.count < streak.limit) return undefined;
    return { count: streak.count, text: streak.text };
  }

  /** Takes in an outcome; says whether it is the same fault as the one before. */
  take(profile: Profile, outcome: Outcome): boolean {
    const text = withoutExit(outcome.plain);
    if (!outcome.isError && !FAULT.test(text.slice(0, 80))) {
      this.#streaks.delete(profile.family);
      return false;
    }
    if (text === "") return false;
    const lasting = ENVIRONMENT.test(text);
    const said = lasting ? withoutEcho(text, profile) : text;
    const fault = hashText(said.slice(0, COMPARED));
    const streak = this.#streaks.get(profile.family);
    if (streak !== undefined && streak.fault === fault) {
      streak.count++;
      return true;
    }
    const limit = limitFor(profile, outcome, lasting);
    this.#streaks.set(profile.family, { fault, count: 1, limit, text: text.slice(0, 200) });
    return false;
  }

  /** After a refusal one other attempt is let through. */
  relent(profile: Profile): void {
    const streak = this.#streaks.get(profile.family);
    if (streak !== undefined && streak.count >= streak.limit) streak.count = streak.limit - 1;
  }

  clear(): void {
    if (this.#streaks.size > 0) this.#streaks = new BoundedMap(MOST_FAMILIES);
  }
}

/** Whether a shell said no more than that the command failed, as `grep` does when nothing matches. */
export function saysNothing(text: string): boolean {
  return withoutExit(text) === "";
}

function withoutExit(text: string): string {
  return text.replace(EXIT, "").trim();
}

/** A fault of the surroundings may name what was asked for: it is the same fault all the same. */
function withoutEcho(text: string, profile: Profile): string {
  const bare = text.replace(/"[^"]*"|'[^']*'|`[^`]*`|“[^”]*”/g, "<asked>");
  return profile.query.length < SHORTEST_ECHO ? bare : bare.replaceAll(profile.query, "<asked>");
}

function limitFor(profile: Profile, outcome: Outcome, lasting: boolean): number {
  if (outcome.waiting) return LIMITS.passing;
  if (lasting) return LIMITS.environment;
  return profile.kind === "change" ? LIMITS.edit : LIMITS.other;
}
