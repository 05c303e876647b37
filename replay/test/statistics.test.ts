/** Shares with their intervals, and medians. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { median, share } from "../statistics.ts";

/** What other tables of Wilson's interval show for the same cases. */
for (const [count, of, low, high] of [
  [0, 10, 0, 0.2775],
  [1, 10, 0.0179, 0.4042],
  [5, 10, 0.2366, 0.7634],
  [10, 10, 0.7225, 1],
  [81, 263, 0.2553, 0.3662],
] as const) {
  test(`${count} of ${of} lies between ${low} and ${high}`, () => {
    const { interval, rate } = share(count, of);
    assert.equal(rate, count / of);
    assert.ok(interval);
    assert.ok(Math.abs(interval[0] - low) < 1e-4, `${interval}`);
    assert.ok(Math.abs(interval[1] - high) < 1e-4, `${interval}`);
  });
}

test("the ends of the interval are those rates that are just not refuted by the data", () => {
  // The definition: |rate - p| = z * sqrt(p (1 - p) / n) at both ends.
  for (const [count, of] of [
    [3, 20],
    [17, 20],
    [140, 146],
  ] as const) {
    for (const end of share(count, of).interval ?? []) {
      const distance = Math.abs(count / of - end);
      assert.ok(Math.abs(distance - 1.959964 * Math.sqrt((end * (1 - end)) / of)) < 1e-9);
    }
  }
});

test("of no case there is neither a rate nor an interval", () => {
  assert.deepEqual(share(0, 0), { count: 0, of: 0, rate: null, interval: null });
});

test("the median is the middle value, or the mean of two, and leaves the values as they are", () => {
  const values = [10, 9, 1];
  assert.equal(median(values), 9);
  assert.deepEqual(values, [10, 9, 1]);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([7]), 7);
  assert.equal(median([]), null);
});
