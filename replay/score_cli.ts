/** The command line of the scoreboard: arguments in, one line a scenario, summaries, an exit code. */

import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { isObject, readDocument } from "./document.ts";
import { unreadable } from "./file.ts";
import { loadGuard, PoliceHome } from "./guards.ts";
import { describe } from "./replay.ts";
import { runScenario } from "./run_scenario.ts";
import { GUARD_NAMES, type GuardName, readScenario, type Scenario } from "./scenario.ts";
import { jsonLine, report, scoreLine } from "./score_report.ts";
import { kindOfScenario, type Score, summaries, tallies } from "./scoreboard.ts";
import { MISMATCH, OK, type Surroundings, USAGE } from "./surroundings.ts";
import { judge } from "./verdict.ts";

/** Relative to the project's folder, and shown like this in messages. */
const COMMITTED_SCENARIOS = "fixtures/scenarios";

/** The profiles of the police. */
const PROFILES = ["classic", "evidence"] as const;

const HELP = `Usage: score.mjs [--guard NAME] [--profile NAME] [--config FILE] [--json] [PATH ...]

Replays labelled scenarios through the shipped guards and says how good the guards are. Without a
PATH, all of fixtures/scenarios is replayed.

  PATH            a scenario (fixtures/scenario.schema.json), or a folder of them
  --guard NAME    only this guard: engine or police
  --profile NAME  the police in this profile, whatever the scenarios say: classic or evidence
  --config FILE   the police with these settings (a loop-police.json), whatever the scenarios say
  --json          JSON lines instead of text: type scenario, summary or detections
  -h, --help      print this and stop

One line a scenario: caught, late or missed for a loop, left alone or false alarm otherwise, with
the event, the kind of detection, and what was enforced. What is wrong goes to standard error. Exit
code: 0 every expectation holds, 1 one does not or a file is malformed, 2 wrong usage.`;

interface Options {
  readonly help: boolean;
  readonly json: boolean;
  readonly guards: readonly GuardName[];
  readonly profile: string | undefined;
  readonly config: string | undefined;
  readonly paths: readonly string[];
}

/** Runs the command and returns its exit code. */
export async function main(args: readonly string[], io: Surroundings): Promise<number> {
  const options = parse(args);
  if (typeof options === "string") {
    io.stderr(`score: ${options}\nTry --help.`);
    return USAGE;
  }
  if (options.help) {
    io.stdout(HELP);
    return OK;
  }
  const board = new Board(options, io);
  try {
    await board.play();
  } catch (error) {
    board.complain(`score: ${describe(error)}`);
  } finally {
    await board.close();
  }
  return board.sound ? OK : MISMATCH;
}

/** The options, or a sentence on what is wrong with the arguments. */
function parse(args: readonly string[]): Options | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        json: { type: "boolean" },
        guard: { type: "string" },
        profile: { type: "string" },
        config: { type: "string" },
      },
    });
    const { guard, profile, config } = values;
    const guards = GUARD_NAMES.filter((name) => guard === undefined || guard === name);
    if (guards.length === 0) return `--guard is ${GUARD_NAMES.join(" or ")}, not "${guard}".`;
    if (profile !== undefined && !(PROFILES as readonly string[]).includes(profile)) {
      return `--profile is ${PROFILES.join(" or ")}, not "${profile}".`;
    }
    if (positionals.includes("") || config === "") return "A file's name is empty.";
    const { help = false, json = false } = values;
    return { help, json, guards, profile, config, paths: positionals };
  } catch (error) {
    return (error as Error).message;
  }
}

/** A file to read, and its name in messages. */
interface Source {
  readonly file: string;
  readonly shown: string;
}

/** One run of the command. */
class Board {
  /** Whether everything was as it must be so far. */
  sound = true;

  readonly #options: Options;
  readonly #io: Surroundings;
  readonly #guards = new Map<GuardName, ExtensionFactory>();
  readonly #scores: Score[] = [];
  /** Names of the scenarios so far, and the files that hold them. */
  readonly #names = new Map<string, string>();
  #home: PoliceHome | undefined;

  constructor(options: Options, io: Surroundings) {
    this.#options = options;
    this.#io = io;
  }

