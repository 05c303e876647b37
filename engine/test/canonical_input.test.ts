/** When two inputs are the same JSON value, and which inputs are no JSON and never compared. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import vm from "node:vm";
import { createLoopBreaker } from "../engine.ts";
import {
  ADMITTED,
  assertAdmitted,
  assertDifferent,
  assertIdentical,
  assertNeverCompared,
  assertRefused,
  call,
} from "./support.ts";

/** Parsed as Pi parses what a model wrote, so that `__proto__` is an ordinary property. */
function json(text: string): unknown {
  return JSON.parse(text);
}

/** `levels` containers around a value, alternating between arrays and objects. */
function nested(levels: number, core: unknown): unknown {
  let value = core;
  for (let i = 0; i < levels; i += 1) value = i % 2 === 0 ? [value] : { value };
  return value;
}

describe("objects", () => {
  it("are identical in whatever order their properties stand", () => {
    assertIdentical(json('{"a":1,"b":2,"c":3}'), json('{"c":3,"a":1,"b":2}'));
  });

  it("are identical in whatever order the properties of inner objects stand", () => {
    assertIdentical(
      json('{"edits":[{"old":"a","new":{"x":1,"y":[]}}],"path":"p"}'),
      json('{"path":"p","edits":[{"new":{"y":[],"x":1},"old":"a"}]}'),
    );
  });

  it("differ when values change places between properties", () => {
    assertDifferent({ a: 1, b: 2 }, { a: 2, b: 1 });
    assertDifferent({ a: { x: 1 }, b: { y: 1 } }, { b: { x: 1 }, a: { y: 1 } });
  });

  it("differ by a property, whatever its value", () => {
    assertDifferent({}, { a: null });
    assertDifferent({ a: 1 }, { a: 1, b: false });
    assertDifferent({ a: 1, b: "" }, { a: 1, c: "" });
  });

  it("differ when an inner one moves to another property", () => {
    assertDifferent({ a: {}, b: [] }, { a: [], b: {} });
    assertDifferent({ a: { b: {} } }, { a: {}, b: {} });
  });

  it("are identical with numeric names in any order", () => {
    assertIdentical(json('{"10":1,"9":2,"b":3,"a":4}'), json('{"a":4,"b":3,"9":2,"10":1}'));
    // The engine moves array indices to the front, but not these.
    assertIdentical(json('{"01":1,"4294967295":2,"-1":3}'), json('{"-1":3,"4294967295":2,"01":1}'));
  });

  it("differ between numeric names that are only equal as numbers", () => {
    assertDifferent(json('{"1":0}'), json('{"01":0}'));
    assertDifferent(json('{"1":0}'), json('{"1.0":0}'));
  });

  it("are identical with a null prototype, or from another realm", () => {
    const nullPrototype = Object.assign(Object.create(null), { a: [1, { b: 2 }] });
    const otherRealm: unknown = vm.runInNewContext("({ a: [1, { b: 2 }] })");
    assertIdentical(nullPrototype, { a: [1, { b: 2 }] });
    assertIdentical(otherRealm, { a: [1, { b: 2 }] });
    assertDifferent(nullPrototype, { a: [1, { b: 3 }] });
    assertDifferent(otherRealm, { a: [1, { b: 3 }] });
  });

  it("may hold one object twice, as that is no cycle", () => {
    const shared = { a: [1] };
    assertIdentical({ x: shared, y: shared }, { x: { a: [1] }, y: { a: [1] } });
    assertDifferent({ x: shared, y: shared }, { x: shared, y: { a: [2] } });
  });
});

