/** A replayed session tells extensions what Pi tells them, and what they decide has consequences. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { PiSession } from "../pi_session.ts";
import type { ScenarioEvent } from "../scenario.ts";
import { outline, play, type Told } from "./played.ts";

const user: ScenarioEvent = { user: "Go on." };
const call = (command: string, text = "done") => ({
  call: { toolName: "bash", input: { command } },
  result: { text, isError: false },
});

const message = (event: Told) =>
  event.message as { content: { type: string; text: string }[]; stopReason: string };
const of = (told: readonly Told[], type: string) => told.filter((event) => event.type === type);
const settled = (told: readonly Told[]) => of(told, "agent_settled").map(({ aborted }) => aborted);

/** Sends a message of an extension's own. */
const note = (content: string) => ({
  customType: "note",
  content,
  display: false,
  details: undefined,
});

test("a session of one answer is told in Pi's order", async () => {
  const { told } = await play([user, { text: "All is well.", chunk: 10 }]);
  assert.deepEqual(outline(told), [
    "session_start",
    "input",
    "before_agent_start",
    "agent_start",
    "turn_start",
    "message_start user",
    "message_end user",
    "context",
    "message_start assistant",
    "message_update text_start",
    "message_update text_delta",
    "message_update text_delta",
    "message_update text_end",
    "message_end assistant",
    "turn_end assistant",
    "agent_end",
    "agent_settled",
    "session_shutdown",
  ]);
});

test("a call is told of from its start to its result, and the run ends with an empty answer", async () => {
  const { told } = await play([user, call("ls")]);
  assert.deepEqual(outline(told).slice(8, -1), [
    "message_start assistant",
    "message_end assistant",
    "tool_execution_start call_1",
    "tool_call call_1",
    "tool_result call_1",
    "tool_execution_end call_1",
    "message_start toolResult",
    "message_end toolResult",
    "turn_end assistant",
    "turn_start",
    "context",
    "message_start assistant",
    "message_end assistant",
    "turn_end assistant",
    "agent_end",
    "agent_settled",
  ]);
  const [first, last] = of(told, "turn_end");
  assert.ok(first && last);
  assert.equal(message(first).stopReason, "toolUse");
  assert.deepEqual(message(last).content, []);
});

test("all calls of a batch are asked about before any runs; a rejected one ends at once", async () => {
  const invalid = { invalid: { toolName: "edit", input: "{" }, error: "no JSON" };
  const { told } = await play([user, { batch: [call("a"), invalid, call("b")] }]);
  const calls = outline(told).filter((line) => /^tool_/.test(line));
  assert.deepEqual(calls, [
    "tool_execution_start call_1",
    "tool_call call_1",
    "tool_execution_start call_2",
    "tool_execution_end call_2",
    "tool_execution_start call_3",
    "tool_call call_3",
    "tool_result call_1",
    "tool_execution_end call_1",
    "tool_result call_3",
    "tool_execution_end call_3",
  ]);
  const ends = of(told, "tool_execution_end");
  assert.deepEqual(
    ends.map(({ durationMs, isError }) => [durationMs, isError]),
    [
      [undefined, true],
      [1, false],
      [1, false],
    ],
  );
});

test("a refused call gets its refusal as an error, and does not run; the run goes on", async () => {
  const { told, enforced } = await play([user, call("ls"), call("pwd")], (event) =>
    event.type === "tool_call" && event.toolCallId === "call_1"
      ? { block: true, reason: "not again" }
      : undefined,
  );
  assert.deepEqual(enforced, [["block", 2]]);
  assert.deepEqual(outline(of(told, "tool_result")), ["tool_result call_2"]);
  const [end] = of(told, "tool_execution_end");
  assert.ok(end);
  assert.equal(end.isError, true);
  assert.match(JSON.stringify(end.result), /not again/);
});

test("a refusal without a reason is an error without a text", async () => {
  for (const terminate of [false, true]) {
    const { told } = await play([user, call("ls")], ({ type }) =>
      type === "tool_call" ? { block: true, terminate } : undefined,
    );
    const [end] = of(told, "tool_execution_end");
    assert.deepEqual(end?.result, { content: [{ type: "text", text: "" }], details: {} });
  }
});

