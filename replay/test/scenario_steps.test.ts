/** Which events make up one message. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { CallEvent, InvalidEvent, ScenarioEvent } from "../scenario.ts";
import { stepsOf } from "../scenario_steps.ts";

const user: ScenarioEvent = { user: "Go on." };
const think: ScenarioEvent = { thinking: "Hm." };
const say: ScenarioEvent = { text: "So." };
const call: CallEvent = { call: { toolName: "bash", input: { command: "ls" } } };
const invalid: InvalidEvent = { invalid: { toolName: "edit", input: {} }, error: "no" };

/** The steps in short: event numbers, the blocks of a message before a bar, its calls behind it. */
function grouped(...events: ScenarioEvent[]): string[] {
  return [...stepsOf({ events })].map((step) => {
    if (step.kind !== "message") return `${step.kind} ${step.event}`;
    const streams = step.streams.map(({ type, event }) => `${type} ${event}`);
    const { batch } = step;
    return [streams.join(", "), batch ? `${batch.calls.length} calls ${batch.event}` : ""]
      .filter((part) => part !== "")
      .join(" | ");
  });
}

test("thinking and text right before a call belong to the call's message", () => {
  assert.deepEqual(grouped(user, think, say, call), ["prompt 1", "thinking 2, text 3 | 1 calls 4"]);
});

test("a call that follows a call is a message of its own, and so is what follows it", () => {
  assert.deepEqual(grouped(call, call, think, invalid), [
    "1 calls 1",
    "1 calls 2",
    "thinking 3 | 1 calls 4",
  ]);
});

test("a second thinking, a second text, and thinking after text begin another message", () => {
  assert.deepEqual(grouped(think, think, say, say, think), [
    "thinking 1",
    "thinking 2, text 3",
    "text 4",
    "thinking 5",
  ]);
});

test("a batch is one message with all its calls, rejected ones too", () => {
  assert.deepEqual(grouped(say, { batch: [call, invalid] }), ["text 1 | 2 calls 2"]);
});

test("a prompt and a compaction end the message before them", () => {
  assert.deepEqual(grouped(say, user, think, { compaction: true }, call), [
    "text 1",
    "prompt 2",
    "thinking 3",
    "compaction 4",
    "1 calls 5",
  ]);
});

test("a block is its text as often as it is repeated, in pieces of twenty unless it says so", () => {
  const [first, second] = stepsOf({
    events: [
      { text: "ab", repeat: 3 },
      { ...say, chunk: 7 },
    ],
  });
  assert.ok(first?.kind === "message" && second?.kind === "message");
  assert.deepEqual(first.streams, [{ event: 1, type: "text", text: "ababab", chunk: 20 }]);
  assert.equal(second.streams[0]?.chunk, 7);
});
