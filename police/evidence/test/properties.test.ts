/** Each algorithm beside a naive version of itself that is obviously right. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Intervals } from "../calls/intervals.ts";
import { readShell } from "../calls/shell.ts";
import { createEvidencePolicy } from "../policy.ts";
import { BlockWatch } from "../streams/block_watch.ts";
import { PeriodTracker } from "../streams/period.ts";
import { WordingWatch } from "../streams/wording.ts";
import { BoundedSet } from "../text/bounded_set.ts";
import { withoutNoise } from "../text/volatile.ts";
import { bash, CONFIG, callOf, Session } from "./support.ts";

/** Length of the longest end of the text that has the period; 0 if not even two copies. */
function stretchOf(text: string, period: number): number {
  let run = 0;
  while (run + period < text.length && text.at(-1 - run) === text.at(-1 - run - period)) run++;
  return run < period ? 0 : run + period;
}

/** Smallest period that the last `length` characters of the text have. */
function smallestPeriod(text: string, length: number): number {
  let period = 1;
  while (stretchOf(text, period) < length) period++;
  return period;
}

const letters = (size: number) =>
  fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: size });

describe("the period tracker", () => {
  it("reports only periods that the text really has", () => {
    fc.assert(
      fc.property(
        letters(60),
        letters(40),
        fc.integer({ min: 1, max: 9 }),
        (start, block, copies) => {
          const text = start + block.repeat(copies);
          const tracker = new PeriodTracker();
          for (let i = 0; i < text.length; i++) tracker.push(text.charCodeAt(i));
          for (const { period, covered } of tracker.repetitions()) {
            const naive = stretchOf(text, period);
            if (covered >= 2 * period) assert.ok(covered <= naive, `${covered} > ${naive}`);
          }
        },
      ),
    );
  });

  it("finds the smallest period of a text that ends in enough copies", () => {
    fc.assert(
      fc.property(
        letters(60),
        letters(40),
        fc.integer({ min: 4, max: 9 }),
        (start, block, copies) => {
          const text = start + block.repeat(copies) + block.repeat(Math.ceil(40 / block.length));
          const tracker = new PeriodTracker();
          for (let i = 0; i < text.length; i++) tracker.push(text.charCodeAt(i));
          const length = 3 * block.length;
          const naive = smallestPeriod(text, length);
          const found = tracker.repetitions().find((r) => r.covered >= length);
          assert.equal(found?.period, naive, text);
        },
      ),
    );
  });

  it("follows six distances at most, the longest agreed with first", () => {
    const final = Array.from({ length: 12 * 9 }, (_, i) => String.fromCharCode(0x4e00 + i)).join(
      "",
    );
    let text = "";
    for (let k = 0; k < 8; k++) text += `${"#".repeat(k + 1)}${k}${final.slice(12 * k)}`;
    const tracker = new PeriodTracker();
    for (const char of text + final) tracker.push(char.charCodeAt(0));
    const found = tracker.repetitions();
    assert.equal(found.length, 6);
    assert.equal(Math.max(...found.map((r) => r.covered - r.period)), final.length);
  });

  it("keeps the end of the text, however long it was", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.integer({ min: 1, max: 400 }),
        (end, length) => {
          const tracker = new PeriodTracker();
          const text = "x".repeat(20_000) + end;
          for (let i = 0; i < text.length; i++) tracker.push(text.charCodeAt(i));
          assert.equal(tracker.tail(length), text.slice(-length));
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe("intervals", () => {
  const span = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 12 }));

  it("cover exactly the numbers that were added", () => {
    fc.assert(
      fc.property(fc.array(span, { maxLength: 30 }), span, (added, [from, length]) => {
        const intervals = new Intervals(64);
        const naive = new Set<number>();
        for (const [start, size] of added) {
          intervals.add(start, start + size);
          for (let n = start; n <= start + size; n++) naive.add(n);
        }
        const all = Array.from({ length: length + 1 }, (_, i) => from + i).every((n) =>
          naive.has(n),
        );
        assert.equal(intervals.covers(from, from + length), all);
      }),
    );
  });

  it("grow together when they touch, and stay apart with a number in between", () => {
    const intervals = new Intervals(64);
    for (const [from, to] of [
      [1, 3],
      [8, 9],
      [4, 5],
    ] as const)
      intervals.add(from, to);
    assert.equal(intervals.covers(1, 5), true);
    assert.equal(intervals.covers(5, 8), false);
    intervals.add(6, 7);
    assert.equal(intervals.covers(1, 9), true);
  });

  it("take nothing from an end before its start", () => {
    const intervals = new Intervals(64);
    intervals.add(9, 8);
    assert.deepEqual([intervals.covers(8, 8), intervals.covers(9, 9)], [false, false]);
  });

  it("let the shortest go when there are too many", () => {
    const intervals = new Intervals(2);
    for (const [from, to] of [
      [1, 9],
      [20, 21],
      [30, 39],
    ] as const)
      intervals.add(from, to);
    assert.deepEqual(
      [intervals.covers(1, 9), intervals.covers(20, 20), intervals.covers(30, 39)],
      [true, false, true],
    );
  });

  it("never claim more than was added when there are too many", () => {
    fc.assert(
      fc.property(
        fc.array(span, { maxLength: 40 }),
        fc.integer({ min: 1, max: 80 }),
        (added, probe) => {
          const intervals = new Intervals(3);
          for (const [start, size] of added) intervals.add(start, start + size);
          intervals.add(9, 8);
          const naive = added.some(([start, size]) => start <= probe && probe <= start + size);
          assert.ok(!intervals.covers(probe, probe) || naive);
        },
      ),
    );
  });
});

describe("bounded memory", () => {
  it("knows at least the latest values and never more than twice as many", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.nat(20)), (limit, values) => {
        const set = new BoundedSet<number>(limit);
        let latest: number[] = [];
        for (const value of values) {
          set.add(value);
          latest = [value, ...latest.filter((other) => other !== value)];
          assert.ok(set.size <= 2 * limit);
          for (const recent of latest.slice(0, limit)) assert.ok(set.has(recent));
        }
      }),
    );
  });

  it("is what two generations of plain sets are, whatever is added and cleared", () => {
    const steps = fc.array(fc.option(fc.nat(40), { freq: 30 }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), steps, (limit, values) => {
        const set = new BoundedSet<string>(limit);
        let young = new Set<string>();
        let old = new Set<string>();
        for (const value of values) {
          if (value === null) {
            set.clear();
            young = new Set();
            old = new Set();
            continue;
          }
          const word = `word ${value}`;
          const fresh = !young.has(word) && !old.has(word);
          old.delete(word);
          if (!young.has(word) && young.size === limit) {
            old = young;
            young = new Set();
          }
          young.add(word);
          assert.equal(set.add(word), fresh);
          assert.equal(set.size, young.size + old.size);
        }
        for (let i = 0; i <= 40; i++) {
          const word = `word ${i}`;
          assert.equal(set.has(word), young.has(word) || old.has(word));
        }
      }),
    );
  });

  it("keeps a value that is added again, and forgets one that is not", () => {
    const set = new BoundedSet<string>(2);
    for (const value of ["a", "b", "c"]) set.add(value);
    assert.equal(set.add("a"), false);
    assert.equal(set.add("d"), true);
    assert.deepEqual(
      ["a", "b", "c", "d"].map((value) => set.has(value)),
      [true, false, true, true],
    );
  });

  it("says of a value whether it is new", () => {
    const set = new BoundedSet<string>(4);
    assert.deepEqual([set.add("a"), set.add("a"), set.add("b"), set.size], [true, false, true, 2]);
    set.clear();
    assert.equal(set.has("a"), false);
  });
});

