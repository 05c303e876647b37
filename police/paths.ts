/** One file, one name: however a model writes a path, it becomes the same text. */

import { homedir } from "node:os";
import { posix, win32 } from "node:path";
import { fileURLToPath } from "node:url";

/** Where a relative path starts, and whose rules it follows. */
export interface PathRules {
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

export function pathRules(cwd: string): PathRules {
  return { cwd, home: homedir(), platform: process.platform };
}

/** Spaces of Unicode that Pi's own tools take for a plain one, too. */
const UNICODE_SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

/**
 * The absolute, normal form of a path. No file is looked at: links stay what they are. As in Pi's
 * own tools a leading `@` is dropped, `~` is the home, and a `file:` address is a path.
 */
export function canonicalPath(written: string, rules: PathRules): string {
  const { resolve } = rules.platform === "win32" ? win32 : posix;
  let path = written.trim().replace(UNICODE_SPACES, " ").replace(/^@/, "");
  if (path.startsWith("file://")) path = pathOfUrl(path, rules.platform);
  if (path === "~" || path.startsWith("~/")) path = rules.home + path.slice(1);
  const absolute = resolve(rules.cwd, path).normalize("NFC");
  const ignoresCase = rules.platform === "win32" || rules.platform === "darwin";
  return ignoresCase ? absolute.toLowerCase() : absolute;
}

function pathOfUrl(url: string, platform: NodeJS.Platform): string {
  try {
    return fileURLToPath(url, { windows: platform === "win32" });
  } catch {
    return url;
  }
}
