/** The shipped guards: where they lie, what they are told, and how they tell of what they found. */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { isObject, type JsonObject } from "./document.ts";
import { describe } from "./replay.ts";
import { runScenario } from "./run_scenario.ts";
import type { GuardName } from "./scenario.ts";

/** Where the extensions lie in the project's folder. */
const SHIPPED: Readonly<Record<GuardName, string>> = {
  engine: "engine/engine.ts",
  police: "police/index.ts",
};

export type Settings = Readonly<Record<string, unknown>>;

/** The file in Pi's agent directory that holds the settings of the police. */
const SETTINGS_FILE = "loop-police.json";

/** What the replay must not do for the police: run commands, write files. */
const SILENT: Settings = { HOOK_CMD: "", HOOK_LOG: "" };

/** The extension of a guard, or a sentence on why it cannot be had. */
export async function loadGuard(
  root: string,
  guard: GuardName,
): Promise<ExtensionFactory | string> {
  const file = path.resolve(root, SHIPPED[guard]);
  try {
    const module: { default?: unknown } = await import(pathToFileURL(file).href);
    if (typeof module.default === "function") return module.default as ExtensionFactory;
    return `${SHIPPED[guard]}: has no default export that is a function`;
  } catch (error) {
    return `${SHIPPED[guard]}: cannot be loaded: ${describe(error)}`;
  }
}

/**
 * An agent directory of the police's own: they find their settings in there, and nothing of the
 * user's. The environment names it until it is closed.
 */
export class PoliceHome {
  readonly #folder: string;
  readonly #before = process.env.PI_CODING_AGENT_DIR;
  /** The settings as the police write them themselves where there are none. */
  #defaults: Settings = {};
  /** The settings of the user's that are to hold. */
  #chosen: Settings = {};

  private constructor(folder: string) {
    this.#folder = folder;
    process.env.PI_CODING_AGENT_DIR = folder;
  }

  /** @throws What the extension throws when it is loaded, and what the file system throws. */
  static async open(police: ExtensionFactory): Promise<PoliceHome> {
    const home = new PoliceHome(await mkdtemp(path.join(tmpdir(), "satyrn-score-")));
    try {
      await home.#tryOut(police);
      home.#defaults = await home.#read();
      return home;
    } catch (error) {
      await home.close();
      throw error;
    }
  }

  /**
   * Lets settings of the user's hold for all sessions to come, whatever a scenario says.
   *
   * @param settings A settings file of the police, of any version.
   * @returns What the police say is wrong with them, if anything.
   */
  async choose(settings: Settings, police: ExtensionFactory): Promise<string | undefined> {
    await this.#write({ ...settings, ...SILENT });
    const complaint = await this.#tryOut(police);
    // The police write an older file anew: that is how its values come to today's names.
    const read = Object.entries(await this.#read());
    const own = ([key, value]: [string, unknown]) =>
      Object.hasOwn(settings, key) || value !== this.#defaults[key];
    this.#chosen = Object.fromEntries(read.filter(own));
    return complaint;
  }

  /** The chosen settings by today's names and scales, and the stamp that says so. */
  get chosen(): Settings {
    const { CONFIG_VERSION } = this.#defaults;
    return { ...this.#chosen, ...SILENT, CONFIG_VERSION };
  }

  /** Writes the settings of the next session. Returns the profile that holds in it. */
  async furnish(scenario: Settings, profile: string | undefined): Promise<string> {
    const forced = profile === undefined ? {} : { PROFILE: profile };
    const settings: Settings = {
      ...this.#defaults,
      ...scenario,
      ...this.#chosen,
      ...forced,
      ...SILENT,
    };
    await this.#write(settings);
    return String(settings.PROFILE);
  }

  /** Removes the folder and restores the environment. */
  async close(): Promise<void> {
    if (this.#before === undefined) delete process.env.PI_CODING_AGENT_DIR;
    else process.env.PI_CODING_AGENT_DIR = this.#before;
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A session in which nothing happens. Returns what the police complain of when it starts. */
  async #tryOut(police: ExtensionFactory): Promise<string | undefined> {
    const { notices, problems } = await runScenario({ events: [] }, police);
    if (problems.length > 0) throw new Error(problems.join("; "));
    return this.complaint(notices);
  }

  /** What the police said about their settings, without the name of the file, which is ours. */
  complaint(notices: readonly string[]): string | undefined {
    const file = `${path.join(this.#folder, SETTINGS_FILE)}: `;
    const found = notices.find((notice) => notice.includes(file));
    return found?.slice(found.indexOf(file) + file.length);
  }

  async #read(): Promise<Settings> {
    const value: unknown = JSON.parse(await readFile(this.#file, "utf8"));
    return isObject(value) ? value : {};
  }

  async #write(settings: Settings): Promise<void> {
    await writeFile(this.#file, JSON.stringify(settings satisfies JsonObject));
  }

  get #file(): string {
    return path.join(this.#folder, SETTINGS_FILE);
  }
}
