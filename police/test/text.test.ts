import assert from "node:assert/strict";
import { describe, it } from "node:test";

import fc from "fast-check";

import { BoundedMap } from "../detectors/bounded_map.ts";
import { CallsSequence } from "../detectors/calls_sequence.ts";
import { DoubledSuffix } from "../detectors/text/doubled_suffix.ts";
import { ParagraphCounter, type ParagraphRules } from "../detectors/text/paragraph_counter.ts";
import { RollingHash } from "../detectors/text/rolling_hash.ts";
import { similarity, wordsOf } from "../detectors/text/similarity.ts";

/** Texts that repeat themselves often, in pieces of several sizes. */
const repetitive = fc
  .array(fc.tuple(fc.stringMatching(/^[ab \n|`]{1,12}$/), fc.integer({ min: 1, max: 6 })), {
    maxLength: 12,
  })
  .map((parts) => parts.map(([piece, times]) => piece.repeat(times)).join(""));

describe("A doubled suffix", () => {
  /** Obviously right: compares every pair of neighbouring blocks at the end. */
  function naive(text: string, min: number, max: number): number {
    for (let size = min; size <= max && 2 * size <= text.length; size++) {
      if (text.slice(-size) === text.slice(-2 * size, -size)) return size;
    }
    return 0;
  }

  it("is found after every character exactly when the naive search finds it", () => {
    fc.assert(
      fc.property(
        repetitive,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 40 }),
        (text, min, more) => {
          const suffix = new DoubledSuffix(min, min + more);
          for (let end = 1; end <= text.length; end++) {
            suffix.push(text.charCodeAt(end - 1));
            assert.equal(suffix.find(), naive(text.slice(0, end), min, min + more), text);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  it("is found at the default sizes, wherever the loop begins", () => {
    const sentence = fc.stringMatching(/^[a-f ]{40,400}$/);
    fc.assert(
      fc.property(sentence, sentence, fc.integer({ min: 1, max: 5 }), (before, block, times) => {
        const text = before + block.repeat(times);
        const suffix = new DoubledSuffix(80, 4000);
        for (let i = 0; i < text.length; i++) suffix.push(text.charCodeAt(i));
        assert.equal(suffix.find(), naive(text, 80, 4000));
        assert.equal(suffix.length, text.length);
      }),
      { numRuns: 300 },
    );
  });

  it("is found as long as the longest block, and not one character longer", () => {
    const block = (size: number) => Array.from({ length: size }, (_, i) => i % 251).concat(size);
    for (const [size, found] of [
      [127, 128],
      [128, 0],
    ] as const) {
      const suffix = new DoubledSuffix(2, 128);
      for (const code of [...block(size), ...block(size)]) suffix.push(code);
      assert.equal(suffix.find(), found);
    }
  });
});

describe("A rolling hash", () => {
  it("does not take parts of the same hash for equal", () => {
    // The Thue-Morse sequence and its complement collide modulo any power of two.
    const bits = Array.from(
      { length: 2048 },
      (_, i) => i.toString(2).replaceAll("0", "").length % 2,
    );
    const text = new RollingHash(4096);
    for (const bit of bits) text.push(bit);
    for (const bit of bits) text.push(1 - bit);
    assert.equal(text.hash(4096, 2048), text.hash(2048, 2048));
    assert.equal(text.equal(4096, 2048, 2048), false);
  });
});

describe("A paragraph that comes back", () => {
  const rules: ParagraphRules = { minLength: 5, fingerprint: 8, threshold: 3 };

  /** Obviously right: cuts the whole text into paragraphs again for every character. */
  function naive(text: string, { minLength, fingerprint, threshold }: ParagraphRules) {
    const counts = new Map<string, number>();
    let inFence = false;
    let start = 0;
    const delimiter = /\n\n+/g;
    for (;;) {
      const match = delimiter.exec(text);
      const paragraph = text.slice(start, match?.index);
      const trimmed = paragraph.trim();
      const word = /\S*:\/\/\S*/y;
      let key = trimmed.slice(0, fingerprint);
      word.lastIndex = key.search(/\S*$/);
      const address = trimmed.length >= fingerprint && /:\/\/\S*$/.test(key) && word.exec(trimmed);
      if (address) key = trimmed.slice(0, Math.min(word.lastIndex, fingerprint * 8));
      const whole = trimmed.length > key.length || paragraph.trimStart().length > key.length;
      const known = match !== null || (trimmed.length >= fingerprint && (!address || whole));
      const fences = paragraph.match(/```/g)?.length ?? 0;
      const counted = !inFence && fences === 0 && !trimmed.startsWith("|");
      if (known && counted && trimmed.length >= minLength) {
        const count = (counts.get(key) ?? 0) + 1;
        if (count >= threshold) return start;
        counts.set(key, count);
      }
      if (match === null) return undefined;
      if (fences % 2 === 1) inFence = !inFence;
      start = delimiter.lastIndex;
    }
  }

  function found(text: string, with_ = rules): number | undefined {
    const paragraphs = new ParagraphCounter(with_);
    for (let i = 0; i < text.length; i++) paragraphs.push(text.charCodeAt(i));
    return paragraphs.find();
  }

  it("is found after every character exactly when the naive search finds it", () => {
    const words = fc.constantFrom(
      "same words here",
      "same words there",
      "other text",
      "ab",
      "```",
      "`",
      "| a | b |",
      "http://x.y/longer/path",
      "http://x.y/longer/other",
      "\u00a0",
      "  x",
    );
    const paragraph = fc.array(words, { minLength: 1, maxLength: 3 }).map((some) => some.join(""));
    const gap = fc.constantFrom("\n\n", "\n\n", "\n\n", "\n\n\n", "\n", " ", "");
    const text = fc
      .array(fc.tuple(paragraph, gap), { minLength: 2, maxLength: 12, size: "max" })
      .map((parts) => parts.flat().join(""));
    fc.assert(
      fc.property(
        text,
        fc.record({
          minLength: fc.integer({ min: 1, max: 12 }),
          fingerprint: fc.integer({ min: 1, max: 12 }),
          threshold: fc.integer({ min: 2, max: 4 }),
        }),
        (written, chosen) => {
          const paragraphs = new ParagraphCounter(chosen);
          let first: number | undefined;
          for (let end = 1; end <= written.length; end++) {
            paragraphs.push(written.charCodeAt(end - 1));
            const expected = naive(written.slice(0, end), chosen);
            assert.equal(paragraphs.find(), expected, JSON.stringify(written.slice(0, end)));
            first ??= expected;
            if (first !== undefined) break;
          }
        },
      ),
      { numRuns: 3000 },
    );
  });

  it("is a loop the third time, and the second time is not", () => {
    assert.equal(found("same words\n\nsame words\n\n"), undefined);
    assert.equal(found("same words\n\nsame words\n\nsame words"), 24);
  });

  it("is no loop as rows of tables, inside a fence, or as addresses that differ at their end", () => {
    const thrice = (paragraph: (n: number) => string) => [1, 2, 3].map(paragraph).join("\n\n");
    assert.equal(found(thrice(() => "| name | size |")), undefined);
    assert.equal(found(`\`\`\`\n\n${thrice(() => "same words")}`), undefined);
    assert.equal(found(thrice((n) => `https://host.example/path/${n}`)), undefined);
    assert.notEqual(found(thrice(() => "https://host.example/path/1 text")), undefined);
  });

  it("stays a loop, whatever comes after it", () => {
    assert.equal(found("same words\n\nsame words\n\nsame words\n\nother text\n\n"), 24);
  });

  it("counts again after a fence that was closed", () => {
    const fenced = "```\n\nsame words\n\nsame words\n\n```\n\n";
    assert.equal(found(`${fenced}same words\n\nsame words`), undefined);
    const again = "same words\n\n".repeat(3);
    assert.equal(found(`${fenced}${again}`), fenced.length + 24);
  });

  it("is the same with white space before it, and differs by what is inside", () => {
    const indented = "same words\n\n \t same words\n\n\u00a0same words";
    assert.equal(found(indented), indented.indexOf("\u00a0"));
    const wide = `a${" ".repeat(20)}b`;
    assert.equal(found([wide, `${wide} c`, wide].join("\n\n")), 2 * wide.length + 6);
    assert.equal(found("sa\u00e9 words\n\nsame words\n\nsame words"), undefined);
  });

  it("is compared as an address only up to a bound", () => {
    const address = (end: string) => `http://${"a".repeat(70)}${end}`;
    assert.equal(found([1, 2, 3].map((n) => address(`${n}`)).join("\n\n")), 160);
  });
});

