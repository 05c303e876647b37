/**
 * Answers a program that makes and checks fixtures and scenarios: what the shipped guards do with
 * them, and what a hook would have been given.
 *
 * Standard input: one JSON request a line, in ASCII, see `DeskRequest`. Standard output: one JSON
 * line for each.
 */

import { createInterface } from "node:readline";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { type Tool, Tools } from "./arguments.ts";
import { parseFixture } from "./fixture.ts";
import { loadGuard, PoliceHome, type Settings } from "./guards.ts";
import { describe, type Observation, replayFixture } from "./replay.ts";
import { runScenario } from "./run_scenario.ts";
import { type GuardName, parseScenario } from "./scenario.ts";
import { judge, type Verdict } from "./verdict.ts";

export type DeskRequest =
  /** The arguments of calls that Pi accepted, as the hook was given them. */
  | {
      readonly accept: {
        readonly tools: readonly Tool[];
        readonly calls: readonly (readonly [toolName: string, given: unknown])[];
      };
    }
  /** The text of a guard fixture. */
  | { readonly fixture: string }
  /** The text of a scenario; the profile holds whatever the scenario says. */
  | { readonly scenario: string; readonly profile?: string }
  /** Settings of the police, as in their file. */
  | { readonly settings: Settings };

/** What one guard did with a scenario. */
export interface Played {
  readonly blocked: number;
  readonly firstBlock: number | null;
  readonly any: Verdict;
  readonly enforced: Verdict;
  /** What is not as it is expected, or must not happen with any guard; sentences. */
  readonly problems: readonly string[];
}

export type DeskAnswer =
  | {
      readonly inputs: readonly Record<string, unknown>[];
      /** The names of the arguments of the tools that are known. */
      readonly names: Readonly<Record<string, readonly string[]>>;
    }
  /** Sentences on what is wrong with a document: it was not replayed. */
  | { readonly malformed: readonly string[] }
  | { readonly observation: Observation | null; readonly problems: readonly string[] }
  | { readonly played: Readonly<Partial<Record<GuardName, Played>>> }
  /** What the police say is wrong with the settings, and what they take them for today. */
  | { readonly complaint: string | null; readonly settings: Settings }
  | { readonly error: string };

/** Answers every line of the input. Nothing that a request holds ends the desk. */
export async function serveDesk(
  root: string,
  input: NodeJS.ReadableStream,
  answer: (line: string) => void,
): Promise<void> {
  const desk = new Desk(root);
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      answer(JSON.stringify(await desk.answer(line)));
    }
  } finally {
    await desk.close();
  }
}

class Desk {
  readonly #root: string;
  readonly #guards = new Map<GuardName, ExtensionFactory>();
  #home: PoliceHome | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  async answer(line: string): Promise<DeskAnswer> {
    try {
      const request = JSON.parse(line) as DeskRequest;
      if ("accept" in request) return accept(request.accept);
      if ("fixture" in request) return await this.#fixture(request.fixture);
      if ("scenario" in request) return await this.#scenario(request.scenario, request.profile);
      return await this.#settings(request.settings);
    } catch (error) {
      return { error: describe(error) };
    }
  }

  async close(): Promise<void> {
    await this.#home?.close();
  }

  async #fixture(text: string): Promise<DeskAnswer> {
    const read = parseFixture(text);
    if (!read.ok) return { malformed: read.problems };
    const { observation, problems } = await replayFixture(
      read.fixture,
      await this.#guard("engine"),
    );
    return { observation: observation ?? null, problems };
  }

  async #scenario(text: string, profile: string | undefined): Promise<DeskAnswer> {
    const read = parseScenario(text);
    if (!read.ok) return { malformed: read.problems };
    const { scenario } = read;
    const played: Partial<Record<GuardName, Played>> = {};
    for (const name of scenario.guards) {
      const guard = await this.#guard(name);
      const home = name === "police" ? await this.#policeHome() : undefined;
      await home?.furnish(scenario.config ?? {}, profile);
      const run = await runScenario(scenario, guard);
      const complaint = home?.complaint(run.notices);
      if (complaint !== undefined) return { malformed: [`$.config: ${complaint}`] };
      const { any, enforced, unmet } = judge(scenario, name, run);
      const { blocked, firstBlock, problems } = run;
      played[name] = { blocked, firstBlock, any, enforced, problems: [...problems, ...unmet] };
    }
    return { played };
  }

  /** In a home of its own: the settings hold for no scenario. */
  async #settings(settings: Settings): Promise<DeskAnswer> {
    const police = await this.#guard("police");
    const home = await PoliceHome.open(police);
    try {
      const complaint = (await home.choose(settings, police)) ?? null;
      return { complaint, settings: home.chosen };
    } finally {
      await home.close();
    }
  }

  async #guard(name: GuardName): Promise<ExtensionFactory> {
    const known = this.#guards.get(name);
    if (known !== undefined) return known;
    const guard = await loadGuard(this.#root, name);
    if (typeof guard === "string") throw new Error(guard);
    this.#guards.set(name, guard);
    return guard;
  }

  async #policeHome(): Promise<PoliceHome> {
    this.#home ??= await PoliceHome.open(await this.#guard("police"));
    return this.#home;
  }
}

type Accept = Extract<DeskRequest, { accept: unknown }>["accept"];

function accept({ tools, calls }: Accept): DeskAnswer {
  const known = new Tools();
  known.declare(tools);
  const inputs = calls.map(([toolName, given]) => known.accept(toolName, given));
  return { inputs, names: known.names() };
}