test("a call whose handler throws is refused, and that is told", async () => {
  const error = new Error("fault");
  const { told, threw } = await play([user, call("ls")], ({ type }) => {
    if (type === "tool_call") throw error;
  });
  assert.deepEqual(threw, [error]);
  assert.deepEqual(of(told, "tool_result"), []);
});

test("a call without a result returns an empty text", async () => {
  const { told } = await play([user, { call: { toolName: "bash", input: {} } }]);
  const [end] = of(told, "tool_execution_end");
  assert.deepEqual(end?.result, { content: [{ type: "text", text: "" }], details: {} });
  assert.equal(end?.isError, false);
});

test("a handler's change to the input does not change the scenario", async () => {
  const given = call("ls");
  await play([user, given], ({ type, input }) => {
    if (type === "tool_call") Object.assign(input as object, { command: "pwd" });
  });
  assert.equal(given.call.input.command, "ls");
});

test("an abort cuts the stream after two more pieces and ends the run", async () => {
  const { told, enforced } = await play(
    [user, { text: "0123456789".repeat(3), chunk: 5 }, call("never")],
    ({ type, assistantMessageEvent }, _pi, ctx) => {
      const { delta } = Object(assistantMessageEvent);
      if (type === "message_update" && delta !== undefined) ctx.abort();
    },
  );
  assert.deepEqual(enforced, [["abort", 2]]);
  assert.equal(of(told, "message_update").length, 4);
  const answer = of(told, "message_end").at(-1);
  assert.ok(answer);
  assert.equal(message(answer).content[0]?.text, "012345678901234");
  assert.equal(message(answer).stopReason, "aborted");
  assert.deepEqual(settled(told), [true]);
  assert.deepEqual(of(told, "tool_call"), [], "what comes after it is left out");
});

test("without an abort the same stream is said to its end, and its call is made", async () => {
  const { told } = await play([user, { text: "0123456789".repeat(3), chunk: 5 }, call("now")]);
  assert.equal(of(told, "message_update").length, 8);
  assert.equal(of(told, "tool_call").length, 1);
  assert.deepEqual(settled(told), [false]);
});

test("further blocks of an aborted message are not begun, and a second abort is none", async () => {
  const { told, enforced } = await play(
    [user, { thinking: "Hm." }, { text: "So." }],
    ({ type }, _pi, ctx) => {
      if (type === "message_update") ctx.abort();
    },
  );
  assert.deepEqual(enforced, [["abort", 2]]);
  assert.deepEqual(
    outline(of(told, "message_update")),
    ["start", "delta", "end"].map((part) => `message_update thinking_${part}`),
  );
});

test("after the end of a run by an abort, nothing happens until the next prompt", async () => {
  const abortFirst = ({ type }: Told, _pi: unknown, ctx: { abort(): void }) => {
    if (type === "message_update" && first) {
      first = false;
      ctx.abort();
    }
  };
  let first = true;
  const events: ScenarioEvent[] = [user, { text: "a" }, { compaction: true }, call("left out")];
  const { told } = await play([...events, user, call("made")], abortFirst);
  assert.deepEqual(of(told, "session_compact"), []);
  assert.deepEqual(
    of(told, "tool_call").map(({ input }) => input),
    [{ command: "made" }],
  );
});

test("an abort outside of a run aborts nothing", async () => {
  const { enforced } = await play([user], ({ type }, _pi, ctx) => {
    if (type === "session_start" || type === "agent_settled") ctx.abort();
  });
  assert.deepEqual(enforced, []);
});

test("a message sent once an aborted run has settled starts a new run, in which events go on", async () => {
  let aborted = false;
  const { told } = await play([user, { thinking: "Hm." }, call("ls")], (event, pi, ctx) => {
    if (event.type === "message_update" && !aborted) {
      aborted = true;
      ctx.abort();
    }
    if (event.type === "agent_settled" && event.aborted) {
      pi.sendMessage(note("Stop that."), { triggerTurn: true });
    }
  });
  assert.equal(of(told, "agent_start").length, 2);
  assert.equal(of(told, "before_agent_start")[1]?.messageType, "custom");
  assert.deepEqual(settled(told), [true, false]);
  const index = told.findLastIndex(({ type }) => type === "agent_start");
  assert.deepEqual(outline(told.slice(index, index + 4)), [
    "agent_start",
    "turn_start",
    "message_start custom",
    "message_end custom",
  ]);
});

