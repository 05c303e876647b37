/** Brings a stored configuration of an older version to this one's keys and scales. */

/** Stamped into the file as `CONFIG_VERSION`; the replaced package's last one is 4, too. */
export const CONFIG_VERSION = 4;

/** Keys renamed by version 3. A value that still is the old default gives way to the new one. */
const RENAMED: readonly (readonly [from: string, to: string, oldDefault: number])[] = [
  ["MIN_THINKING_WINDOW", "THINKING_WINDOW", 80],
  ["MIN_OUTPUT_WINDOW", "OUTPUT_WINDOW", 100],
  ["MAX_THINKING_WINDOW", "MAX_WINDOW", 2000],
  ["CHECK_STRIDE", "STRIDE", 50],
  ["PARA_FINGERPRINT_LEN", "FINGERPRINT_LEN", 60],
  ["PARA_LOOP_THRESHOLD", "SEMANTIC_THRESHOLD", 3],
];

/** Keys dropped by version 4, and the default that version replaced. */
const REMOVED = ["FILE_READ_LIMIT", "MSG_FILE_READ_LOOP"];
const OLD_FILE_SCAN_LIMIT = 15;

export interface Migrated {
  /** The values under today's keys, without the version stamp. */
  readonly values: Map<string, unknown>;
  /** Whether the file ought to be written anew. */
  readonly changed: boolean;
}

/** Applies every migration that the file's stamp asks for. Values are carried over unchecked. */
export function migrate(stored: Readonly<Record<string, unknown>>): Migrated {
  const values = new Map(Object.entries(stored));
  const stamp = values.get("CONFIG_VERSION");
  values.delete("CONFIG_VERSION");
  if (stamp !== undefined && (typeof stamp !== "number" || stamp >= CONFIG_VERSION)) {
    return { values, changed: false };
  }
  if (stamp === undefined) shiftBan(values);
  if (stamp === undefined || stamp < 3) renameKeys(values);
  removeKeys(values);
  return { values, changed: true };
}

/** Before the first stamp, 0 meant what 1 means now, and 1 what 2 means. */
function shiftBan(values: Map<string, unknown>): void {
  const ban = values.get("TOOL_LOOP_BAN");
  if (ban === 0 || ban === 1) values.set("TOOL_LOOP_BAN", ban + 1);
}

function renameKeys(values: Map<string, unknown>): void {
  for (const [from, to, oldDefault] of RENAMED) {
    if (!values.has(from)) continue;
    const value = values.get(from);
    values.delete(from);
    if (value !== oldDefault && !values.has(to)) values.set(to, value);
  }
}

function removeKeys(values: Map<string, unknown>): void {
  for (const key of REMOVED) values.delete(key);
  if (values.get("FILE_SCAN_LIMIT") === OLD_FILE_SCAN_LIMIT) values.delete("FILE_SCAN_LIMIT");
}
