/** Says in one line what a valid call of a tool looks like, from its JSON schema. */

/** A tool as far as it matters here; `parameters` is a JSON schema. */
export interface ToolShape {
  readonly name: string;
  readonly parameters: unknown;
}

/** Nested lists and objects are written out so deep; beyond that stands `...`. */
const MAX_DEPTH = 4;

/** Properties of one object that are written out. */
const MAX_PROPERTIES = 20;

/** `edit(path: string, edits: [{oldText: string, newText: string}])`, or the tools there are. */
export function shapeOfCall(tool: string, tools: readonly ToolShape[]): string {
  const known = tools.find(({ name }) => name === tool);
  if (known === undefined) return `one of these tools: ${tools.map(({ name }) => name).join(", ")}`;
  return `${tool}(${properties(asSchema(known.parameters), MAX_DEPTH).join(", ")})`;
}

type Schema = Readonly<Record<string, unknown>>;

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null ? (value as Schema) : {};
}

function properties(schema: Schema, depth: number): string[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const all = Object.entries(asSchema(schema.properties));
  const shown = all.slice(0, MAX_PROPERTIES).map(([name, value]) => {
    return `${name}${required.includes(name) ? "" : "?"}: ${typeText(asSchema(value), depth)}`;
  });
  return all.length > shown.length ? [...shown, "..."] : shown;
}

function typeText(schema: Schema, depth: number): string {
  if (depth === 0) return "...";
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) {
    return choices.map((choice) => typeText(asSchema(choice), depth - 1)).join(" | ");
  }
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `[${typeText(asSchema(schema.items), depth - 1)}]`;
  if (schema.type === "object") return `{${properties(schema, depth - 1).join(", ")}}`;
  return Array.isArray(schema.type) ? schema.type.join(" | ") : String(schema.type ?? "any");
}
