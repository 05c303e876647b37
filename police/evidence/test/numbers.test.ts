import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NumberWatch } from "../streams/numbers.ts";

/** Whether each group of numbers, one after the other, is news. */
function news(...groups: string[]): boolean[] {
  const watch = new NumberWatch();
  return groups.map((group) => watch.areNews(group.split(" ").filter((n) => n !== "")));
}

describe("the numbers of a sentence", () => {
  it("are news when they were not said together before", () => {
    assert.deepEqual(news("3 7", "9 3 5", "7 3", "5 3 9"), [true, true, false, false]);
  });

  it("are none when there is one at most", () => {
    assert.deepEqual(news("", "3", "4"), [false, false, false]);
  });

  it("are none when one of them only counts on", () => {
    assert.deepEqual(news("2 9", "3 9", "4 9", "7 9"), [true, false, false, true]);
    assert.deepEqual(news("1 2 3", "4 5 6"), [true, true]);
  });
});
