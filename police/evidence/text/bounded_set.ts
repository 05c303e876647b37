import { BoundedMap } from "../../detectors/bounded_map.ts";

/** A set of the values that were added last: at least `limit` of them, at most twice as many. */
export class BoundedSet<T> {
  readonly #values: BoundedMap<T, true>;

  constructor(limit: number) {
    this.#values = new BoundedMap(limit);
  }

  get size(): number {
    return this.#values.size;
  }

  has(value: T): boolean {
    return this.#values.has(value);
  }

  /** Adds a value and says whether it was new. */
  add(value: T): boolean {
    const fresh = !this.has(value);
    this.#values.set(value, true);
    return fresh;
  }

  clear(): void {
    this.#values.clear();
  }
}
