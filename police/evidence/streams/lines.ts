/** Finds lines that come round again although what stands between them, or their order, differs. */

import { BoundedMap } from "../../detectors/bounded_map.ts";
import { hashText } from "../text/hash.ts";
import { contentWords } from "../text/words.ts";
import { isRegular, type Surface } from "./surface.ts";

const MOST_LINES = 4_096;
/**
 * A list may be written down twice (a draft and its final version). Lines that come for the third
 * time or more, one after the other, are a list that starts over, if no new line has come for a
 * dozen lines: labelled checklists that are filled in for one thing after the other have fewer
 * items under each heading, and the heading is new.
 */
const TIMES = 3;
const IN_A_ROW = 6;
const KNOWN_IN_A_ROW = 12;
const LONG_ENOUGH = 200;
/** Regular text (code, tables, data) repeats by nature: only far beyond what a listing does. */
const REGULAR_IN_A_ROW = 120;
const REGULAR_LONG_ENOUGH = 6_000;
/** The number or bullet of an item is not what it says; a tick in a box is. */
const ORNAMENT = /^[\s>]*(?:[-*+•‣◦]|\(?(?:\d{1,4}|[a-z])[.)、．])?\s*/i;

/** A listing or a table that is written down again: three variants are compared, not four equal ones. */
const SAME_BLOCKS = 4;
const BLOCK_LINES = 3;
const BLOCK_CHARS = 60;
/** A paragraph of this length counts like a listing when it comes again, whatever is in between. */
const PARAGRAPH = 100;

/** A lead-in that speaks of the list itself says nothing new; one that names a thing does. */
const LEAD_IN =
  /^(?=[^\d_/]*[:：.]?$)(?=.*(?:\b(?:list|steps?|plan|points?|items?|tasks?|remain\w*|left|open|to ?do|again|once more|summary|recap|order|here|following|so|schritte|liste|nochmal)\b|步骤|清单|计划|手順|一覧)).{1,60}[:：]$/iu;

export class LineWatch {
  readonly #blocks = new BoundedMap<number, { times: number; facts: number }>(MOST_LINES);
  #block = { lines: 0, chars: 0, hash: 0, from: 0 };
  readonly #times = new BoundedMap<number, number>(MOST_LINES);
  #inARow = 0;
  /** Lines in a row that were there before at all. */
  #known = 0;
  #chars = 0;
  #from = 0;

  /**
   * Takes in a whole line; says where the round began if the lines loop.
   *
   * @param facts how many new identifiers and numbers the prose has named up to here: a block that
   *   comes again under the name of another thing is a form, not a loop.
   */
  push(line: string, surface: Surface, at: number, facts: number): number | undefined {
    const block = this.#followBlock(line, surface, at, facts);
    if (block !== undefined) return block;
    const bare = line
      .replace(ORNAMENT, "")
      .replace(/[\s.;:,!]+$/, "")
      .toLowerCase();
    if (surface === "fence" || surface === "rule" || bare.length < 4) return undefined;
    if (LEAD_IN.test(line.trim())) return undefined;
    const key = hashText(isRegular(surface) ? bare : saidBy(bare));
    const times = (this.#times.get(key) ?? 0) + 1;
    this.#times.set(key, times);
    this.#known = times > 1 ? this.#known + 1 : 0;
    if (times < TIMES) {
      this.#inARow = 0;
      this.#chars = 0;
      return undefined;
    }
    if (this.#inARow++ === 0) this.#from = at;
    this.#chars += bare.length;
    return this.#isEnough(isRegular(surface)) ? this.#from : undefined;
  }

  #isEnough(regular: boolean): boolean {
    if (regular) return this.#inARow >= REGULAR_IN_A_ROW && this.#chars >= REGULAR_LONG_ENOUGH;
    return this.#inARow >= IN_A_ROW && this.#known >= KNOWN_IN_A_ROW && this.#chars >= LONG_ENOUGH;
  }

  /** Regular lines that follow each other are one block; it is compared when it ends. */
  #followBlock(line: string, surface: Surface, at: number, facts: number): number | undefined {
    if (isRegular(surface) && line.trim() !== "") {
      if (this.#block.lines === 0) this.#block.from = at;
      this.#block.lines++;
      this.#block.chars += line.length;
      this.#block.hash = hashText(`${this.#block.hash} ${line.trim()}`);
      return undefined;
    }
    if (surface === "blank") return undefined;
    const { lines, chars, hash, from } = this.#block;
    this.#block = { lines: 0, chars: 0, hash: 0, from: 0 };
    if (lines >= BLOCK_LINES && chars >= BLOCK_CHARS) return this.#countBlock(hash, from, facts);
    if (surface !== "prose" || line.length < PARAGRAPH) return undefined;
    return this.#countBlock(hashText(line.trim()), at, facts);
  }

  #countBlock(hash: number, from: number, facts: number): number | undefined {
    const before = this.#blocks.get(hash);
    const times = before !== undefined && before.facts === facts ? before.times + 1 : 1;
    this.#blocks.set(hash, { times, facts });
    return times >= SAME_BLOCKS ? from : undefined;
  }
}

/** The content words of a line; a line that has hardly any is taken as it is. */
function saidBy(line: string): string {
  const stems = contentWords(line).map((word) => word.stem);
  return stems.length < 2 ? line : stems.join(" ");
}
