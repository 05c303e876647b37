import { hashText } from "./hash.ts";

/** Places of an empty table; a power of two. */
const FEWEST_PLACES = 8;

/**
 * A set of the values that were added last: at least `limit` of them, at most twice as many.
 *
 * Only a 53-bit hash of each value is kept, in a table of plain numbers (open addressing, at most
 * half full): nothing of a text outlives the call, so the garbage collector has nothing to trace
 * however full the set is. A number stands for itself and is to be a hash, that is an integer.
 *
 * Entries live in two generations. When the young one is full it becomes old, and what was old is
 * no longer there; the table is then written anew, once in `limit` additions.
 */
export class BoundedSet<T extends string | number> {
  readonly #limit: number;
  #keys = new Float64Array(FEWEST_PLACES);
  /** The generation of each place; 0 is an empty one. */
  #born = new Int32Array(FEWEST_PLACES);
  /** Places that are taken, also by values of forgotten generations. */
  #taken = 0;
  #generation = 2;
  #young = 0;
  #old = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#young + this.#old;
  }

  has(value: T): boolean {
    return (this.#born[this.#placeOf(keyOf(value))] as number) >= this.#generation - 1;
  }

  /** Adds a value and says whether it was new. */
  add(value: T): boolean {
    const key = keyOf(value);
    const place = this.#placeOf(key);
    const born = this.#born[place] as number;
    if (born === this.#generation) return false;
    const fresh = born !== this.#generation - 1;
    if (!fresh) this.#old--;
    // The newest value begins the next generation.
    const full = this.#young === this.#limit;
    if (full) this.#age();
    this.#young++;
    this.#keys[place] = key;
    this.#born[place] = this.#generation;
    if (born === 0) this.#taken++;
    if (full || this.#taken * 2 > this.#keys.length) this.#rebuild();
    return fresh;
  }

  clear(): void {
    if (this.#taken === 0) return;
    this.#allocate(FEWEST_PLACES);
    this.#young = 0;
    this.#old = 0;
  }

  #age(): void {
    this.#generation++;
    this.#old = this.#young;
    this.#young = 0;
  }

  /** The place of a key, or the empty one where it would go. */
  #placeOf(key: number): number {
    const mask = this.#keys.length - 1;
    let place = key & mask;
    while (this.#born[place] !== 0 && this.#keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  /** Writes the values that count into a new table that is at most a quarter full. */
  #rebuild(): void {
    const keys = this.#keys;
    const born = this.#born;
    let places = FEWEST_PLACES;
    while (places < this.size * 4) places *= 2;
    this.#allocate(places);
    for (let from = 0; from < keys.length; from++) {
      const generation = born[from] as number;
      if (generation < this.#generation - 1) continue;
      const key = keys[from] as number;
      const place = this.#placeOf(key);
      this.#keys[place] = key;
      this.#born[place] = generation;
      this.#taken++;
    }
  }

  #allocate(places: number): void {
    this.#keys = new Float64Array(places);
    this.#born = new Int32Array(places);
    this.#taken = 0;
  }
}

function keyOf(value: string | number): number {
  return typeof value === "string" ? hashText(value) : value;
}
