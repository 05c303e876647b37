/** Which lines of which files the model was shown, since they last changed. */

import { BoundedMap } from "../../detectors/bounded_map.ts";
import { BoundedSet } from "../text/bounded_set.ts";
import { hashText } from "../text/hash.ts";
import { Intervals } from "./intervals.ts";
import type { LineRange } from "./shell.ts";

/** Files that are remembered: a long audit of recorded sessions touches some dozens. */
const MOST_FILES = 128;
/** Stretches a file: reads are mostly contiguous, so few are needed. */
const MOST_STRETCHES = 32;
/** Lines a file, by content: Pi shows at most 2,000 lines at once. */
const MOST_LINES = 4_000;
/** Reads that showed nothing new, of one file; more than the limit that they are held against. */
const MOST_AGAIN = 16;
/** What Pi and other tools say below an excerpt that does not reach the end. */
const CUT = /more lines|use offset|truncat|omitted|\[\.\.\.|\[cut\b/i;

interface Shown {
  readonly lines: Intervals;
  readonly contents: BoundedSet<number>;
  /** Ticks of the latest reads that showed nothing new. */
  again: number[];
}

export class ReadCoverage {
  #files = new BoundedMap<string, Shown>(MOST_FILES);
  /** The file of each name that was read last. */
  #latest = new BoundedMap<string, string>(MOST_FILES);

  /**
   * How often, in the last `window` calls, the file was read without showing anything new; or
   * undefined, if this read may show something new.
   */
  timesAgain(range: LineRange, tick: number, window: number): number | undefined {
    const file = this.#find(range.path);
    if (file === undefined || !isCovered(file, range)) return undefined;
    return file.again.filter((at) => tick - at < window).length;
  }

  /** Takes in what a read showed and says whether any of it was new. */
  show(range: LineRange, text: string, tick: number): boolean {
    const file = this.#find(range.path) ?? this.#create(range.path);
    const fresh = takeLines(file, range, text);
    if (!fresh) file.again = [...file.again, tick].slice(-MOST_AGAIN);
    return fresh;
  }

  // New maps, not emptied ones: in a session of 40,000 calls `Map.clear` took nine times as long a
  // call as in sessions of 100. The other memories of calls are emptied in the same way.
  clear(): void {
    if (this.#files.size === 0) return;
    this.#files = new BoundedMap(MOST_FILES);
    this.#latest = new BoundedMap(MOST_FILES);
  }

  #find(path: string): Shown | undefined {
    return this.#files.get(this.#known(path));
  }

  #create(path: string): Shown {
    const shown: Shown = {
      lines: new Intervals(MOST_STRETCHES),
      contents: new BoundedSet(MOST_LINES),
      again: [],
    };
    this.#files.set(path, shown);
    this.#latest.set(nameOf(path), path);
    return shown;
  }

  /** A shell names files from where it stands, a tool from the root: one file all the same. */
  #known(path: string): string {
    if (this.#files.has(path)) return path;
    const other = this.#latest.get(nameOf(path));
    if (other === undefined) return path;
    return other.endsWith(`/${path}`) || path.endsWith(`/${other}`) ? other : path;
  }
}

function isCovered(file: Shown, range: LineRange): boolean {
  return file.lines.covers(Math.max(1, range.from), range.to);
}

function takeLines(file: Shown, range: LineRange, text: string): boolean {
  const lines = text === "" ? [] : text.split("\n", MOST_LINES);
  const covered = isCovered(file, range);
  let fresh = file.contents.size === 0;
  for (const line of lines) fresh = file.contents.add(hashText(line.trim())) || fresh;
  if (Number.isNaN(range.from)) return fresh;
  const first = Math.max(1, range.from);
  const short = lines.length < range.to - first + 1 && lines.length < MOST_LINES;
  const whole = short && !CUT.test(text.slice(-400));
  const last = first + Math.max(lines.length, 1) - 1;
  file.lines.add(first, whole ? Number.POSITIVE_INFINITY : last);
  return !covered;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
