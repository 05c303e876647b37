import { RollingHash } from "./rolling_hash.ts";

/**
 * Says, while a text arrives, whether it ends in two adjacent copies of one block whose length
 * lies between `min` and `max`.
 *
 * How it stays cheap. Every `step` characters (half of `min`) an anchor is set: the last `gram`
 * characters are looked up among all earlier places, through chains of equal hashes as in LZ77. A
 * block of length w that ends doubled before the next anchor must have all but its last `step - 1`
 * characters doubled already, so one comparison of hashes for each place found tells the few
 * lengths that stay possible; `find` looks at no other.
 *
 * A character costs a constant, whatever the length of the text and however often `find` is asked.
 * Memory is about 40 bytes for each character of `max`.
 */
export class DoubledSuffix {
  readonly #min: number;
  readonly #max: number;
  readonly #step: number;
  readonly #gram: number;
  readonly #text: RollingHash;
  /** `#heads[b]` is the end of the last gram in bucket b, `#chain` leads to the one before. */
  readonly #heads: Int32Array;
  readonly #chain: Int32Array;
  readonly #shift: number;
  /** The lengths that can become doubled before the next anchor, shortest first. */
  #possible: number[] = [];

  constructor(min: number, max: number) {
    this.#min = min;
    this.#max = Math.max(min, max);
    this.#step = Math.max(1, min >> 1);
    this.#gram = min - this.#step + 1;
    this.#text = new RollingHash(2 * this.#max);
    // More links than places to find: a link must not be overwritten while it can be followed.
    const bits = Math.max(4, Math.ceil(Math.log2(this.#max + 1)));
    this.#heads = new Int32Array(2 ** bits);
    this.#chain = new Int32Array(2 ** bits);
    this.#shift = 32 - bits;
  }

  /** How many characters were pushed. */
  get length(): number {
    return this.#text.length;
  }

  push(code: number): void {
    const text = this.#text;
    text.push(code);
    const end = text.length;
    if (end < this.#gram) return;
    const bucket = (Math.imul(text.hash(end, this.#gram), 0x85ebca6b) >>> this.#shift) | 0;
    const before = this.#heads[bucket] as number;
    this.#heads[bucket] = end;
    this.#chain[end & (this.#chain.length - 1)] = before;
    if (end % this.#step === 0) this.#setAnchor(end, before);
  }

  /** The length of the shortest doubled block at the end, or 0. */
  find(): number {
    const end = this.#text.length;
    for (const size of this.#possible) {
      if (end >= 2 * size && this.#text.equal(end, end - size, size)) return size;
    }
    return 0;
  }

  #setAnchor(end: number, newest: number): void {
    this.#possible = [];
    // 0 is "no place": no gram ends before the first character.
    for (let place = newest; place > 0; place = this.#next(place)) {
      const size = end - place;
      if (size > this.#max) return;
      const doubled = size - this.#step + 1;
      if (size < this.#min || place < doubled) continue;
      if (this.#text.hash(end, doubled) === this.#text.hash(place, doubled)) {
        this.#possible.push(size);
      }
    }
  }

  #next(place: number): number {
    return this.#chain[place & (this.#chain.length - 1)] as number;
  }
}
