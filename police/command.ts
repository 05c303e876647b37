/** The command `/loop-police`: what the user can type, and what comes back. */

import { assign } from "./assignments.ts";
import {
  type Config,
  NUMBER_KEYS,
  type NumberName,
  PROFILES,
  TEXT_KEYS,
  type TextName,
} from "./config/keys.ts";
import { reasonOf } from "./config/store.ts";
import { assignValue, rangeOf } from "./config/values.ts";
import { MESSAGE_DEFAULTS } from "./messages.ts";

export const COMMAND = "loop-police";

/** What the command works on. */
export interface CommandTarget {
  readonly config: Config;
  /** Where `save` writes. */
  readonly path: string;
  save(): void;
  reset(): void;
  status(): readonly string[];
}

/** What the user is told. */
export interface Reply {
  readonly text: string;
  readonly ok: boolean;
}

interface Subcommand {
  readonly usage: string;
  readonly about: string;
  run(rest: string, target: CommandTarget): Reply;
}

const SUBCOMMANDS: ReadonlyMap<string, Subcommand> = new Map([
  ["reset", { usage: "reset", about: "forget everything counted so far", run: reset }],
  ["set", { usage: "set KEY=VAL ...", about: "change settings for this session", run: set }],
  ["profile", { usage: "profile NAME", about: "choose the rules", run: chooseProfile }],
  ["save", { usage: "save", about: "write the settings to loop-police.json", run: save }],
]);

/** Shown beside the command's name. */
export const DESCRIPTION = `Show loop detection, or: ${[...SUBCOMMANDS.values()]
  .map(({ usage }) => usage)
  .join(" | ")}`;

export function runCommand(args: string, target: CommandTarget): Reply {
  const typed = args.trim();
  const name = typed.slice(0, typed.search(/\s|$/));
  const rest = typed.slice(name.length).trim();
  if (name === "") return { ok: true, text: describe(target) };
  const subcommand = SUBCOMMANDS.get(name);
  if (subcommand !== undefined) return subcommand.run(rest, target);
  const usages = [...SUBCOMMANDS.values()].map(({ usage }) => `/${COMMAND} ${usage}`);
  return { ok: false, text: `"${name}" is unknown. Write ${usages.join(" or ")}.` };
}

/** A completion: `value` replaces all that was typed behind the command. */
export interface Completion {
  readonly value: string;
  readonly label: string;
  readonly description: string;
}

/** What can follow what was typed; null if nothing can. */
export function complete(typed: string): Completion[] | null {
  const before = typed.slice(0, typed.search(/\S*$/));
  const word = typed.slice(before.length);
  const subcommand = before.trim().split(/\s+/, 1).join("");
  const found = candidates(subcommand)
    .filter(({ label }) => label.toLowerCase().startsWith(word.toLowerCase()))
    .map((candidate) => ({ ...candidate, value: before + candidate.value }));
  return found.length === 0 ? null : found;
}

function candidates(subcommand: string): Completion[] {
  if (subcommand === "") {
    return [...SUBCOMMANDS].map(([name, { about }]) => {
      const value = name === "set" || name === "profile" ? `${name} ` : name;
      return { value, label: name, description: about };
    });
  }
  if (subcommand === "profile") {
    return PROFILES.map((name) => ({ value: name, label: name, description: "set of rules" }));
  }
  if (subcommand !== "set") return [];
  return [
    ...names(NUMBER_KEYS).map((name) => ({
      value: `${name}=`,
      label: name,
      description: `${NUMBER_KEYS[name].about} (${rangeOf(NUMBER_KEYS[name])})`,
    })),
    ...names(TEXT_KEYS).map((name) => ({
      value: `${name}=`,
      label: name,
      description: TEXT_KEYS[name].about,
    })),
  ];
}

function names<K extends NumberName | TextName>(table: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(table) as K[];
}

function describe({ config, path, status }: CommandTarget): string {
  return [
    `Loop Police (${config.PROFILE} profile)`,
    ...status().map((line) => `  ${line}`),
    "",
    `  settings (set KEY=VAL to change, save to keep in ${path}):`,
    ...names(NUMBER_KEYS).map((key) => `    ${key}=${config[key]}`),
    ...names(TEXT_KEYS).map((key) => `    ${key}="${config[key]}"`),
    "",
    "  texts (edit the file to change):",
    `    ${Object.keys(MESSAGE_DEFAULTS).join(" ")}`,
  ].join("\n");
}

function reset(_: string, target: CommandTarget): Reply {
  target.reset();
  return { ok: true, text: "Loop Police: everything counted so far is forgotten." };
}

function set(rest: string, { config }: CommandTarget): Reply {
  const { done, problems } = assign(config, rest);
  const made = done.length === 0 ? [] : [`${done.join(", ")} (for this session; save keeps it).`];
  return { ok: problems.length === 0, text: `Loop Police: ${[...made, ...problems].join(" ")}` };
}

function chooseProfile(rest: string, { config }: CommandTarget): Reply {
  const problem = assignValue(config, "PROFILE", rest);
  if (problem !== undefined) return { ok: false, text: `Loop Police: profile ${problem}.` };
  return { ok: true, text: `Loop Police: ${rest} profile (for this session; save keeps it).` };
}

function save(_: string, target: CommandTarget): Reply {
  try {
    target.save();
    return { ok: true, text: `Loop Police: saved ${target.path}.` };
  } catch (error) {
    const reason = reasonOf(error);
    return { ok: false, text: `Loop Police: ${target.path} could not be written (${reason}).` };
  }
}
