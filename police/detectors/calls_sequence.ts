import { RollingHash } from "./text/rolling_hash.ts";

/** The end of a chain: a place is a number of calls, so there is none before the first. */
const NO_PLACE = 0;

/**
 * A history of calls that says whether one more call would make it end in two adjacent copies of
 * one sequence, of any length up to half of what it remembers.
 *
 * Every earlier place of the same call is one possible length and is told by one comparison of
 * hashes. So a call costs as many steps as it occurs in the history: constant where calls differ,
 * and never more than `reach`.
 */
export class CallsSequence {
  readonly #reach: number;
  /** The hashes of the calls' keys, in their order. */
  readonly #history: RollingHash;
  /** The keys that are remembered; the call at place p, counted from 1, has slot (p - 1) % reach. */
  readonly #keys: string[] = [];
  /** `#heads[b]` is the last place of a key in bucket b, `#before` leads to the one before. */
  readonly #heads: Int32Array;
  readonly #before: Int32Array;

  /** `reach` is the number of calls remembered. */
  constructor(reach: number) {
    this.#reach = reach;
    this.#history = new RollingHash(reach);
    this.#heads = new Int32Array(2 ** Math.ceil(Math.log2(2 * reach)));
    this.#before = new Int32Array(reach);
  }

  /** How many calls are remembered. */
  get size(): number {
    return Math.min(this.#history.length, this.#reach);
  }

  /** The length of the shortest sequence that `key` would complete for the second time, or 0. */
  wouldRepeat(key: string): number {
    const end = this.#history.length;
    const oldest = Math.max(NO_PLACE, end - this.#reach);
    let place = this.#heads[this.#bucket(hashOf(key))] as number;
    for (; place > oldest; place = this.#before[this.#slot(place)] as number) {
      const length = end + 1 - place;
      if (place - length < oldest) return 0;
      if (this.#keys[this.#slot(place)] !== key) continue;
      // The last call of both copies is `key`; the rest of them is compared.
      if (this.#same(end, place - 1, length - 1)) return length;
    }
    return 0;
  }

  record(key: string): void {
    const hash = hashOf(key);
    const bucket = this.#bucket(hash);
    this.#history.push(hash);
    const place = this.#history.length;
    this.#keys[this.#slot(place)] = key;
    this.#before[this.#slot(place)] = this.#heads[bucket] as number;
    this.#heads[bucket] = place;
  }

  /** Whether the `size` calls up to each of two places are the same. */
  #same(place: number, other: number, size: number): boolean {
    if (!this.#history.equal(place, other, size)) return false;
    for (let i = 0; i < size; i++) {
      if (this.#keys[this.#slot(place - i)] !== this.#keys[this.#slot(other - i)]) return false;
    }
    return true;
  }

  #slot(place: number): number {
    return (place - 1) % this.#reach;
  }

  #bucket(hash: number): number {
    return (hash ^ (hash >>> 15)) & (this.#heads.length - 1);
  }
}

/** A hash of 32 bits (FNV-1a over UTF-16 units). */
function hashOf(key: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  return hash;
}
