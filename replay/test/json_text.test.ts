/** Where a fault in JSON text is said to be. */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { parseJson } from "../json_text.ts";

/** The text with a mark in front of the place where its fault must be found. */
const FAULTS: readonly [string, string][] = [
  ["nothing at all", "^"],
  ["only space", " \n\t^"],
  ["an unknown word", '{"a": ^x}'],
  ["a word cut short", "[^tru]"],
  ["a missing comma in an object", '{"a": 1 ^"b": 2}'],
  ["a missing comma in a list", "[1 ^2]"],
  ["a missing colon", '{"a" ^1}'],
  ["a comma before the end of an object", '{"a": 1,^}'],
  ["a comma before the end of a list", "[1,^]"],
  ["a comma at the beginning", "[^,1]"],
  ["a colon in a list", "[1^:2]"],
  ["a comma behind the document", "1^,2"],
  ["a name that is a number", "{^1: 2}"],
  ["a name without a value", '{"a"^}'],
  ["a value without a name", "{^[]}"],
  ["the wrong closing bracket", '{"a": [1^}'],
  ["the other wrong closing bracket", '["a"^}'],
  ["an empty list closed as an object", "[^}"],
  ["an empty object closed as a list", "{^]"],
  ["a closing bracket too many", '{"a": 1}^}'],
  ["a closing bracket alone", "^]"],
  ["two documents", "{} ^{}"],
  ["an object that is not closed", '{"a": 1^'],
  ["a list that is not closed", "[[]^"],
  ["a leading zero", "0^1"],
  ["a plus sign", "^+1"],
  ["a comment", "^// why\n"],
  ["a quote of another kind", "[^'a']"],
  ["an unknown escape", '"a^\\q"'],
  ["an escape cut short", '"a^\\u12"'],
  ["a control character in a text", '["a^\u0001"]'],
  ["a line end in a text", '["a^\n"]'],
  ["a text that is not closed", '["abc^'],
  ["a fault behind characters that only look forbidden", '["\u007f\u0085", ^x]'],
  ["a byte order mark", "^\ufeff{}"],
  ["an unknown word in place of a name", "{^x: 1}"],
  ["an unknown word behind a value", "[1 ^x]"],
  ["a minus sign alone", "[^-]"],
];

for (const [what, marked] of FAULTS) {
  test(`${what} is found where it stands`, () => {
    const [before = "", after = ""] = marked.split("^");
    const lines = before.split("\n");
    assert.deepEqual(parseJson(before + after), {
      ok: false,
      kind: "syntax",
      line: lines.length,
      column: (lines.at(-1) ?? "").length + 1,
    });
  });
}

/** Valid JSON, of which `JSON.parse` would quietly make something else; marked like the faults. */
const MISREAD: readonly ["repeated name" | "number too large", string][] = [
  ["repeated name", '{"a": 1, ^"a": 1}'],
  ["repeated name", '[{"a": 1,\n^"a": 2}, {"b": 1e999}]'],
  ["repeated name", '{"a": {"b": 1}, ^"\\u0061": 2}'],
  ["repeated name", '{"__proto__": 1, ^"__proto__": 2}'],
  ["repeated name", '{"": 1, ^"": 2'],
  ["number too large", "^1e999"],
  ["number too large", '{"a": [1.5, ^-1E+400]}'],
];

for (const [kind, marked] of MISREAD) {
  test(`${marked} has a ${kind}`, () => {
    const [before = "", after = ""] = marked.split("^");
    const lines = before.split("\n");
    assert.deepEqual(parseJson(before + after), {
      ok: false,
      kind,
      line: lines.length,
      column: (lines.at(-1) ?? "").length + 1,
    });
  });
}

test("a name may stand in two objects, as a value, and in a list; numbers may be the largest", () => {
  const text = '{"a": {"a": "a"}, "b": [{"a": 1}, {"a": 1}, "a", "a"], "A": 1.7e308, "c": 1e-999}';
  assert.deepEqual(parseJson(text), { ok: true, value: JSON.parse(text) });
});

test("every document that is written by JSON.stringify is read as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseJson(text), { ok: true, value: JSON.parse(text) });
    }),
  );
});

test("valid text gives its value, with characters that only look forbidden", () => {
  const text = ' {"a": [1, -0.5e+3, "\u007f\u0085\\u0001\\/ \ud800"]}\r\n';
  assert.deepEqual(parseJson(text), { ok: true, value: JSON.parse(text) });
});

test("a mark before any token of any document is found on its line and column", () => {
  const layout = fc.constantFrom(undefined, 1, "\t");
  fc.assert(
    fc.property(fc.json(), layout, fc.nat(), (json, indent, choice) => {
      const text = JSON.stringify(JSON.parse(json), null, indent);
      const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)];
      const at = tokens[choice % tokens.length]?.index ?? 0;
      const lines = text.slice(0, at).split("\n");
      assert.deepEqual(parseJson(`${text.slice(0, at)}#${text.slice(at)}`), {
        ok: false,
        kind: "syntax",
        line: lines.length,
        column: (lines.at(-1) ?? "").length + 1,
      });
    }),
  );
});

test("a document cut short is at fault where it ends, or within its last token", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (value, choice) => {
      const text = JSON.stringify(value);
      const cut = text.slice(0, choice % text.length);
      const result = parseJson(cut);
      assert.ok(!result.ok);
      assert.equal(result.kind, "syntax");
      // JSON.stringify puts all on one line. What follows the fault is the beginning of one token.
      assert.match(cut.slice(result.column - 1), /^(?:|\\.{0,5}|[-+.\w]+)$/);
    }),
  );
});
