/**
 * Finds, while characters arrive, that a text has begun to repeat a block word for word.
 *
 * A candidate is a distance d at which the last few characters were seen before; it lives as long
 * as each new character equals the one d before it. The latest place of each short run of
 * characters is kept in a table, so the nearest distance, which is the smallest period, comes
 * first. Work a character: a handful of comparisons, whatever the length of text or period.
 */

export interface Repetition {
  /** Length of the repeated block, in UTF-16 units. */
  readonly period: number;
  /** Length of the stretch that repeats it, the first copy included. */
  readonly covered: number;
}

/** Longest block that is found here; longer ones are found by their lines. */
export const LONGEST_PERIOD = 8_192;
const RING = 16_384;
/** Characters that have to match before a distance is looked at. */
const GRAM = 12;
const TABLE = 16_384;
const MOST_CANDIDATES = 6;
const BASE = 0x01000193;

export class PeriodTracker {
  readonly #ring = new Uint16Array(RING);
  readonly #latest = new Int32Array(TABLE).fill(-1);
  readonly #power: number;
  #candidates: { distance: number; run: number }[] = [];
  #length = 0;
  #hash = 0;

  constructor() {
    let power = 1;
    for (let i = 0; i < GRAM; i++) power = Math.imul(power, BASE);
    this.#power = power;
  }

  /** Takes in one UTF-16 unit. */
  push(unit: number): void {
    const at = this.#length++;
    this.#ring[at % RING] = unit;
    this.#follow(at, unit);
    const gone = at >= GRAM ? (this.#ring[(at - GRAM) % RING] as number) + 1 : 0;
    this.#hash = (Math.imul(this.#hash, BASE) + unit + 1 - Math.imul(gone, this.#power)) | 0;
    if (at + 1 >= GRAM) this.#propose(at);
  }

  /** The repetitions that reach to the last character, shortest block first. */
  repetitions(): Repetition[] {
    if (this.#candidates.length === 0) return [];
    return this.#candidates
      .map(({ distance, run }) => ({ period: distance, covered: run + distance }))
      .sort((a, b) => a.period - b.period);
  }

  /** The last `length` characters; at most `LONGEST_PERIOD` of them are kept. */
  tail(length: number): string {
    const units: number[] = [];
    for (let at = Math.max(0, this.#length - length); at < this.#length; at++) {
      units.push(this.#ring[at % RING] as number);
    }
    let text = "";
    for (let i = 0; i < units.length; i += 4_096)
      text += String.fromCharCode(...units.slice(i, i + 4_096));
    return text;
  }

  get length(): number {
    return this.#length;
  }

  #follow(at: number, unit: number): void {
    let kept = 0;
    for (const candidate of this.#candidates) {
      if (this.#ring[(at - candidate.distance) % RING] !== unit) continue;
      candidate.run++;
      this.#candidates[kept++] = candidate;
    }
    this.#candidates.length = kept;
  }

  #propose(at: number): void {
    const slot = (this.#hash ^ (this.#hash >>> 15)) & (TABLE - 1);
    const before = this.#latest[slot] as number;
    this.#latest[slot] = at;
    if (before < 0) return;
    const distance = at - before;
    if (distance > LONGEST_PERIOD || !this.#matches(at, before)) return;
    if (this.#candidates.some((c) => c.distance === distance)) return;
    if (this.#candidates.length === MOST_CANDIDATES) this.#dropShortest();
    this.#candidates.push({ distance, run: GRAM });
  }

  #matches(at: number, before: number): boolean {
    for (let i = 0; i < GRAM; i++) {
      if (this.#ring[(at - i) % RING] !== this.#ring[(before - i) % RING]) return false;
    }
    return true;
  }

  #dropShortest(): void {
    const runs = this.#candidates.map((c) => c.run);
    this.#candidates.splice(runs.indexOf(Math.min(...runs)), 1);
  }
}