describe("Similarity", () => {
  it("is the share of common words", () => {
    assert.equal(similarity(wordsOf("a b c"), wordsOf("B  c\nd")), 0.5);
    assert.equal(similarity(wordsOf("a"), wordsOf("b")), 0);
  });

  it("is complete for two texts without words", () => {
    assert.equal(similarity(wordsOf(" "), wordsOf("")), 1);
  });
});

describe("A sequence of calls", () => {
  /** Obviously right: compares every pair of neighbouring sequences at the end. */
  function naive(history: readonly string[], key: string): number {
    const all = [...history, key];
    for (let size = 1; 2 * size <= all.length; size++) {
      const last = all.slice(-size).join();
      if (last === all.slice(-2 * size, -size).join()) return size;
    }
    return 0;
  }

  it("repeats exactly when the naive search over what is remembered says so", () => {
    const keys = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 60 });
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 30 }), fc.boolean(), (calls, reach, all) => {
        const sequence = new CallsSequence(reach);
        let history: string[] = [];
        for (const key of calls) {
          const expected = naive(history, key);
          assert.equal(sequence.wouldRepeat(key), expected);
          // As the police do it, repeats are not recorded; then also with them.
          if (expected > 0 && !all) continue;
          sequence.record(key);
          history = [...history, key].slice(-reach);
          assert.equal(sequence.size, history.length);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("does not repeat if what stands between differs, and does if it is the same", () => {
    const sequence = new CallsSequence(10);
    for (const key of ["a", "b", "a", "c"]) sequence.record(key);
    assert.equal(sequence.wouldRepeat("a"), 0);
    sequence.record("a");
    assert.equal(sequence.wouldRepeat("c"), 2);
  });

  it("does not take calls of the same hash for equal", () => {
    // Two texts whose 32-bit FNV-1a hashes collide.
    const [one, two] = ["bash 9pfs", "bash avja"] as const;
    const sequence = new CallsSequence(10);
    for (const key of ["a", one, "a"]) sequence.record(key);
    assert.equal(sequence.wouldRepeat(one), 2);
    assert.equal(sequence.wouldRepeat(two), 0);
    const longer = new CallsSequence(10);
    for (const key of ["a", one, "b", "a", two]) longer.record(key);
    assert.equal(longer.wouldRepeat("b"), 0);
  });

  it("forgets calls that left its history, so that a long session does not grow", () => {
    const sequence = new CallsSequence(10);
    for (let i = 0; i < 1000; i++) sequence.record(`call ${i}`);
    assert.equal(sequence.size, 10);
    sequence.record("call 0");
    assert.equal(sequence.wouldRepeat("call 0"), 1);
    assert.equal(sequence.wouldRepeat("call 1"), 0);
  });
});

