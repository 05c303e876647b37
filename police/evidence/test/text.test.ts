import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { numberChange, outcomeOf } from "../text/outcome.ts";
import { skeleton } from "../text/volatile.ts";
import { contentWords, meaningfulWords } from "../text/words.ts";

describe("an outcome", () => {
  const of = (text: string, isError = false) => outcomeOf(text, isError);

  it("knows a state that is not final", () => {
    for (const text of ["pending", '{"status":"in_progress"}', "ContainerCreating", "等待中"]) {
      assert.equal(of(text).waiting, true, text);
    }
    assert.equal(of("connection refused", true).waiting, true);
    assert.equal(of("still running", true).waiting, false);
    assert.equal(of("building failed").waiting, false);
    assert.equal(of(`running ${"x".repeat(300)}`).waiting, false);
    assert.equal(of("done").waiting, false);
  });

  it("knows an answer that only says it was done", () => {
    assert.equal(of("ok").acknowledgement, true);
    assert.equal(of("ok", true).acknowledgement, false);
    assert.equal(of("x".repeat(30)).acknowledgement, false);
  });

  it("keeps times apart from noise where they were asked for", () => {
    const at = (ms: number, measured: boolean) =>
      outcomeOf(`time=${ms}.5 ms`, false, measured).print;
    assert.equal(at(3, false), at(9, false));
    assert.notEqual(at(3, true), at(9, true));
  });

  it("keeps a bounded part of the text and of its numbers", () => {
    const numbers = Array.from({ length: 90 }, (_, i) => i).join(" ");
    assert.equal(skeleton(numbers).numbers.length, 64);
    assert.equal(of("y ".repeat(2_000)).plain.length, 1_000);
  });

  const changes: [string, string, ReturnType<typeof numberChange>][] = [
    ["10%", "20%", "progress"],
    ["rows: 5", "rows: 9", "progress"],
    ["5 files copied", "9 files copied", "progress"],
    ["run 5 ended", "run 6 ended", "counter"],
    ["load 5", "load 7", "unclear"],
    ["run 1 load 5", "run 2 load 7", "unclear"],
    ["same 5", "same 5", "counter"],
  ];
  for (const [before, after, change] of changes) {
    it(`"${after}" after "${before}" is ${change}`, () => {
      assert.equal(numberChange(of(before), of(after)), change);
    });
  }
});

describe("the words that muse", () => {
  it("are no content, and are told apart", () => {
    assert.deepEqual(
      meaningfulWords("Maybe I need the parser").map((word) => [word.stem, word.musing]),
      [
        ["mayb", true],
        ["need", true],
        ["pars", false],
      ],
    );
  });
});

describe("the content words of a text", () => {
  const stems = (text: string) => contentWords(text).map((word) => word.stem);
  const hard = (text: string) =>
    contentWords(text)
      .filter((word) => word.hard)
      .map((word) => word.stem);

  it("leave out what every text is full of, and the endings of words", () => {
    assert.deepEqual(stems("And then the parser parses the tokens again"), [
      "pars",
      "pars",
      "token",
    ]);
    assert.deepEqual(stems("Wir prüfen die Datei, und wir prüften sie"), [
      "prüf",
      "datei",
      "prüft",
    ]);
    assert.deepEqual(stems("the sees runs; users' use"), ["see", "run", "users"]);
  });

  it("tell what is spelled from what is said", () => {
    assert.deepEqual(hard("call parseToken in src/a.ts, line 88, for max_tries and v2."), [
      "parseToken",
      "src/a.ts",
      "88",
      "max_tries",
      "v2",
    ]);
  });

  it("are pairs of signs where no spaces are written", () => {
    assert.deepEqual(stems("检查缓存"), ["检查", "查缓", "缓存"]);
    assert.deepEqual(stems("再"), []);
    assert.deepEqual(stems("キャッシュを確認します"), ["キャッシュ", "確認"]);
    assert.deepEqual(stems("ภาษา"), ["ภาษ", "าษา"]);
    assert.deepEqual(stems("캐시를 확인하자, 캐시가 오래되다"), ["캐시", "확인", "캐시", "오래"]);
  });

  it("do not count the target of a link, nor parts of compounds that are short", () => {
    assert.deepEqual(stems("[the manual](https://x.example/manual) re-check"), ["manual", "check"]);
  });
});