  async play(): Promise<void> {
    if (!(await this.#loadGuards())) return;
    const sources = await this.#sources();
    for (const source of sources) await this.#playFile(source);
    if (this.#scores.length === 0) this.complain("score: no scenario was replayed; name some");
    this.#sumUp();
  }

  async close(): Promise<void> {
    await this.#home?.close();
  }

  complain(sentence: string): void {
    this.#io.stderr(sentence);
    this.sound = false;
  }

  async #loadGuards(): Promise<boolean> {
    for (const name of this.#options.guards) {
      const guard = await loadGuard(this.#io.root, name);
      if (typeof guard === "string") this.complain(guard);
      else this.#guards.set(name, guard);
    }
    const police = this.#guards.get("police");
    if (police !== undefined) await this.#settle(police);
    return this.sound;
  }

  /** Gives the police a home, with the settings of the user's. */
  async #settle(police: ExtensionFactory): Promise<void> {
    this.#home = await PoliceHome.open(police);
    const { config } = this.#options;
    if (config === undefined) return;
    const document = await readDocument(path.resolve(this.#io.cwd, config), "a settings");
    if (!document.ok) return this.complain(`${config}: ${document.problem}`);
    const settings = document.value;
    if (!isObject(settings)) return this.complain(`${config}: give an object with settings`);
    const complaint = await this.#home.choose(settings, police);
    if (complaint !== undefined) this.complain(`${config}: ${complaint}`);
  }

  /** All scenario files that were asked for, those of a folder in the order of their names. */
  async #sources(): Promise<Source[]> {
    const { root, cwd } = this.#io;
    const { paths } = this.#options;
    const asked = paths.map((shown) => ({ file: path.resolve(cwd, shown), shown }));
    const committed = [
      { file: path.resolve(root, COMMITTED_SCENARIOS), shown: COMMITTED_SCENARIOS },
    ];
    const sources: Source[] = [];
    for (const source of paths.length > 0 ? asked : committed) {
      sources.push(...(await this.#filesOf(source)));
    }
    return sources;
  }

  async #filesOf({ file, shown }: Source): Promise<Source[]> {
    try {
      if (!(await stat(file)).isDirectory()) return [{ file, shown }];
      const names = await readdir(file, { recursive: true });
      const scenarios = names.filter((name) => name.endsWith(".json")).sort();
      if (scenarios.length === 0) this.complain(`${shown}: holds no scenario; name another folder`);
      return scenarios.map((name) => ({
        file: path.join(file, name),
        shown: path.join(shown, name),
      }));
    } catch (error) {
      this.complain(`${shown}: ${unreadable(error)}`);
      return [];
    }
  }

  async #playFile({ file, shown }: Source): Promise<void> {
    const read = await readScenario(file);
    if (!read.ok) {
      for (const problem of read.problems) this.complain(`${shown}: ${problem}`);
      return;
    }
    const { scenario } = read;
    const other = this.#names.get(scenario.name);
    if (other !== undefined) {
      const name = JSON.stringify(scenario.name);
      this.complain(`${shown}: $.name ${name} is the name of ${other} too; rename one`);
      return;
    }
    this.#names.set(scenario.name, shown);
    for (const [name, guard] of this.#guards) {
      if (scenario.guards.includes(name)) await this.#playScenario(scenario, name, guard, shown);
    }
  }

  async #playScenario(
    scenario: Scenario,
    guard: GuardName,
    factory: ExtensionFactory,
    shown: string,
  ): Promise<void> {
    const home = guard === "police" ? this.#home : undefined;
    const profile = (await home?.furnish(scenario.config ?? {}, this.#options.profile)) ?? null;
    const run = await runScenario(scenario, factory);
    const complaint = home?.complaint(run.notices);
    if (complaint !== undefined) {
      this.complain(`${shown}: $.config: ${complaint}`);
      return;
    }
    const { name, label } = scenario;
    const kind = kindOfScenario(scenario);
    const score = { name, guard, profile, label, kind, ...judge(scenario, guard, run) };
    this.#scores.push(score);
    this.#io.stdout(this.#options.json ? jsonLine("scenario", score) : scoreLine(score));
    for (const problem of [...run.problems, ...score.unmet]) {
      this.complain(`${shown}: ${guard}: ${problem}`);
    }
  }

  #sumUp(): void {
    const summed = summaries(this.#scores);
    const tallied = tallies(this.#scores);
    const lines = this.#options.json
      ? [
          ...summed.map((row) => jsonLine("summary", row)),
          ...tallied.map((row) => jsonLine("detections", row)),
        ]
      : report(summed, tallied);
    for (const line of lines) this.#io.stdout(line);
  }
}
