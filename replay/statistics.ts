/** The few statistics that the scoreboard shows. */

/** A share of a number of cases. */
export interface Share {
  readonly count: number;
  readonly of: number;
  /** `count / of`; null if there is no case. */
  readonly rate: number | null;
  /** The 95% confidence interval of the rate; null if there is no case. */
  readonly interval: readonly [low: number, high: number] | null;
}

/** The normal distribution's quantile for 95%, both sides. */
const Z = 1.959964;

/**
 * A share with its Wilson score interval (without continuity correction), which stays within 0 and 1
 * and is usable for few cases and for rates of 0 and 1, unlike the usual one.
 */
export function share(count: number, of: number): Share {
  if (of === 0) return { count, of, rate: null, interval: null };
  const rate = count / of;
  const spread = Z * Math.sqrt((rate * (1 - rate)) / of + (Z * Z) / (4 * of * of));
  const centre = rate + (Z * Z) / (2 * of);
  const scale = 1 + (Z * Z) / of;
  const low = Math.max(0, (centre - spread) / scale);
  const high = Math.min(1, (centre + spread) / scale);
  return { count, of, rate, interval: [low, high] };
}

/** The middle value, or the mean of the two in the middle; null of nothing. */
export function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}