describe("the normaliser", () => {
  const noise = fc.constantFrom(
    "2026-03-01T10:00:00Z",
    "Mon Mar  2 10:11:12 UTC 2026",
    "3.2s",
    "#12",
    "pid 77",
    "0x7f3a",
    "127.0.0.1:49152",
    "deadbeef12",
    "[1] 4123",
    "req-8f3a9c",
    '"id": 7',
    "/tmp/x.1",
    "1712883401234",
    "attempt 3",
    "\u001b[31m",
    "10 ms",
    "5 March 2026",
  );
  const text = fc.array(
    fc.oneof(noise, fc.string({ maxLength: 8 }), fc.constantFrom(" ", "\n", "ok", ":", "7")),
  );

  it("changes nothing more when it is applied again", () => {
    fc.assert(
      fc.property(text, (parts) => {
        const once = withoutNoise(parts.join(" "));
        assert.equal(withoutNoise(once), once);
      }),
      { numRuns: 400 },
    );
  });

  it("makes texts equal that differ only in noise", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 1, max: 99 }),
        (minute, pid) => {
          const at = (m: number, p: number) =>
            `2026-03-01 10:${String(m).padStart(2, "0")}:00 failed in ${p}.5s, pid ${p}, #${p}`;
          assert.equal(withoutNoise(at(minute, pid)), withoutNoise(at(7, 8)));
        },
      ),
    );
  });

  it("looks at both ends of a text that is very long, and at its length", () => {
    const long = (size: number) => withoutNoise(`begin${"x ".repeat(size)}end`);
    assert.notEqual(long(50_000), long(50_001));
    assert.ok(long(50_000).startsWith("begin") && long(50_000).endsWith("end"));
  });
});

describe("a shell command", () => {
  const words = fc.array(
    fc.constantFrom(
      "ls",
      "-R",
      "a b",
      "'q q'",
      '"x;y"',
      "&&",
      "|",
      ";",
      ">",
      "f.txt",
      "#",
      "2>&1",
      "\\;",
    ),
  );

  it("is read the same way again once it is canonical", () => {
    fc.assert(
      fc.property(words, (parts) => {
        const once = readShell(parts.join(" ")).canonical;
        assert.equal(typeof once, "string");
        assert.equal(
          readShell(`  ${parts.join("  ")} `).canonical,
          readShell(parts.join(" ")).canonical,
        );
      }),
    );
  });

  it("of any text is read without a fault", () => {
    fc.assert(fc.property(fc.string(), (command) => void readShell(command)));
  });
});

