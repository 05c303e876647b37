/**
 * A Pi extension that gives a real session the tools of a scenario, and writes down what guards do.
 *
 * It is loaded before the guards. SCENARIO_PLAN names a JSON file: `tools` (the names), `results`
 * (the result of each call, by its id) and `signs` (the file to which it adds a JSON line a sign).
 */

import { appendFileSync, readFileSync } from "node:fs";

const plan = JSON.parse(readFileSync(process.env.SCENARIO_PLAN, "utf8"));

export default function witness(pi) {
  /** What is happening: a block of a response, or a call. */
  let at = {};
  const asked = new Set();
  /** One signal a run: it tells of an abort at once, the message may be complete before that. */
  const watched = new WeakSet();
  const note = (sign) => appendFileSync(plan.signs, `${JSON.stringify({ ...at, ...sign })}\n`);

  for (const name of plan.tools) {
    pi.registerTool({
      name,
      label: name,
      description: "Returns what the scenario says.",
      parameters: { type: "object", properties: {}, additionalProperties: true },
      execute: async (id) => {
        asked.delete(id);
        const { text, isError } = plan.results[id];
        return { content: [{ type: "text", text }], details: {}, isError };
      },
    });
  }

  pi.on("message_update", ({ message, assistantMessageEvent: { type, contentIndex } }) => {
    const { responseId: response } = message;
    const isCall = type.startsWith("toolcall_");
    if (!isCall) at = { response, block: contentIndex };
    else if (at.response !== response) at = { response };
  });
  pi.on("turn_start", (_event, { signal }) => {
    if (signal === undefined || watched.has(signal)) return;
    watched.add(signal);
    signal.addEventListener("abort", () => note({ did: "abort" }));
  });
  pi.on("tool_execution_start", ({ toolCallId: call }) => {
    at = { call };
  });
  pi.on("tool_call", ({ toolCallId: call }) => {
    at = { call };
    asked.add(call);
  });
  pi.on("tool_result", ({ toolCallId: call }) => {
    at = { call };
  });
  pi.on("tool_execution_end", ({ toolCallId: call, result }) => {
    at = { call };
    const aborted = result.content[0]?.text === "Operation aborted";
    if (asked.delete(call) && !aborted) note({ did: "block" });
  });
  pi.events.on("loop-police:detection", ({ event }) => note({ found: event }));

  pi.on("session_before_compact", ({ preparation: { firstKeptEntryId, tokensBefore } }) => ({
    compaction: { summary: "What happened so far.", firstKeptEntryId, tokensBefore },
  }));
  pi.registerCommand("go-on", {
    description: "Makes the model go on without a word of the user's.",
    handler: async () => {
      const message = { customType: "go-on", content: "Go on.", display: false };
      pi.sendMessage(message, { triggerTurn: true });
    },
  });
}
