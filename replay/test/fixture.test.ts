/** What is a fixture, and how a file that is none is refused. */

import assert from "node:assert/strict";
import { mkdir, open, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { parseFixture, readFixture } from "../fixture.ts";
import { ROOT, scratchFolder } from "./project.ts";

/** A row of the documents that the JSON schema is tested with as well. */
interface Row {
  readonly title: string;
  /** The sentences of the reader; none for a fixture. */
  readonly problems: readonly string[];
  readonly document: unknown;
}

const ROWS: readonly Row[] = JSON.parse(
  await readFile(path.join(ROOT, "fixtures", "testdata", "guard_documents.json"), "utf8"),
);

const LEAST = JSON.stringify({
  name: "least",
  calls: [{ toolName: "bash", input: {} }],
  expected: { blocked: 0, entries: 0, firstBlock: null },
});

for (const { title, problems, document } of ROWS) {
  const verdict = problems.length === 0 ? "is a fixture" : "is refused";
  test(`${title}: ${verdict}`, () => {
    const expected =
      problems.length === 0 ? { ok: true, fixture: document } : { ok: false, problems };
    assert.deepEqual(parseFixture(JSON.stringify(document)), expected);
  });
}

test("an argument named __proto__ is an own property of the input that is replayed", () => {
  const result = parseFixture(LEAST.replace('"input":{}', '"input":{"__proto__":{"n":1}}'));
  assert.ok(result.ok);
  assert.deepEqual(Object.keys(result.fixture.calls[0]?.input ?? {}), ["__proto__"]);
});

test("a document does not inherit the fields that it lacks", () => {
  const result = parseFixture(`{"__proto__": ${LEAST}}`);
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map((problem) => problem.split(" is ")[0]),
    ["$.__proto__", "$.name", "$.calls", "$.expected"],
  );
});

test("text that is no JSON is refused with its line and column", () => {
  assert.deepEqual(parseFixture('{\n  "name": x\n}'), {
    ok: false,
    problems: ["is not valid JSON; correct line 2, column 11"],
  });
});

test("a name that an object has twice is refused with its line and column", () => {
  const twice = LEAST.replace('"input":{}', '"input":{"a":1,\n"a":2}');
  assert.deepEqual(parseFixture(twice), {
    ok: false,
    problems: [
      "has a name twice in one object, of which only one would count; correct line 2, column 1",
    ],
  });
});

test("a number that would be read as infinite is refused with its line and column", () => {
  assert.deepEqual(parseFixture(LEAST.replace('"input":{}', '"input":{"a":\n1e999}')), {
    ok: false,
    problems: ["has a number that is too large to be read; correct line 2, column 1"],
  });
});

async function problemsOf(file: string): Promise<readonly string[]> {
  const result = await readFixture(file);
  return result.ok ? [] : result.problems;
}

test("a file that holds a fixture is read, and so is a link to it", async (t) => {
  const folder = await scratchFolder(t);
  const file = path.join(folder, "a.json");
  await writeFile(file, LEAST);
  await symlink(file, path.join(folder, "link.json"));
  assert.deepEqual(await problemsOf(file), []);
  assert.deepEqual(await problemsOf(path.join(folder, "link.json")), []);
});

test("a byte order mark is no part of the text", async (t) => {
  const file = path.join(await scratchFolder(t), "a.json");
  await writeFile(file, `\ufeff${LEAST}`);
  assert.deepEqual(await problemsOf(file), []);
});

test("text in another encoding is refused", async (t) => {
  const file = path.join(await scratchFolder(t), "a.json");
  await writeFile(file, Buffer.from(LEAST.replace("least", "dernière"), "latin1"));
  assert.deepEqual(await problemsOf(file), ["is not UTF-8 text; save it as UTF-8"]);
});

test("a file of 64 MiB is read, and a larger one is refused before it is", async (t) => {
  const file = path.join(await scratchFolder(t), "a.json");
  await writeFile(file, LEAST.padEnd(64 * 2 ** 20));
  assert.deepEqual(await problemsOf(file), []);
  const more = await open(file, "a");
  await more.write(" ");
  await more.close();
  assert.deepEqual(await problemsOf(file), ["is larger than 64 MiB; cut it"]);
});

test("a path that leads nowhere is refused", async (t) => {
  const folder = await scratchFolder(t);
  await writeFile(path.join(folder, "a.json"), LEAST);
  const problem = ["does not exist; check the path"];
  assert.deepEqual(await problemsOf(path.join(folder, "b.json")), problem);
  assert.deepEqual(await problemsOf(path.join(folder, "a.json", "b.json")), problem);
});

test("a folder is refused", async (t) => {
  const folder = path.join(await scratchFolder(t), "guards");
  await mkdir(folder);
  assert.deepEqual(await problemsOf(folder), ["is a folder; name a fixture file in it"]);
});

test("a device is refused", async () => {
  assert.deepEqual(await problemsOf("/dev/null"), ["is not a regular file; name a fixture file"]);
});

test("a link that leads to itself cannot be read, and the error's code says so", async (t) => {
  const link = path.join(await scratchFolder(t), "loop.json");
  await symlink(link, link);
  assert.deepEqual(await problemsOf(link), [
    "cannot be read (ELOOP); check the path and its permissions",
  ]);
});