describe("the properties that an object has", () => {
  it("include an own __proto__, at the top", () => {
    assertIdentical(json('{"__proto__":{"a":1}}'), json('{"__proto__":{"a":1}}'));
    assertDifferent(json('{"__proto__":{"a":1}}'), json('{"__proto__":{"a":2}}'));
    assertDifferent(json('{"__proto__":{"a":1}}'), json("{}"));
    assertDifferent(json('{"__proto__":null}'), json("{}"));
  });

  it("include an own __proto__, further in", () => {
    assertIdentical(json('[{"x":{"__proto__":1,"y":2}}]'), json('[{"x":{"y":2,"__proto__":1}}]'));
    assertDifferent(json('[{"x":{"__proto__":1}}]'), json('[{"x":{"__proto__":2}}]'));
    assertDifferent(json('[{"x":{"__proto__":1}}]'), json('[{"x":{}}]'));
    assertDifferent(
      json('{"__proto__":{"__proto__":"a"}}'),
      json('{"__proto__":{"__proto__":"b"}}'),
    );
  });

  it("include names that every object inherits", () => {
    assertDifferent(json('{"constructor":1}'), json('{"constructor":2}'));
    assertDifferent(json('{"hasOwnProperty":1}'), json("{}"));
    assertDifferent(json('{"isPrototypeOf":1}'), json('{"isPrototypeOf":2}'));
  });

  it("include toJSON where it is data", () => {
    assertIdentical({ toJSON: "a" }, { toJSON: "a" });
    assertDifferent({ toJSON: "a" }, { toJSON: "b" });
  });

  it("include what a getter gives, which is asked once for each call", () => {
    let asked = 0;
    const input = {
      get path() {
        asked += 1;
        return "a.py";
      },
    };
    assertIdentical(input, { path: "a.py" });
    // Five calls in one direction, and one in the other.
    assert.equal(asked, 6);
    assertDifferent(input, { path: "b.py" });
  });

  it("leave out those that are not enumerable, as JSON text does", () => {
    const hidden = Object.defineProperty({ a: 1 }, "b", { value: 2 });
    assertIdentical(hidden, { a: 1 });
    assertDifferent(hidden, { a: 1, b: 2 });
  });

  it("leave out what is inherited", () => {
    assertIdentical({}, json("{}"));
    assertDifferent({}, json('{"toString":null}'));
  });
});

describe("arrays", () => {
  it("differ by order", () => {
    assertDifferent([1, 2], [2, 1]);
    assertDifferent({ a: ["x", "y"] }, { a: ["y", "x"] });
    assertDifferent([{ a: 1 }, { a: 2 }], [{ a: 2 }, { a: 1 }]);
  });

  it("differ by length", () => {
    assertDifferent([], [null]);
    assertDifferent([1], [1, 0]);
    assertDifferent([""], ["", ""]);
  });

  it("differ by where the brackets stand", () => {
    assertDifferent([[1], 2], [[1, 2]]);
    assertDifferent([[], [[]]], [[[]], []]);
    assertDifferent([[1, 2], []], [[1], [2]]);
  });

  it("differ from objects with the same content", () => {
    assertDifferent([], {});
    assertDifferent(["a"], { 0: "a" });
    assertDifferent([1], { 0: 1, length: 1 });
    assertDifferent({ a: [] }, { a: {} });
  });

  it("leave out named extras, as JSON text does", () => {
    assertIdentical(Object.assign([1, 2], { extra: 3 }), [1, 2]);
  });
});