describe("A bounded map", () => {
  it("forgets the entries that were written longest ago, all at once, and goes on", () => {
    const map = new BoundedMap<string, number>(2);
    for (const [n, key] of ["a", "b", "c", "d", "e"].entries()) map.set(key, n);
    assert.deepEqual([...map.keys()], ["c", "d", "e"]);
    assert.deepEqual([...map.values()], [2, 3, 4]);
    assert.deepEqual([map.has("b"), map.has("c")], [false, true]);
    map.clear();
    assert.equal(map.size, 0);
    assert.deepEqual([...map.keys()], []);
  });

  it("is a map as far as it remembers: at least its limit, at most twice as much", () => {
    const step = fc.tuple(
      fc.constantFrom("set", "delete", "clear"),
      fc.integer({ max: 9, min: 0 }),
    );
    const limits = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 60 }), (limit, steps) => {
        const map = new BoundedMap<number, number>(limit);
        const model = new Map<number, number>();
        /** The keys in the order in which they were last written, deleted ones too. */
        let written: number[] = [];
        for (const [n, [what, key]] of steps.entries()) {
          if (what === "set") {
            map.set(key, n);
            model.delete(key);
            model.set(key, n);
            written = [...written.filter((other) => other !== key), key];
          } else if (what === "delete") {
            assert.equal(map.has(key), map.delete(key));
            model.delete(key);
          } else if (n % 3 === 0) {
            map.clear();
            model.clear();
          }
          assert.ok(map.size <= 2 * limit);
          for (const newest of written.slice(-limit)) {
            assert.equal(map.get(newest), model.get(newest));
            assert.equal(map.has(newest), model.has(newest));
          }
          const remembered = [...model].filter(([known]) => map.has(known));
          assert.deepEqual(
            [...map.keys()],
            remembered.map(([known]) => known),
          );
          assert.deepEqual(
            [...map.values()],
            remembered.map(([, value]) => value),
          );
        }
      }),
    );
  });
});
