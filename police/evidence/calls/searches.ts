/** Whether searches still find something: the same hits under other words are nothing new. */

import { BoundedSet } from "../text/bounded_set.ts";
import { hashText } from "../text/hash.ts";
import { withoutNoise } from "../text/volatile.ts";
import type { Profile } from "./profile.ts";

const MOST_HITS = 8_000;
const MOST_SETS = 64;
/** A result that has more lines than this is not a handful of hits; the rest is not looked at. */
const MOST_LINES = 2_000;

const NOTHING =
  /^(?:\(?no (?:matches|results|files|hits|output|such)\b|0 (?:matches|results|files)\b|nothing found|not found|none\b|\[\]|\{\}|null)|\bno (?:matches|results) found\b|"results":\s?\[\]|keine (?:treffer|ergebnisse)|没有(?:找到|结果)/i;
/** Lines that introduce hits, and speak of the query. */
const LEAD =
  /^(?:found|showing|results?|search(?:ing|ed)?|query|top|matches|\d+ (?:results|matches|hits))\b/i;
const ADDRESS = /\bhttps?:\/\/[^\s"'<>)\]]+/g;
const PLACE = /^(?:\.\/)?([^\s:"]+[./][^\s:"]*):(\d+)/;

export type Finding = "new" | "part" | "same" | "nothing";

export class SearchHits {
  readonly #hits = new BoundedSet<number>(MOST_HITS);
  readonly #sets = new BoundedSet<number>(MOST_SETS);

  /**
   * Takes in the result of a search. `same`: exactly the hits of an earlier one; `part`: only hits
   * that were seen before, as when a search is narrowed.
   */
  take(profile: Profile, text: string): Finding {
    const hits = [...new Set(hitsOf(profile, text))].sort((a, b) => a - b);
    if (hits.length === 0) return "nothing";
    let fresh = false;
    for (const hit of hits) fresh = this.#hits.add(hit) || fresh;
    const known = !this.#sets.add(hashText(hits.join(" ")));
    if (fresh) return "new";
    return known ? "same" : "part";
  }

  clear(): void {
    this.#hits.clear();
    this.#sets.clear();
  }
}

/** What identifies each hit: an address, a place in a file, or else the line itself. */
function hitsOf(profile: Profile, text: string): number[] {
  if (NOTHING.test(text.trim().slice(0, 400))) return [];
  const addresses = text.match(ADDRESS);
  if (addresses !== null) return addresses.slice(0, MOST_LINES).map(hashText);
  const lines = text.split(/\n|\},\s?\{/, MOST_LINES);
  const hits: number[] = [];
  for (const line of lines) {
    const place = PLACE.exec(line);
    const plain = withoutNoise(line)
      .replace(/\d\.\d+/g, "#")
      .replace(/^\.\//, "");
    if (place !== null) hits.push(hashText(`${place[1]}:${place[2]}`));
    else if (plain !== "" && !LEAD.test(plain)) hits.push(hashText(`${profile.place} ${plain}`));
  }
  return hits;
}