describe("primitive values", () => {
  it("differ by type alone", () => {
    const alike = [1, "1", true, "true", null, "null", false, "false", 0, "0", "", [], {}];
    for (const [i, first] of alike.entries()) {
      for (const second of alike.slice(i + 1)) {
        assertDifferent(first, second);
        assertDifferent({ value: first }, { value: second });
      }
    }
  });

  it("are identical for 0 and -0, the same number in JSON", () => {
    assertIdentical({ offset: 0 }, { offset: -0 });
    assertIdentical({ offset: -0 }, json('{"offset":-0}'));
  });

  it("are identical for the same number written differently", () => {
    assertIdentical(json("[100, 0.5]"), json("[1e2, 5E-1]"));
  });

  it("differ by the least difference between two numbers", () => {
    assertDifferent(0.1 + 0.2, 0.3);
    assertDifferent(2 ** 53, 2 ** 53 - 1);
    assertDifferent(Number.MIN_VALUE, 0);
    assertDifferent(Number.MAX_VALUE, -Number.MAX_VALUE);
  });

  it("differ between texts that only look or sort alike", () => {
    assertDifferent("\u00e9", "e\u0301");
    assertDifferent("ls", "ls ");
    assertDifferent("a\nb", "a\\nb");
    assertDifferent("\0", "");
  });

  it("differ by lone surrogates, which no encoding may merge", () => {
    assertDifferent("\ud800", "\udc00");
    assertDifferent("\ud800", "\ufffd");
    assertDifferent("\ud83d\ude00", "\ude00\ud83d");
    assertDifferent({ "\ud800": 1 }, { "\udfff": 1 });
    assertIdentical(json('{"\\ud800":1,"\\uffff":2}'), json('{"\\uffff":2,"\\ud800":1}'));
  });

  it("differ by one character anywhere in a long text", () => {
    const text = "x".repeat(1000);
    for (const at of [0, 1, 250, 499, 500, 501, 998, 999]) {
      assertDifferent(text, `${text.slice(0, at)}y${text.slice(at + 1)}`);
    }
  });
});

describe("deep and large inputs", () => {
  it("are compared through 20,000 levels", () => {
    assertIdentical(nested(20_000, "core"), nested(20_000, "core"));
    assertDifferent(nested(20_000, "core"), nested(20_000, "other"));
    assertDifferent(nested(20_000, []), nested(20_000, {}));
    assertDifferent(nested(20_000, 1), nested(20_001, 1));
  });

  it("are compared through megabytes of text", () => {
    const content = 'print("hello")\n'.repeat(300_000);
    assertIdentical({ path: "a.py", content }, { content: `${content}`, path: "a.py" });
    assertDifferent({ content: `${content}a` }, { content: `${content}b` });
  });

  it("are compared through a hundred thousand values", () => {
    const rows = (last: number) =>
      Array.from({ length: 25_000 }, (_, i) => ({ id: i, name: `row ${i}`, last, even: i % 2 }));
    assertIdentical(rows(1), rows(1));
    assertDifferent(rows(1), [...rows(1).slice(1), { id: 0, name: "row 0", last: 1, even: 1 }]);
  });

  it("are compared up to 16 Mi characters, and admitted beyond", () => {
    const text = "x".repeat(2 ** 24);
    assertIdentical(text, text);
    assertNeverCompared(`${text}x`);
  });

  it("count an object as 64, and a property name and its value as 16 characters", () => {
    const content = "x".repeat(2 ** 24 - 64 - 2 * 16 - "content".length);
    assertIdentical({ content }, { content });
    assertNeverCompared({ content: `${content}x` });
  });

  it("count an array as 64, and an element as 16 characters", () => {
    const most = 2 ** 20 - 4;
    assertIdentical(new Array(most).fill(null), new Array(most).fill(null));
    assertNeverCompared(new Array(most + 1).fill(null));
  });

  it("are compared through 200,000 levels, four hundred kilobytes of brackets", () => {
    let brackets: unknown = [];
    for (let i = 1; i < 200_000; i += 1) brackets = [brackets];
    assertIdentical(brackets, brackets);
  });
});

