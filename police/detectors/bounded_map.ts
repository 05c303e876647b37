/**
 * A map that remembers at least the `limit` entries last written, and never more than twice as many.
 *
 * Entries live in two generations: when the young one is full, the old one is dropped and the young
 * one becomes old. So each step takes constant time, and nothing is left behind of what is dropped.
 */
export class BoundedMap<K, V> {
  readonly #limit: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  has(key: K): boolean {
    return this.#young.has(key) || this.#old.has(key);
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#young.set(key, value);
    if (this.#young.size <= this.#limit) return;
    // The newest entry begins the next generation.
    this.#young.delete(key);
    this.#old = this.#young;
    this.#young = new Map([[key, value]]);
  }

  delete(key: K): boolean {
    return this.#young.delete(key) || this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  /** The keys, longest not written first. */
  *keys(): IterableIterator<K> {
    yield* this.#old.keys();
    yield* this.#young.keys();
  }

  /** The values, longest not written first. */
  *values(): IterableIterator<V> {
    yield* this.#old.values();
    yield* this.#young.values();
  }
}