test("a message sent while a run is being aborted never arrives, not even later", async () => {
  let sent = false;
  const { told } = await play([user, { text: "a" }, user, { text: "b" }], (event, pi, ctx) => {
    if (event.type !== "message_update" || sent) return;
    sent = true;
    ctx.abort();
    pi.sendMessage(note("Stop that."), { triggerTurn: true });
  });
  assert.equal(JSON.stringify(told).includes("Stop that."), false);
});

test("a call that is under way when the run is aborted ends as aborted, asked or not", async () => {
  const { told } = await play(
    [user, { batch: [call("a"), call("b"), call("c")] }],
    (event, _pi, ctx) => {
      if (event.type === "tool_call" && event.toolCallId === "call_2") ctx.abort();
    },
  );
  assert.deepEqual(outline(of(told, "tool_call")), ["tool_call call_1", "tool_call call_2"]);
  assert.deepEqual(of(told, "tool_result"), []);
  const texts = of(told, "tool_execution_end").map(({ result }) => JSON.stringify(result));
  assert.deepEqual(texts, Array(3).fill(texts[0]));
  assert.match(texts[0] ?? "", /Operation aborted/);
  assert.deepEqual(settled(told), [true]);
  const last = of(told, "turn_end").at(-1);
  assert.ok(last);
  assert.deepEqual([message(last).stopReason, message(last).content], ["aborted", []]);
});

test("after an abort between calls, a new run goes on with the next call and none is lost", async () => {
  const { told } = await play([user, call("a"), call("b")], (event, pi, ctx) => {
    if (event.type === "tool_call" && event.toolCallId === "call_1") ctx.abort();
    if (event.type === "agent_settled" && event.aborted) {
      pi.sendMessage(note("Go on."), { triggerTurn: true });
    }
  });
  assert.deepEqual(
    of(told, "tool_call").map(({ input }) => input),
    [{ command: "a" }, { command: "b" }],
  );
  assert.deepEqual(settled(told), [true, false]);
});

test("a batch that asks for the end as a whole ends the run, part of it does not", async () => {
  for (const [all, tools] of [
    [true, 2],
    [false, 3],
  ] as const) {
    const { told, enforced } = await play(
      [user, { batch: [call("a"), call("b")] }, call("c")],
      ({ type, toolCallId }) => {
        if (type !== "tool_call" || toolCallId === "call_3") return undefined;
        return { block: true, reason: "no", terminate: all || toolCallId === "call_1" };
      },
    );
    assert.equal(of(told, "tool_call").length, tools);
    assert.equal(enforced.filter(([how]) => how === "terminate").length, all ? 2 : 1);
    assert.deepEqual(settled(told), [false]);
  }
});

test("a message that joins the next request forces none, any other does", async () => {
  for (const [options, turns] of [
    [{ triggerTurn: false }, 1],
    [{}, 2],
    [undefined, 2],
  ] as const) {
    let sent = false;
    const { told } = await play([user, { text: "a" }], (event, pi) => {
      if (event.type !== "message_update" || sent) return;
      sent = true;
      pi.sendMessage(note("By the way."), options);
    });
    assert.equal(of(told, "turn_start").length, turns);
    assert.equal(of(told, "agent_start").length, 1);
  }
});

test("a message that forced nothing is in the request after the next prompt", async () => {
  let sent = false;
  const { told } = await play([user, { text: "a" }, user, { text: "b" }], (event, pi) => {
    if (event.type !== "message_update" || sent) return;
    sent = true;
    pi.sendMessage(note("By the way."), { triggerTurn: false });
  });
  const requests = of(told, "context").map((event) => JSON.stringify(event.messages));
  assert.deepEqual(
    requests.map((text) => text.includes("By the way.")),
    [false, true],
  );
});

