/**
 * What a tool's `tool_call` hook is given, from what the model wrote: a session keeps the arguments
 * as the model gave them, and Pi checks and converts them before any hook sees them.
 *
 * Only calls that Pi accepted are converted here, so a value that does not fit is left as it is.
 */

/** The part of JSON Schema by which Pi converts arguments. */
export interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** A tool that the model was given. */
export interface Tool {
  readonly name: string;
  readonly parameters?: Schema;
}

const text: Schema = { type: "string" };
const number: Schema = { type: "number" };
const flag: Schema = { type: "boolean" };
const edits: Schema = {
  type: "array",
  items: { type: "object", properties: { oldText: text, newText: text } },
};

function tool(required: Record<string, Schema>, optional: Record<string, Schema>): Schema {
  const properties = { ...required, ...optional };
  return { type: "object", required: Object.keys(required), properties };
}

/** Pi 1.6's own tools, for sessions of the time before Pi stored what tools the model had. */
const BUILT_IN: Readonly<Record<string, Schema>> = {
  bash: tool({ command: text }, { timeout: number }),
  edit: tool({ path: text, edits }, {}),
  find: tool({ pattern: text }, { path: text, limit: number }),
  grep: tool(
    { pattern: text },
    { path: text, glob: text, ignoreCase: flag, literal: flag, context: number, limit: number },
  ),
  ls: tool({}, { path: text, limit: number }),
  read: tool({ path: text }, { offset: number, limit: number }),
  write: tool({ path: text, content: text }, {}),
};

/** The tools of one session. */
export class Tools {
  readonly #schemas = new Map(Object.entries(BUILT_IN));

  /** Takes what a session says of its tools; what cannot be used is passed over. */
  declare(tools: readonly Tool[]): void {
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (isObject(tool) && isObject(tool.parameters))
        this.#schemas.set(String(tool.name), tool.parameters);
    }
  }

  /** The names of each known tool's arguments, and of what is nested in them. */
  names(): Record<string, string[]> {
    const found = [...this.#schemas].map(([name, schema]) => [name, [...new Set(namesIn(schema))]]);
    return Object.fromEntries(found);
  }

  /** The arguments as the hook gets them: never the same object. */
  accept(name: string, given: unknown): Record<string, unknown> {
    const prepared = name === "edit" ? prepareEdit(given) : given;
    const converted = convert(prepared, this.#schemas.get(name) ?? {});
    return isObject(converted) ? { ...converted } : {};
  }
}

/** Schemas nest in lists and objects of every kind: in `items`, `anyOf`, `$defs` and others. */
function* namesIn(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  for (const [field, nested] of Object.entries(schema)) {
    if (field === "properties" && isObject(nested)) yield* Object.keys(nested);
    yield* namesIn(nested);
  }
}

/** Pi takes one edit for a list of edits, also as JSON text, and takes an older form of the tool. */
function prepareEdit(given: unknown): unknown {
  if (!isObject(given)) return given;
  const list = Object.hasOwn(given, "edits") ? { edits: listOfEdits(given.edits) } : {};
  const whole: Record<string, unknown> = { ...given, ...list };
  const { oldText, newText, ...rest } = whole;
  if (typeof oldText !== "string" || typeof newText !== "string") return whole;
  const others = Array.isArray(rest.edits) ? rest.edits : [];
  return { ...rest, edits: [...others, { oldText, newText }] };
}

function listOfEdits(given: unknown): unknown {
  const value = typeof given === "string" ? parsed(given) : given;
  if (Array.isArray(value)) return value;
  const single =
    isObject(value) && typeof value.oldText === "string" && typeof value.newText === "string";
  return single ? [value] : given;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function convert(value: unknown, schema: Schema): unknown {
  const { type, properties, items } = schema;
  if (type === "array" && items !== undefined) {
    const list = Array.isArray(value) ? value : [value];
    return list.map((item) => convert(item, items));
  }
  if (isObject(value)) return properties === undefined ? value : convertFields(value, schema);
  if (type === "number" || type === "integer") return toNumber(value, type);
  if (type === "boolean") return toFlag(value);
  return type === "string" && isPlain(value) ? String(value) : value;
}

/** An optional field that is null counts as left out. */
function convertFields(value: Record<string, unknown>, schema: Schema): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  if (fits(value, properties)) return { ...value };
  const fields: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known === undefined) fields.push([name, field]);
    else if (field !== null || required.includes(name)) fields.push([name, convert(field, known)]);
    else if (Array.isArray(known.type) && known.type.includes("null")) fields.push([name, field]);
  }
  return Object.fromEntries(fields);
}

/** Whether nothing has to be converted, as far as that is seen at once: most inputs are so. */
function fits(
  value: Record<string, unknown>,
  properties: Readonly<Record<string, Schema>>,
): boolean {
  for (const [name, field] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) continue;
    if (typeof field === "object" || typeof field !== properties[name]?.type) return false;
  }
  return true;
}

function toNumber(value: unknown, type: "number" | "integer"): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string" || value.trim() === "") return value;
  const read = Number(value);
  if (!Number.isFinite(read)) return value;
  return type === "integer" ? Math.trunc(read) : read;
}

function toFlag(value: unknown): unknown {
  if (value === "true" || value === "1" || value === 1) return true;
  if (value === "false" || value === "0" || value === 0) return false;
  return value;
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === "number" || typeof value === "boolean";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
