import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ParaphraseWatch, type Sentence } from "../streams/paraphrase.ts";

const WORDINGS = [
  "sales rose north fell south",
  "north saw rising sales south saw falling",
  "south lost sales north gained",
  "overall sales up north sales down south",
  "decline south increase north both sales",
  "north grew south shrank sales",
  "report shows south falling north rising sales",
  "bottom line south down north up sales",
  "sales essence north plus south minus",
];
const sentence = (text: string, more: Partial<Sentence> = {}): Sentence => ({
  stems: text.split(" "),
  fresh: 0,
  facts: 0,
  listed: false,
  at: 0,
  ...more,
});
/** The number, from 1, of the sentence at which paraphrasing is found; 0 if it is not. */
function foundAt(sentences: readonly Sentence[]): number {
  const watch = new ParaphraseWatch();
  return sentences.findIndex((one) => watch.push(one) !== undefined) + 1;
}

describe("sentences that share their words", () => {
  it("in ever other wording are a paraphrase from the eighth on", () => {
    assert.equal(foundAt(WORDINGS.map((text) => sentence(text))), 8);
  });

  it("say where they began", () => {
    const watch = new ParaphraseWatch();
    const found = WORDINGS.map((text, at) => watch.push(sentence(text, { at: 10 * at })));
    assert.equal(found[7], 10);
  });

  it("and name new facts are none", () => {
    assert.equal(
      foundAt(WORDINGS.map((text, i) => sentence(text, { facts: i % 4 === 3 ? 1 : 0 }))),
      0,
    );
  });

  it("and bring many new words are none", () => {
    assert.equal(foundAt(WORDINGS.map((text) => sentence(text, { fresh: 4 }))), 0);
  });

  it("as items of a list are none", () => {
    assert.equal(foundAt(WORDINGS.map((text, i) => sentence(text, { listed: i % 3 === 0 }))), 0);
  });

  it("word for word are left to others", () => {
    assert.equal(foundAt([...WORDINGS.slice(0, 5), ...WORDINGS].map((text) => sentence(text))), 0);
    assert.equal(
      foundAt(Array.from({ length: 20 }, () => sentence("sales rose north fell south"))),
      0,
    );
  });

  it("as one form that is filled in again and again are none", () => {
    const names = "ulm bern gent lyon pisa riga brno graz cork bath".split(" ");
    assert.equal(
      foundAt(names.map((name) => sentence(`${name} incidents systems normal`, { fresh: 1 }))),
      0,
    );
    assert.notEqual(foundAt(names.map((name) => sentence(`${name} incidents systems normal`))), 0);
  });

  it("with something else shown in between begin anew", () => {
    const watch = new ParaphraseWatch();
    for (const text of WORDINGS) {
      assert.equal(watch.push(sentence(text)), undefined);
      if (text.startsWith("north grew")) watch.interrupt();
    }
  });

  it("that share nothing are other sentences", () => {
    const others = "abcdefghij".split("").map((c) => sentence(`${c}a ${c}b ${c}c ${c}d`));
    assert.equal(foundAt(others), 0);
  });
});