test("a user message of an extension's makes the model go on", async () => {
  let sent = false;
  const { told } = await play([user, { text: "a" }], (event, pi) => {
    if (event.type !== "agent_settled" || sent) return;
    sent = true;
    pi.sendUserMessage("And now?");
  });
  assert.equal(of(told, "agent_start").length, 2);
  assert.match(JSON.stringify(of(told, "context").at(-1)), /And now\?/);
});

test("a message without a call ends the run, and the next one starts a run without a prompt", async () => {
  const { told } = await play([user, { text: "a" }, { text: "b" }]);
  assert.equal(of(told, "agent_start").length, 2);
  assert.equal(of(told, "input").length, 1);
});

test("a request holds what was said and returned, as stored, and after a compaction a summary", async () => {
  const events = [user, { text: "first" }, call("ls", "a.md"), { compaction: true as const }];
  const { told } = await play([...events, call("pwd")], (event) => {
    if (event.type !== "message_end") return undefined;
    const { role, content } = event.message as { role: string; content: object[] };
    if (role !== "assistant" || content.length === 0) return undefined;
    return {
      message: { ...(event.message as object), content: [{ type: "text", text: "stored" }] },
    };
  });
  const requests = of(told, "context").map((event) => JSON.stringify(event.messages));
  assert.equal(requests.length, 3);
  assert.doesNotMatch(requests[0] ?? "", /stored/);
  assert.match(requests[1] ?? "", /What happened so far/);
  assert.doesNotMatch(requests[1] ?? "", /a\.md/);
  assert.match(requests[2] ?? "", /stored/);
  assert.doesNotMatch(requests[2] ?? "", /first/);
});

test("turns are counted from 0 in each run, and no two messages are of the same time", async () => {
  const { told } = await play([user, call("a"), call("b"), user, { text: "c" }]);
  assert.deepEqual(
    of(told, "turn_start").map(({ turnIndex }) => turnIndex),
    [0, 1, 2, 0],
  );
  const stamps = of(told, "message_end").map((event) => Object(event.message).timestamp);
  assert.equal(new Set(stamps).size, stamps.length);
});

test("a piece does not end within a character that takes two units", async () => {
  const { told } = await play([user, { text: "ab😀cd", chunk: 3 }]);
  const deltas = of(told, "message_update").map(
    ({ assistantMessageEvent }) => Object(assistantMessageEvent).delta,
  );
  assert.deepEqual(deltas, [undefined, "ab😀", "cd", undefined]);
});

test("an extension that always has more to say is stopped", async () => {
  const always = play([user, { text: "a" }], (event, pi) => {
    if (event.type === "agent_settled") pi.sendMessage(note("More."), { triggerTurn: true });
  });
  await assert.rejects(always, /the extension keeps the run from ending/);
});

test("what extensions may see of the session is there, and the rest is named when it is touched", async () => {
  const seen: unknown[] = [];
  const { session } = await play([user], (event, _pi, ctx) => {
    if (event.type !== "input") return;
    ctx.ui.notify("Hello.", "info");
    ctx.ui.setStatus("probe", "fine");
    seen.push(ctx.cwd, ctx.mode, ctx.hasUI, ctx.model?.id);
    seen.push(ctx.sessionManager.getSessionId(), ctx.sessionManager.getSessionFile());
    seen.push(ctx.ui.select, ctx.sessionManager.getBranch);
  });
  assert.deepEqual(session.notices, ["Hello."]);
  assert.deepEqual(seen, [
    ...["/project", "tui", true, "scripted", "replay"],
    ...[undefined, undefined, undefined],
  ]);
  assert.deepEqual(session.pi.notDoubled, ["ctx.ui.select", "ctx.sessionManager.getBranch"]);
});

test("an extension that listens to what is not dispatched is named", async () => {
  const session = new PiSession({ enforced: () => {}, threw: () => {} });
  await session.start("deaf", (pi) => {
    pi.on("agent_before_settle", () => undefined);
  });
  assert.deepEqual(session.pi.notDoubled, ["the event agent_before_settle"]);
});
