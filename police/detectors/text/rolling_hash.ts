/**
 * Hashes of every part of the last characters (or other small numbers) of a sequence.
 *
 * A polynomial hash modulo 2^32: the hash of a part follows from the hashes of two prefixes in
 * constant time. Equal parts have equal hashes; a hit is to be verified with `equal`.
 */
export class RollingHash {
  /** Odd, so that multiplying loses nothing modulo 2^32; the golden ratio's bits spread well. */
  static readonly #base = 0x9e3779b1 | 0;

  readonly #mask: number;
  readonly #symbols: Int32Array;
  /** `#prefixes[i & mask]` is the hash of everything up to and including symbol `i`. */
  readonly #prefixes: Int32Array;
  readonly #powers: Int32Array;
  #length = 0;

  /** `reach` is the length of the part at the end that stays available. */
  constructor(reach: number) {
    const capacity = 2 ** Math.ceil(Math.log2(reach + 2));
    this.#mask = capacity - 1;
    this.#symbols = new Int32Array(capacity);
    this.#prefixes = new Int32Array(capacity);
    this.#powers = new Int32Array(reach + 1);
    this.#powers[0] = 1;
    for (let i = 1; i <= reach; i++) {
      this.#powers[i] = Math.imul(this.#powers[i - 1] as number, RollingHash.#base);
    }
  }

  /** How many symbols were pushed. */
  get length(): number {
    return this.#length;
  }

  push(symbol: number): void {
    const before = this.#prefix(this.#length);
    const at = this.#length & this.#mask;
    this.#symbols[at] = symbol;
    // Plus one, so that leading zeros count.
    this.#prefixes[at] = (Math.imul(before, RollingHash.#base) + symbol + 1) | 0;
    this.#length++;
  }

  /** The hash of the `size` symbols before position `end`. */
  hash(end: number, size: number): number {
    const power = this.#powers[size] as number;
    return (this.#prefix(end) - Math.imul(this.#prefix(end - size), power)) | 0;
  }

  /** Whether the `size` symbols before `end` and those before `other` are the same. */
  equal(end: number, other: number, size: number): boolean {
    if (this.hash(end, size) !== this.hash(other, size)) return false;
    for (let i = 1; i <= size; i++) {
      if (this.#symbols[(end - i) & this.#mask] !== this.#symbols[(other - i) & this.#mask]) {
        return false;
      }
    }
    return true;
  }

  /** The hash of the first `end` symbols. */
  #prefix(end: number): number {
    return end === 0 ? 0 : (this.#prefixes[(end - 1) & this.#mask] as number);
  }
}
