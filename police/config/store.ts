/** Loads and saves `loop-police.json`. Whatever is wrong with a file ends in a warning, not a throw. */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

import { type Config, defaultConfig, isConfigKey } from "./keys.ts";
import { CONFIG_VERSION, migrate } from "./migrate.ts";
import { assignValue } from "./values.ts";

export interface LoadedConfig {
  readonly config: Config;
  /** One sentence that names the file, what is wrong with it, and what was done instead. */
  readonly warning?: string;
}

interface FileContent {
  readonly config: Config;
  /** Whether it was written for an older version. */
  readonly outdated: boolean;
  /** What is wrong with it; all of that is left out of `config`. */
  readonly problems: readonly string[];
  /** Settings that it names and that do not exist. */
  readonly unknown: readonly string[];
}

/**
 * Reads the file at `path`. If there is none, the first of `older` that exists is taken over; the
 * result, or the defaults, are then written to `path`. A file with any problem is left as it is.
 */
export function loadConfig(path: string, older: readonly string[]): LoadedConfig {
  for (const file of [path, ...older]) {
    const content = readConfig(file);
    if (content === undefined) continue;
    const { config, problems, unknown, outdated } = content;
    const odd = unknown.map((key) => `${key} is not a known setting`);
    const wrong = [...problems, ...odd];
    const warning = `${file}: ${wrong.join("; ")}. Defaults are used for what is wrong.`;
    // What is unknown here may be known to the package whose file is taken over.
    const keepAsItIs = file === path ? wrong.length > 0 || !outdated : problems.length > 0;
    const written = keepAsItIs ? {} : tryToWrite(path, config);
    return wrong.length > 0 ? { config, ...written, warning } : { config, ...written };
  }
  const config = defaultConfig();
  return { config, ...tryToWrite(path, config) };
}

/** Writes every setting to `path`: all of it or nothing. Throws what the file system throws. */
export function saveConfig(path: string, config: Config): void {
  const text = `${JSON.stringify({ ...config, CONFIG_VERSION }, null, 2)}\n`;
  // A file that is a link stays one.
  const target = existsSync(path) ? realpathSync(path) : path;
  const draft = `${target}.${process.pid}.tmp`;
  mkdirSync(dirname(target), { recursive: true });
  try {
    writeFileSync(draft, text, { flag: "wx" });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function tryToWrite(path: string, config: Config): { warning?: string } {
  try {
    saveConfig(path, config);
    return {};
  } catch (error) {
    return { warning: `${path}: could not be written (${reasonOf(error)}). Settings still apply.` };
  }
}

/** The content of a file with its problems, or undefined if there is no such file. */
function readConfig(file: string): FileContent | undefined {
  const config = defaultConfig();
  const broken = (problem: string): FileContent => {
    return { config, outdated: false, problems: [problem], unknown: [] };
  };
  let stored: unknown;
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
    stored = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return broken(`could not be read (${reasonOf(error)})`);
  }
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) {
    return broken("must hold a JSON object");
  }
  const { values, changed } = migrate(stored as Record<string, unknown>);
  const problems: string[] = [];
  const unknown: string[] = [];
  for (const [key, value] of values) {
    const problem = isConfigKey(key) ? assignValue(config, key, value) : undefined;
    if (problem !== undefined) problems.push(`${key} ${problem}`);
    else if (!isConfigKey(key)) unknown.push(key);
  }
  return { config, outdated: changed, problems, unknown };
}

/** The short reason of an error: a file system's code, or the first line of the message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as NodeJS.ErrnoException).code;
  return code ?? (error.message.split("\n", 1)[0] as string);
}
