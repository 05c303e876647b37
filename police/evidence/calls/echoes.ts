/** Nearly the same question, exactly the same answer: `?refresh=1`, `?refresh=2`, ... */

import { BoundedMap } from "../../detectors/bounded_map.ts";
import type { Outcome } from "../text/outcome.ts";
import type { Profile } from "./profile.ts";

const MOST_FAMILIES = 64;
/** "clear", "ok": a short answer is easily the same for different questions. */
const SHORTEST_ANSWER = 60;
/** Share of letter pairs in common from which questions are nearly the same. */
const ALIKE = 0.8;
/** Equal answers to nearly equal questions after which the next one is refused. */
const LIMIT = 5;

interface Echo {
  print: number;
  key: number;
  spelling: string;
  count: number;
}

export class Echoes {
  #echoes = new BoundedMap<string, Echo>(MOST_FAMILIES);

  /** How many nearly equal questions had one answer, if it is enough to stop the next. */
  stuck(profile: Profile): number | undefined {
    const echo = this.#echoes.get(profile.family);
    if (echo === undefined || echo.count < LIMIT) return undefined;
    return alike(echo.spelling, profile.spelling) ? echo.count : undefined;
  }

  /** Takes in an answer; says whether it is the one that a nearly equal question had before. */
  take(profile: Profile, outcome: Outcome): boolean {
    if (!profile.asks || outcome.waiting || outcome.plain.length < SHORTEST_ANSWER) return false;
    const before = this.#echoes.get(profile.family);
    const echo = { print: outcome.print, key: profile.key, spelling: profile.spelling, count: 1 };
    this.#echoes.set(profile.family, echo);
    if (before === undefined || before.print !== outcome.print) return false;
    echo.count = before.count;
    if (before.key === profile.key || !alike(before.spelling, profile.spelling)) return false;
    echo.count++;
    return true;
  }

  /** After a refusal one other attempt is let through. */
  relent(profile: Profile): void {
    const echo = this.#echoes.get(profile.family);
    if (echo !== undefined) echo.count = Math.min(echo.count, LIMIT - 1);
  }

  clear(): void {
    if (this.#echoes.size > 0) this.#echoes = new BoundedMap(MOST_FAMILIES);
  }
}

/** Dice's coefficient over pairs of letters. */
function alike(one: string, other: string): boolean {
  const pairs = new Map<string, number>();
  for (let i = 0; i + 1 < one.length; i++) {
    const pair = one.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  let common = 0;
  for (let i = 0; i + 1 < other.length; i++) {
    const left = pairs.get(other.slice(i, i + 2)) ?? 0;
    if (left === 0) continue;
    pairs.set(other.slice(i, i + 2), left - 1);
    common++;
  }
  return 2 * common >= ALIKE * (one.length + other.length - 2);
}
