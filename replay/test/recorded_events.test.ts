import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExtensionAPI, ExtensionEvent } from "@earendil-works/pi-coding-agent";

import { type BranchCall, type Guard, GuardedBranch } from "../guarded_branch.ts";
import { PiDouble } from "../pi_double.ts";
import { timeOf } from "../recorded_events.ts";
import { serve, type WorkerMessage } from "../session_worker.ts";

const here = { id: "s1", cwd: "/project" };
const STARTED = 1_800_000_000_000;

type Content = Record<string, unknown>;

function answer(content: Content[], at = 0) {
  const message = { role: "assistant", content, stopReason: "toolUse", timestamp: STARTED + at };
  return { type: "message", message };
}

function result(toolCallId: string, text: string, at = 0) {
  const content = [{ type: "text", text }];
  const message = { role: "toolResult", toolCallId, content, isError: false, details: { a: 1 } };
  return { type: "message", message: { ...message, timestamp: STARTED + at } };
}

const thinking = (text: string) => ({ type: "thinking", thinking: text });
const text = (written: string) => ({ type: "text", text: written });
const toolCall = (id: string) => ({ type: "toolCall", id, name: "bash", arguments: {} });
const bash = (id: string, command: string, reached = true): BranchCall => [
  id,
  "bash",
  { command },
  reached,
];

/** A guard that keeps what it is told, each event as one short line, and may do something then. */
function witness(act: (event: ExtensionEvent, pi: ExtensionAPI, abort: () => void) => unknown) {
  const told: string[] = [];
  const names = [
    "input",
    "agent_start",
    "agent_settled",
    "turn_start",
    "turn_end",
    "message_start",
    "message_update",
    "message_end",
    "session_compact",
    "tool_execution_start",
    "tool_call",
    "tool_result",
    "tool_execution_end",
  ] as const;
  const factory = (pi: ExtensionAPI) => {
    for (const name of names) {
      (pi.on as (name: string, handler: unknown) => void)(
        name,
        (event: ExtensionEvent, ctx: { abort(): void }) => {
          told.push(line(event));
          return act(event, pi, ctx.abort);
        },
      );
    }
  };
  return { told, guard: { name: "witness", factory } satisfies Guard };
}

function line(event: ExtensionEvent): string {
  switch (event.type) {
    case "message_update": {
      const { type, contentIndex, delta } = event.assistantMessageEvent as {
        type: string;
        contentIndex: number;
        delta: string;
      };
      return `${type} ${contentIndex} ${delta.length}`;
    }
    case "message_end":
      return `message_end ${(event.message as { stopReason?: string }).stopReason}`;
    case "tool_execution_start":
    case "tool_call":
    case "tool_result":
      return `${event.type} ${event.toolCallId}`;
    case "tool_execution_end":
      return `${event.type} ${event.toolCallId} ${event.isError} ${event.result.content[0].text}`;
    case "turn_end":
      return `turn_end ${event.toolResults.map((each) => each.toolCallId)}`;
    case "agent_settled":
      return `agent_settled ${event.aborted}`;
    default:
      return event.type;
  }
}

test("an answer is told in pieces, then its calls, then their results, as Pi does", async () => {
  const { told, guard } = witness(() => undefined);
  const branch = await GuardedBranch.begin([guard], here);
  await branch.prompt({ message: { role: "user", timestamp: STARTED } });
  const content = [
    thinking("t".repeat(60)),
    text("x"),
    toolCall("a"),
    toolCall("b"),
    toolCall("c"),
  ];
  const calls = [bash("a", "ls"), bash("b", "pwd", false), bash("c", "id")];
  const results = [result("b", "rejected"), result("a", "done")];
  await branch.turn(calls, answer(content), results);
  await branch.compacted();
  await branch.prompt({ message: { role: "user" } });
  assert.deepEqual(branch.end().faults, []);
  assert.deepEqual(told, [
    "input",
    "agent_start",
    "turn_start",
    "message_start",
    "thinking_delta 0 48",
    "thinking_delta 0 12",
    "text_delta 1 1",
    "message_end toolUse",
    "tool_execution_start a",
    "tool_call a",
    "tool_execution_start b",
    "tool_execution_start c",
    "tool_call c",
    "tool_result a",
    "tool_execution_end a false done",
    "tool_execution_end b false rejected",
    "turn_end a,b",
    "session_compact",
    "agent_settled false",
    "input",
  ]);
});

test("a refused call has the refusal for its result", async () => {
  const { told, guard } = witness((event) =>
    event.type === "tool_call" && event.toolCallId !== "b"
      ? { block: true, ...(event.toolCallId === "a" ? { reason: "no" } : {}) }
      : undefined,
  );
  const branch = await GuardedBranch.begin([guard], here);
  const calls = [bash("a", "ls"), bash("b", "ls"), bash("c", "ls")];
  const content = [toolCall("a"), toolCall("b"), toolCall("c")];
  const results = [result("a", "x"), result("b", "x"), result("c", "x")];
  await branch.turn(calls, answer(content), results);
  assert.deepEqual(branch.end().refusals, [
    [0, "witness"],
    [2, "witness"],
  ]);
  assert.deepEqual(
    told.filter((each) => each.startsWith("tool_result") || each.startsWith("tool_execution_end")),
    [
      "tool_execution_end a true no",
      "tool_result b",
      "tool_execution_end b false x",
      "tool_execution_end c true ",
    ],
  );
});

