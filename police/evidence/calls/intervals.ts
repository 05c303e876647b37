/** A set of whole numbers, kept as few sorted, disjoint, non-touching intervals. */
export class Intervals {
  readonly #limit: number;
  #spans: { from: number; to: number }[] = [];

  /** @param limit most intervals that are kept; the shortest goes first. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether every number of the interval, both ends included, is in the set. */
  covers(from: number, to: number): boolean {
    return this.#spans.some((span) => span.from <= from && to <= span.to);
  }

  add(from: number, to: number): void {
    if (!(from <= to)) return;
    let low = from;
    let high = to;
    const apart: { from: number; to: number }[] = [];
    for (const span of this.#spans) {
      if (span.to + 1 < low || span.from > high + 1) {
        apart.push(span);
      } else {
        low = Math.min(low, span.from);
        high = Math.max(high, span.to);
      }
    }
    apart.push({ from: low, to: high });
    apart.sort((a, b) => a.from - b.from);
    this.#spans = apart.length > this.#limit ? withoutShortest(apart) : apart;
  }
}

function withoutShortest(spans: { from: number; to: number }[]): { from: number; to: number }[] {
  const lengths = spans.map((span) => span.to - span.from);
  const shortest = lengths.indexOf(Math.min(...lengths));
  return spans.filter((_, at) => at !== shortest);
}
