/** Where the project lies, and scratch folders, for the tests of this folder. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

/** The folder that holds engine/, replay/ and fixtures/. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A new folder that is removed when the test ends. */
export async function scratchFolder(t: TestContext): Promise<string> {
  const { TEST_TMPDIR = tmpdir() } = process.env;
  const folder = await mkdtemp(path.join(TEST_TMPDIR, "replay-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}