test("an answer that a guard stops is cut, makes no calls, and its calls are counted", async () => {
  const { told, guard } = witness((event, pi, abort) => {
    if (event.type !== "message_update") return undefined;
    pi.events.emit("loop-police:detection", { event: "output_loop" });
    return abort();
  });
  const branch = await GuardedBranch.begin([guard], here);
  const same = [bash("a", "ls"), bash("b", "ls")];
  await branch.turn(same, answer([text("x".repeat(200)), toolCall("a"), toolCall("b")]), []);
  await branch.turn([bash("c", "ls")], answer([toolCall("c")]), [result("c", "done")]);
  const verdict = branch.end();
  assert.deepEqual(verdict.detections, [[0, "output_loop"]]);
  assert.equal(verdict.longestRun, 3);
  assert.deepEqual(told.slice(3, 7), [
    "text_delta 0 48",
    "message_end aborted",
    "turn_end ",
    "agent_settled true",
  ]);
  assert.ok(told.includes("tool_call c"));
  assert.ok(!told.includes("tool_call a"));
});

test("an answer that is stopped at its end makes no calls either", async () => {
  const { told, guard } = witness((event, _, abort) =>
    event.type === "message_end" ? abort() : undefined,
  );
  const branch = await GuardedBranch.begin([guard], here);
  await branch.turn([bash("a", "ls")], answer([toolCall("a")]), [result("a", "done")]);
  branch.end();
  assert.ok(!told.includes("tool_call a"));
});

test("the guards' clock is the session's while they run, and no longer", async () => {
  const times: number[] = [];
  const { guard } = witness((event) => {
    if (event.type === "tool_call" || event.type === "tool_execution_end") times.push(Date.now());
  });
  const branch = await GuardedBranch.begin([guard], here);
  await branch.turn([bash("a", "ls")], answer([toolCall("a")], 5), [result("a", "done", 65)]);
  branch.end();
  assert.deepEqual(times, [STARTED + 5, STARTED + 65]);
  assert.notEqual(Date.now(), STARTED + 65);
});

test("the time of a line is that of its message, else its own, else unknown", () => {
  assert.equal(timeOf({ message: { timestamp: 5 }, timestamp: "2026-01-01T00:00:00Z" }), 5);
  assert.equal(timeOf({ timestamp: "1970-01-01T00:00:01Z" }), 1000);
  assert.equal(timeOf({ message: {} }), undefined);
  assert.equal(timeOf(undefined), undefined);
});

test("a guard sees the session's folder and id, and a screen that nobody sees", async () => {
  const seen: unknown[] = [];
  const factory = (pi: ExtensionAPI) => {
    pi.on("tool_call", (_, ctx) => {
      ctx.ui.notify("x", "info");
      ctx.ui.setStatus("x", "y");
      const { sessionManager } = ctx;
      seen.push(ctx.cwd, sessionManager.getSessionId(), sessionManager.getSessionFile());
      seen.push(ctx.isProjectTrusted(), ctx.model);
      return undefined;
    });
  };
  const branch = await GuardedBranch.begin([{ name: "g", factory }], here);
  await branch.turn([bash("a", "ls")]);
  assert.deepEqual(branch.end().faults, []);
  assert.deepEqual(seen, ["/project", "s1", undefined, false, undefined]);
});

test("a worker passes prompts, compactions and whole answers on", async () => {
  const { told, guard } = witness(() => undefined);
  const messages: WorkerMessage[] = [
    ["branch", here],
    ["prompt", { message: { role: "user" } }],
    ["turn", [bash("a", "ls")], answer([toolCall("a")]), [result("a", "done")]],
    ["compacted"],
    ["end"],
  ];
  async function* input() {
    yield Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  }
  const answers: string[] = [];
  await serve([guard], input(), (each) => answers.push(each));
  assert.equal(answers.length, 1);
  assert.equal(told[0], "input");
  assert.equal(told.at(-1), "session_compact");
});

test("the double hands messages to handlers that may replace them", async () => {
  const pi = new PiDouble();
  const named = (name: string) => ({ role: "user", content: name, timestamp: 0 }) as never;
  await pi.load("first", (api) => {
    api.on("context", () => ({ messages: [named("replaced")] }));
    api.on("message_end", () => ({ message: named("stored") }));
    api.on("tool_result", () => {
      throw new Error("oops");
    });
    api.registerTool({ name: "t", description: "d", parameters: {} } as never);
    assert.deepEqual(api.getActiveTools(), ["t"]);
    assert.deepEqual(api.getAllTools(), [
      { name: "t", description: "d", parameters: {}, exposure: "direct" },
    ]);
  });
  await pi.load("second", (api) => {
    api.on("context", ({ messages }) => {
      assert.deepEqual(messages, [named("replaced")]);
      return undefined;
    });
    api.on("context", () => ({}));
    api.on("message_end", () => ({}));
    api.on("tool_result", () => ({ isError: true }));
  });
  assert.deepEqual(await pi.request([named("sent")]), [named("replaced")]);
  assert.deepEqual(await pi.messageEnd(named("ended")), named("stored"));
  await pi.tell({ type: "tool_result" } as never);
  assert.deepEqual(
    pi.errors.map(({ extension, event }) => `${extension} ${event}`),
    ["first tool_result"],
  );
});