describe("inputs that resemble each other", () => {
  /** As many inputs as can each stand five times among the last twenty. */
  const ALIKE = 4;

  /** Each of the alike inputs is remembered five times, and then all of them are refused. */
  function assertToldApart(make: (variant: number) => unknown): void {
    const inspect = createLoopBreaker();
    for (let i = 0; i < ADMITTED; i += 1) {
      for (let variant = 0; variant < ALIKE; variant += 1) {
        assertAdmitted(inspect, call("tool", make(variant)));
      }
    }
    for (let variant = 0; variant < ALIKE; variant += 1) {
      assertRefused(inspect, call("tool", make(variant)));
    }
    assertAdmitted(inspect, call("tool", make(ALIKE)));
  }

  function withMiddle(variant: number): string {
    return `${"x".repeat(500)}${variant}${"x".repeat(500)}`;
  }

  it("are told apart by one character in the middle of a text", () => {
    assertToldApart((variant) => ({ path: "a.py", content: withMiddle(variant) }));
  });

  it("are told apart by one character in one of many edits", () => {
    const edits = (variant: number) =>
      Array.from({ length: 50 }, (_, i) => ({
        oldText: withMiddle(0),
        newText: withMiddle(i === 30 ? variant : 0),
      }));
    assertToldApart((variant) => ({ path: "a.py", edits: edits(variant) }));
  });

  it("are told apart by which property holds which long text", () => {
    const all = Array.from({ length: 5 }, (_, i) => withMiddle(i));
    assertToldApart((variant) => {
      const turned = [...all.slice(variant), ...all.slice(0, variant)];
      return Object.fromEntries(turned.map((text, i) => [`name ${i}`, text]));
    });
  });

  it("are told apart by one name among many", () => {
    const names = Array.from({ length: 100 }, (_, i) => `name ${i}`);
    assertToldApart((variant) =>
      Object.fromEntries([...names, `last ${variant}`].map((name) => [name, 1])),
    );
  });

  it("are told apart by one boolean among many", () => {
    assertToldApart((variant) => Array.from({ length: 100 }, (_, i) => i === variant));
  });

  it("are told apart by names when the objects of a list begin with the same one", () => {
    assertToldApart((variant) => [
      { a: 1, b: 1 },
      { a: 1, [`c${variant}`]: 1 },
      { a: 1, b: 1 },
    ]);
  });

  // The numbers are chosen so that each pair has one hash. Coverage falls below 100% when the hash
  // changes and they no longer do: then only these comparisons find the difference.
  it("are told apart when they happen to have the same hash", () => {
    assertDifferent({ a: 1 }, [5.024398955e-315]);
    assertDifferent({ a: 1 }, { b: 1.190310502e-314 });
    assertDifferent([1], [1.5182705206e-314, 1]);
    assertDifferent([1, 2], [1.425902744e-314, 1]);
    const most = { b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1 };
    assertDifferent({ a: 1, ...most }, { ...most, z: 2.0280375905e-314 });
  });
});

describe("objects of many properties", () => {
  it("are identical in whatever order the properties stand", () => {
    const entries = Array.from({ length: 50 }, (_, i) => [`name ${i}`, { value: i }] as const);
    const first = Object.fromEntries(entries);
    assertIdentical(first, Object.fromEntries(entries.toReversed()));
    assertDifferent(first, Object.fromEntries([...entries.slice(1), ["name 0", { value: 1 }]]));
  });

  it("keep a name once, and count its characters once, when a list repeats it", () => {
    const list = (name: (i: number) => string) =>
      Array.from({ length: 200 }, (_, i) => ({ [name(i)]: i }));
    const long = "x".repeat(100_000);
    assertIdentical(
      list(() => long),
      list(() => long),
    );
    // Also when the names of objects take turns.
    assertIdentical(
      list((i) => `${i % 2}${long}`),
      list((i) => `${i % 2}${long}`),
    );
    assertNeverCompared(list((i) => `${i}${long}`));
  });
});

