/** Runs a command of this folder in the test's own process. */

import type { Surroundings } from "../surroundings.ts";
import { ROOT } from "./project.ts";

/** What a command printed, line by line, and its exit code. */
export interface Run {
  readonly code: number;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

/** Runs a command; its `root` and `cwd` are the project's folder unless `where` names others. */
export async function runHere(
  main: (args: readonly string[], io: Surroundings) => Promise<number>,
  args: readonly string[],
  where: { root?: string; cwd?: string } = {},
): Promise<Run> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const code = await main(args, {
    root: where.root ?? ROOT,
    cwd: where.cwd ?? ROOT,
    stdout: (line) => stdout.push(line),
    stderr: (line) => stderr.push(line),
  });
  return { code, stdout, stderr };
}