describe("the wording watch", () => {
  const limits = { window: 32, sum: 0.66, lasting: 6 };

  it("never stops sentences of the same words whose numbers are news", () => {
    const watch = new WordingWatch(limits);
    for (let n = 1; n < 60; n++) {
      const sentence = `Table queries scan ${n * 37} pages within ${n * 91} seconds.`;
      assert.equal(watch.push(sentence, n, false, true), undefined);
    }
  });

  it("never stops a text whose words are all new", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), (seed) => {
        const watch = new WordingWatch(limits);
        for (let i = 0; i < 300; i++) {
          const word = `${String.fromCharCode(97 + (i % 26), 97 + ((i / 26) % 26), 97 + (seed % 26))}word${"xyz"[i % 3]}`;
          assert.equal(
            watch.push(`${word}${String.fromCharCode(97 + (i % 25))} `, i, false, false),
            undefined,
          );
        }
      }),
      { numRuns: 20 },
    );
  });

  it("always stops a text that draws on a dozen words only, whatever their order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 300, maxLength: 300 }),
        (order) => {
          const vocabulary =
            "table query index slow scan missing page lock worker token parser cache".split(" ");
          const watch = new WordingWatch(limits);
          assert.ok(
            order.some((n, at) => watch.push(`${vocabulary[n]} `, at, false, false) !== undefined),
          );
        },
      ),
    );
  });
});

describe("cycles", () => {
  it("of any length up to twenty are refused in the third or fourth round, and never before", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 20 }),
        fc.integer({ min: 0, max: 6 }),
        (length, before) => {
          const session = new Session();
          for (let i = 0; i < before; i++)
            session.call(bash(`./before-${"abcdefg"[i]}`), `b${"z".repeat(i)}`);
          let calls = 0;
          for (; calls < 5 * length; calls++) {
            const step = calls % length;
            if (!session.call(bash(`./step-${"x".repeat(step)}`), `answer ${"y".repeat(step)}`))
              break;
          }
          assert.ok(
            calls >= 2 * length && calls <= Math.max(3 * length, 2 * length + 4),
            `${length}: ${calls}`,
          );
        },
      ),
    );
  });

  it("whose answers go on changing are never refused", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), (length) => {
        const session = new Session();
        for (let i = 0; i < 100; i++) {
          assert.ok(session.call(bash(`./step-${"x".repeat(i % length)}`), `new ${"y".repeat(i)}`));
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe("the policy", () => {
  it("takes any arguments and any answer without a fault", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.anything(),
        fc.string(),
        fc.boolean(),
        (tool, input, text, isError) => {
          const policy = createEvidencePolicy(CONFIG);
          const call = { ...callOf({ tool, input: {} }), input };
          policy.observe({ kind: "call", call });
          policy.observe({ kind: "admitted", call });
          policy.observe({ kind: "result", call, ran: true, isError, text, at: 0 });
        },
      ),
    );
  });

  it("takes arguments that are deep, cyclic or hostile", () => {
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 20_000; i++) deep = { deep };
    const cyclic: Record<string, unknown> = {};
    Object.assign(cyclic, { self: cyclic });
    const hostile = Object.defineProperty({}, "path", {
      enumerable: true,
      get() {
        throw new Error("no");
      },
    });
    const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, "v"]));
    for (const input of [
      deep,
      cyclic,
      hostile,
      wide,
      [deep],
      7n,
      undefined,
      { big: 7n, fn: () => 1, s: Symbol("s") },
    ]) {
      const policy = createEvidencePolicy(CONFIG);
      const call = { ...callOf({ tool: "inspect", input: {} }), input };
      assert.doesNotThrow(() => policy.observe({ kind: "call", call }));
      assert.doesNotThrow(() => policy.observe({ kind: "admitted", call }));
    }
  });

  it("takes any stream without a fault, and the same whatever the pieces", () => {
    const word = fc.constantFrom(
      "parser ",
      "wait ",
      "token. ",
      "\n",
      "```\n",
      "| a |\n",
      "- x\n",
      "检查缓存，",
      "x_1 ",
      "7 ",
    );
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 300 }),
        fc.integer({ min: 1, max: 50 }),
        (words, size) => {
          const text = words.join("");
          const whole = new BlockWatch("thinking").push(text);
          const watch = new BlockWatch("thinking");
          let found: ReturnType<BlockWatch["push"]>;
          for (let i = 0; i < text.length && found === undefined; i += size)
            found = watch.push(text.slice(i, i + size));
          assert.deepEqual(found, whole);
        },
      ),
    );
  });
});
