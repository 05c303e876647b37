// Registers the extensions whose files are named, then dispatches a call that many times.
// Usage: node dispatch_installed.mjs TIMES INPUT_JSON FILE ...
// Prints one JSON object: {handlers, verdicts, entries}.
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

const [times, input, ...files] = process.argv.slice(2);
const handlers = [];
const entries = [];
const pi = {
  on: (event, handler) => event === "tool_call" && handlers.push(handler),
  appendEntry: (type, data) => entries.push({ type, data }),
  registerCommand: () => undefined,
};

for (const file of files) {
  // Node strips no types below node_modules, where npm installs; so strip them here. A data URL has
  // no neighbours to import: what loads this way is self-contained.
  const source = stripTypeScriptTypes(readFileSync(file, "utf8"));
  const extension = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  extension.default(pi);
}

const verdicts = [];
for (let number = 1; number <= Number(times); number += 1) {
  const event = { type: "tool_call", toolName: "bash", toolCallId: `call_${number}` };
  for (const handler of handlers) {
    verdicts.push((await handler({ ...event, input: JSON.parse(input) }, {})) ?? null);
  }
}
console.log(JSON.stringify({ handlers: handlers.length, verdicts, entries }));
