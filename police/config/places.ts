/** Where `loop-police.json` lies. */

import { homedir } from "node:os";
import { join, relative, sep } from "node:path";

export const CONFIG_FILE = "loop-police.json";

/** The directory in which Pi keeps the user's own files, found the way Pi finds it. */
export function agentDir(env: NodeJS.ProcessEnv = process.env, home: string = homedir()): string {
  const set = env.PI_CODING_AGENT_DIR;
  if (!set) return join(home, ".pi", "agent");
  if (set === "~") return home;
  return set.startsWith("~/") || set.startsWith(`~${sep}`) ? join(home, set.slice(2)) : set;
}

/**
 * Where an older file may lie that is to be taken over: beside this extension, and where the
 * replaced package keeps its own, for each way of installing it. Never inside the project: a
 * cloned project's files must neither run a hook nor switch a detector off.
 */
export function olderConfigs(extensionDir: string, agent: string, project: string): string[] {
  const folders = [
    extensionDir,
    join(extensionDir, "extensions"),
    join(agent, "npm", "node_modules", "pi-loop-police", "extensions"),
    join(agent, "git", "github.com", "sebaxzero", "pi-loop-police", "extensions"),
  ];
  return folders
    .filter((folder) => !isInside(folder, project) || isInside(folder, agent))
    .map((folder) => join(folder, CONFIG_FILE));
}

function isInside(folder: string, parent: string): boolean {
  const way = relative(parent, folder);
  return way === "" || (!way.startsWith("..") && !way.startsWith(sep) && !/^[a-z]:/i.test(way));
}
