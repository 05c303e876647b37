/** The command line of the replay: arguments in, one JSON line a fixture and an exit code out. */

import { readdir } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { fileProblem, unreadable } from "./file.ts";
import { readFixture } from "./fixture.ts";
import { describe, type Observation, replayFixture } from "./replay.ts";
import { MISMATCH, OK, type Surroundings, USAGE } from "./surroundings.ts";

/** Of one fixture; a file of another kind may have thousands. */
const MOST_PROBLEMS = 20;

/** What Node.js runs: nothing else can be an extension. */
const PROGRAM = /\.[cm]?[jt]s$/;

/** An extension is text that someone wrote. */
const MOST_MIB = 64;

/** Both are relative to the project's folder, and shown like this in messages. */
const SHIPPED_EXTENSION = "engine/engine.ts";
const COMMITTED_FIXTURES = "fixtures/guards";

const HELP = `Usage: replay_guards.mjs [--engine FILE] [FIXTURE ...]

Replays recorded tool calls through the shipped loop guard's own handler and compares what it
refuses with what each fixture expects. Without a FIXTURE, all of fixtures/guards is replayed.

  FIXTURE        a fixture file (fixtures/guard.schema.json)
  --engine FILE  replay through this extension instead of the shipped engine/engine.ts
  -h, --help     print this and stop

Prints one JSON line a fixture: name, calls, blocked, firstBlock, entries. What is wrong goes to
standard error. Exit code: 0 all as expected, 1 a mismatch or a malformed fixture, 2 wrong usage.`;

/** A file to read, and its name in messages. */
interface Source {
  readonly file: string;
  readonly shown: string;
}

/** Runs the command and returns its exit code. */
export async function main(args: readonly string[], io: Surroundings): Promise<number> {
  const options = parse(args);
  if (typeof options === "string") {
    io.stderr(`replay_guards: ${options}\nTry --help.`);
    return USAGE;
  }
  if (options.help) {
    io.stdout(HELP);
    return OK;
  }
  const given = (shown: string): Source => ({ file: path.resolve(io.cwd, shown), shown });
  const shipped = (shown: string): Source => ({ file: path.resolve(io.root, shown), shown });
  const engine = options.engine === undefined ? shipped(SHIPPED_EXTENSION) : given(options.engine);
  const extension = await loadExtension(engine.file);
  if (typeof extension === "string") {
    io.stderr(`${engine.shown}: ${extension}`);
    return MISMATCH;
  }
  const named = options.fixtures.map(given);
  const sources = named.length > 0 ? named : (await committedFixtures(io.root)).map(shipped);
  if (sources.length === 0) {
    io.stderr(`${COMMITTED_FIXTURES}: holds no fixture; restore it, or name fixture files`);
    return MISMATCH;
  }
  return (await replayAll(sources, extension, io)) ? OK : MISMATCH;
}

interface Options {
  readonly help: boolean;
  readonly engine: string | undefined;
  readonly fixtures: readonly string[];
}

/** The options, or a sentence on what is wrong with the arguments. */
function parse(args: readonly string[]): Options | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" }, engine: { type: "string" } },
    });
    if (positionals.includes("") || values.engine === "") return "A file's name is empty.";
    return { help: values.help ?? false, engine: values.engine, fixtures: positionals };
  } catch (error) {
    return (error as Error).message;
  }
}

/** The extension's factory, or a sentence on why there is none. */
async function loadExtension(file: string): Promise<ExtensionFactory | string> {
  try {
    const problem = await fileProblem(file, "an extension", MOST_MIB);
    if (problem !== undefined) return problem;
  } catch (error) {
    return unreadable(error);
  }
  if (!PROGRAM.test(file)) return "is no TypeScript or JavaScript; name the file of a Pi extension";
  try {
    const module: { default?: unknown } = await import(pathToFileURL(file).href);
    if (typeof module.default === "function") return module.default as ExtensionFactory;
    return "has no default export that is a function; name a Pi extension";
  } catch (error) {
    return `cannot be loaded as an extension: ${describe(error)}`;
  }
}

/** The committed fixtures, relative to the project's folder and in the order of their names. */
async function committedFixtures(root: string): Promise<string[]> {
  const files = await readdir(path.join(root, COMMITTED_FIXTURES)).catch(() => []);
  const fixtures = files.filter((file) => file.endsWith(".json")).sort();
  return fixtures.map((file) => `${COMMITTED_FIXTURES}/${file}`);
}

/** Replays one source after the other in this process; false if anything is not as it must be. */
async function replayAll(
  sources: readonly Source[],
  extension: ExtensionFactory,
  io: Surroundings,
): Promise<boolean> {
  const seen = new Map<string, string>();
  let allMatch = true;
  for (const { file, shown } of sources) {
    const { observation, problems } = await replayFile(file, shown, extension, seen);
    if (observation !== undefined) io.stdout(JSON.stringify(observation));
    for (const problem of problems.slice(0, MOST_PROBLEMS)) io.stderr(`${shown}: ${problem}`);
    const more = problems.length - MOST_PROBLEMS;
    if (more > 0) io.stderr(`${shown}: and ${more} more`);
    allMatch &&= problems.length === 0;
  }
  return allMatch;
}

/**
 * Reads and replays one fixture.
 *
 * @param seen Names of the fixtures so far, and the files that hold them; this one is added.
 */
async function replayFile(
  file: string,
  shown: string,
  extension: ExtensionFactory,
  seen: Map<string, string>,
): Promise<{ observation?: Observation | undefined; problems: readonly string[] }> {
  const read = await readFixture(file);
  if (!read.ok) return read;
  const { name } = read.fixture;
  const other = seen.get(name);
  if (other !== undefined) {
    return { problems: [`$.name ${JSON.stringify(name)} is the name of ${other} too; rename one`] };
  }
  seen.set(name, shown);
  return replayFixture(read.fixture, extension);
}
