/** What is a scenario, and how a file that is none is refused. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { parseScenario, readScenario } from "../scenario.ts";
import { ROOT, scratchFolder } from "./project.ts";

/** A row of the documents that the JSON schema is tested with as well. */
interface Row {
  readonly title: string;
  /** The sentences of the reader; none for a scenario. */
  readonly problems: readonly string[];
  readonly document: unknown;
}

const ROWS: readonly Row[] = JSON.parse(
  await readFile(path.join(ROOT, "fixtures", "testdata", "scenario_documents.json"), "utf8"),
);

for (const { title, problems, document } of ROWS) {
  const verdict = problems.length === 0 ? "is a scenario" : "is refused";
  test(`${title}: ${verdict}`, () => {
    const expected =
      problems.length === 0 ? { ok: true, scenario: document } : { ok: false, problems };
    assert.deepEqual(parseScenario(JSON.stringify(document)), expected);
  });
}

test("a field with an odd name is named as it is written", () => {
  const result = parseScenario('{"a b": 1}');
  assert.ok(!result.ok);
  assert.match(result.problems[0] ?? "", /^\$\["a b"\] is no field of a scenario/);
});

test("text that is no JSON is refused with its line and column", () => {
  const problems = ["is not valid JSON; correct line 2, column 1"];
  assert.deepEqual(parseScenario("{\nx"), { ok: false, problems });
});

test("a file is read, and a folder is refused", async (t) => {
  const folder = await scratchFolder(t);
  const file = path.join(folder, "a.json");
  await writeFile(file, JSON.stringify(ROWS[0]?.document));
  assert.equal((await readScenario(file)).ok, true);
  const problems = ["is a folder; name a scenario file in it"];
  assert.deepEqual(await readScenario(folder), { ok: false, problems });
});
