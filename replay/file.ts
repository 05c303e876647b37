/** What a file that was named on the command line must be before it is read. */

import { stat } from "node:fs/promises";

const MIB = 2 ** 20;

/**
 * What keeps a path from being a file to read, as a sentence with the remedy; undefined if nothing.
 *
 * @param what What it should be, with its article.
 * @param mostMiB How large it may be.
 * @throws What the system says of a path that leads nowhere; {@link unreadable} puts it into words.
 */
export async function fileProblem(
  file: string,
  what: string,
  mostMiB: number,
): Promise<string | undefined> {
  const found = await stat(file);
  if (found.isDirectory()) return `is a folder; name ${what} file in it`;
  if (!found.isFile()) return `is not a regular file; name ${what} file`;
  if (found.size > mostMiB * MIB) return `is larger than ${mostMiB} MiB; cut it`;
  return undefined;
}

/** Why the system did not let a file be read, with the remedy. */
export function unreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist; check the path";
  return `cannot be read (${code}); check the path and its permissions`;
}
