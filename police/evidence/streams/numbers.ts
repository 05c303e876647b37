/** Tells whether the numbers of a sentence say something, or only count the sentences. */

import { BoundedSet } from "../text/bounded_set.ts";

const MOST_GROUPS = 2_000;

export class NumberWatch {
  readonly #said = new BoundedSet<string>(MOST_GROUPS);
  #latest: readonly string[] = [];

  /**
   * Takes in the numbers of a sentence. Two or more that were not said together before are news: a
   * cell of a puzzle, a step of a sum. "Attempt 3 of 9" after "attempt 2 of 9" is not.
   */
  areNews(numbers: readonly string[]): boolean {
    const before = this.#latest;
    if (numbers.length < 2) return false;
    this.#latest = numbers;
    const fresh = this.#said.add([...numbers].sort().join(" "));
    return fresh && !counts(before, numbers);
  }
}

/** Whether the second group is the first with one number counted on. */
function counts(before: readonly string[], after: readonly string[]): boolean {
  if (before.length !== after.length) return false;
  const changed = after.filter((number, at) => number !== before[at]);
  const [one] = changed;
  return changed.length === 1 && before.includes(String(Number(one) - 1));
}