describe("what is not JSON is admitted and not remembered", () => {
  class Point {
    x = 1;
  }
  class List extends Array {}
  const symbol = Symbol("s");
  const sparse = [1, 2, 3];
  delete sparse[1];

  const notJson: Record<string, unknown> = {
    undefined: undefined,
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    "-Infinity": Number.NEGATIVE_INFINITY,
    "a bigint": 1n,
    "a function": () => 1,
    "a symbol": symbol,
    "a class instance": new Point(),
    "a date": new Date(0),
    "a date of another realm": vm.runInNewContext("new Date(0)"),
    "a map": new Map([["a", 1]]),
    "a set": new Set([1]),
    "a regular expression": /a/,
    "a boxed string": Object("a"),
    "a boxed number": Object(1),
    bytes: new Uint8Array(2),
    "an error": new Error("a"),
    "a promise": Promise.resolve(1),
    "the arguments of a call": (function () {
      // biome-ignore lint/complexity/noArguments: this object is what is tested
      return arguments;
    })(),
    "an object with a prototype of its own": Object.create({ a: 1 }),
    "an object whose prototype has none": Object.create(Object.create(null)),
    "an array of a class of its own": List.of(1),
    "an array without a prototype": Object.setPrototypeOf([1], null),
    "an array with another array as its prototype": Object.setPrototypeOf([1], []),
    "an array with the prototype of objects": Object.setPrototypeOf([1], Object.prototype),
    "an object with a symbol for a name": { a: 1, [symbol]: 2 },
    "an array with a symbol for a name": Object.assign([1], { [symbol]: 2 }),
    "an object with toJSON as a method": { a: 1, toJSON: () => ({}) },
    "an array with a hole": sparse,
    "an array of holes": new Array(3),
  };
  for (const [what, value] of Object.entries(notJson)) {
    it(`${what}, alone or inside`, () => {
      assertNeverCompared(value);
      assertNeverCompared([value]);
      assertNeverCompared({ a: { b: value }, c: 1 });
    });
  }

  it("has admitted siblings that are remembered", () => {
    for (const value of [null, 0, "a", "undefined", true, { x: 1 }, [1, null, 3], [[], {}]]) {
      assertIdentical(value, structuredClone(value));
    }
  });
});

describe("hostile inputs", () => {
  it("are never asked to turn themselves into something else", () => {
    const never = () => {
      throw new assert.AssertionError({ message: "the guard called into the input" });
    };
    let called = false;
    const call = () => {
      called = true;
      return never();
    };
    assertNeverCompared({ toJSON: call, toString: call, valueOf: call });
    assertNeverCompared({ [Symbol.toPrimitive]: call, [Symbol.iterator]: call });
    assert.equal(called, false);
  });

  it("are admitted when a getter throws", () => {
    const refuse = () => {
      throw new Error("hands off");
    };
    assertNeverCompared(Object.defineProperty({}, "a", { enumerable: true, get: refuse }));
    assertNeverCompared([Object.defineProperty([1], 0, { get: refuse })]);
  });

  it("are admitted when a proxy throws", () => {
    const { proxy, revoke } = Proxy.revocable({ a: 1 }, {});
    revoke();
    assertNeverCompared(proxy);
    const refuse = () => {
      throw new Error("hands off");
    };
    for (const trap of ["get", "ownKeys", "getPrototypeOf"] as const) {
      assertNeverCompared({ a: new Proxy({ b: 1 }, { [trap]: refuse }) });
    }
  });

  it("are compared when a proxy behaves like what it stands for", () => {
    assertIdentical(new Proxy({ a: [1] }, {}), { a: [1] });
    assertIdentical(new Proxy([1, 2], {}), [1, 2]);
    assertDifferent(new Proxy({ a: [1] }, {}), { a: [2] });
  });

  it("are admitted when an array lies about its length", () => {
    for (const length of [undefined, Number.NaN, "2", -1, 1.5, 2 ** 40, { valueOf: () => 1 }]) {
      const get = (_: unknown, name: string | symbol) => (name === "length" ? length : 1);
      assertNeverCompared(new Proxy([], { get }));
    }
  });

  it("are admitted when they contain themselves", () => {
    const object: { self?: unknown } = {};
    object.self = object;
    assertNeverCompared(object);
    const array: unknown[] = [];
    array.push({ around: [array] });
    assertNeverCompared(array);
  });

  it("are admitted when they have no end", () => {
    const endless = (): object => new Proxy({ next: 0 }, { get: endless });
    const inspected = endless();
    assertNeverCompared(inspected);
  });

  it("are admitted when a few arrays stand for billions of values", () => {
    let laughs: unknown = "ha";
    for (let i = 0; i < 64; i += 1) laughs = [laughs, laughs];
    assertNeverCompared(laughs);
  });
});
