/** The Pi double behaves like Pi where extensions can tell, and is loud where it has nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExtensionAPI, ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

import { PiDouble, type PlainEvent } from "../pi_double.ts";

/** A double with one extension, whose API is handed out for use after loading. */
async function loaded(pi = new PiDouble()): Promise<{ pi: PiDouble; api: ExtensionAPI }> {
  let api: ExtensionAPI | undefined;
  await pi.load("one", (given) => {
    api = given;
  });
  assert.ok(api);
  return { pi, api };
}

const call = () => ({ toolName: "bash", input: { command: "ls" } });

test("without a handler a call is admitted", async () => {
  assert.deepEqual(await new PiDouble().toolCall(call()), { kind: "admitted" });
});

test("handlers are awaited one after the other, extension by extension", async () => {
  const pi = new PiDouble();
  const order: string[] = [];
  const slow = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
  };
  let later: ExtensionAPI | undefined;
  await pi.load("first", (api) => {
    api.on("tool_call", slow("a"));
    later = api;
  });
  await pi.load("second", (api) => {
    api.on("tool_call", slow("c"));
  });
  later?.on("tool_call", slow("b"));
  await pi.toolCall(call());
  assert.deepEqual(
    order,
    ["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});

test("the first block wins, and the handlers behind it are not called", async () => {
  const { pi, api } = await loaded();
  let reached = false;
  api.on("tool_call", () => ({ block: false, reason: "only a remark" }));
  api.on("tool_call", () => ({ block: true, reason: "first", terminate: true }));
  api.on("tool_call", () => {
    reached = true;
    return { block: true, reason: "second" };
  });
  assert.deepEqual(await pi.toolCall(call()), {
    kind: "refused",
    result: { block: true, reason: "first", terminate: true },
  });
  assert.equal(reached, false);
});

test("any block that counts as true blocks, as in Pi", async () => {
  const { pi, api } = await loaded();
  api.on("tool_call", () => ({ block: 0 as unknown as boolean }));
  api.on("tool_call", () => ({ block: "yes" as unknown as boolean }));
  assert.equal((await pi.toolCall(call())).kind, "refused");
});

test("a handler that does not block leaves the call admitted, and the next is called", async () => {
  const { pi, api } = await loaded();
  let reached = false;
  api.on("tool_call", () => ({ block: false, reason: "only a remark" }));
  api.on("tool_call", () => {
    reached = true;
  });
  assert.deepEqual(await pi.toolCall(call()), { kind: "admitted" });
  assert.equal(reached, true);
});

test("a later handler, and the caller, see what an earlier one changed in the input", async () => {
  const { pi, api } = await loaded();
  const seen: unknown[] = [];
  api.on("tool_call", (event) => {
    event.input = Object.assign(event.input, { command: "pwd" });
  });
  api.on("tool_call", (event) => {
    seen.push(event.input);
  });
  const mutable = call();
  await pi.toolCall(mutable);
  assert.deepEqual(seen, [{ command: "pwd" }]);
  assert.deepEqual(mutable.input, { command: "pwd" });
});

test("a handler that throws ends the round; the next call is dispatched as before", async () => {
  const { pi, api } = await loaded();
  const error = new Error("fault");
  let faulty = true;
  let reached = 0;
  api.on("tool_call", () => {
    if (faulty) throw error;
  });
  api.on("tool_call", () => {
    reached += 1;
  });
  assert.deepEqual(await pi.toolCall(call()), { kind: "threw", error });
  assert.equal(reached, 0);
  faulty = false;
  assert.deepEqual(await pi.toolCall(call()), { kind: "admitted" });
  assert.equal(reached, 1);
});

test("a call has an id of its own, or the caller's, and the parent's where there is one", async () => {
  const { pi, api } = await loaded();
  const seen: unknown[] = [];
  api.on("tool_call", ({ type, toolCallId, parentToolCallId }) => {
    seen.push([type, toolCallId, parentToolCallId]);
  });
  await pi.toolCall(call());
  await pi.toolCall(call());
  await pi.toolCall({ ...call(), toolCallId: "x/0", parentToolCallId: "x" });
  assert.deepEqual(seen, [
    ["tool_call", "call_1", undefined],
    ["tool_call", "call_2", undefined],
    ["tool_call", "x/0", "x"],
  ]);
});

test("one handler registered twice is called twice, and removed once at a time", async () => {
  const { pi, api } = await loaded();
  let called = 0;
  const handler = () => {
    called += 1;
  };
  const remove = api.on("tool_call", handler);
  api.on("tool_call", handler);
  assert.equal(pi.handlerCount("tool_call"), 2);
  remove();
  remove();
  assert.equal(pi.handlerCount("tool_call"), 1);
  await pi.toolCall(call());
  assert.equal(called, 1);
});

test("what handlers register during a round counts from the next round on", async () => {
  const { pi, api } = await loaded();
  let late = 0;
  const remove = api.on("tool_call", () => {
    remove();
    api.on("tool_call", () => {
      late += 1;
    });
  });
  await pi.toolCall(call());
  assert.equal(late, 0);
  await pi.toolCall(call());
  assert.equal(late, 1);
});

test("a plain event reaches its handlers alone, and a fault of one is kept", async () => {
  const { pi, api } = await loaded();
  const error = new Error("fault");
  const seen: string[] = [];
  api.on("agent_start", () => {
    throw error;
  });
  api.on("agent_start", ({ type }) => {
    seen.push(type);
  });
  api.on("session_compact", ({ type }) => {
    seen.push(type);
  });
  await pi.emit({ type: "agent_start" });
  assert.deepEqual(seen, ["agent_start"]);
  assert.deepEqual(pi.errors, [{ extension: "one", event: "agent_start", error }]);
});

test("an event whose results mean something to Pi cannot be emitted as a plain one", async () => {
  const pi = new PiDouble();
  const ruled = { type: "message_end" } as unknown as PlainEvent;
  await assert.rejects(pi.emit(ruled), /The Pi double has no message_end/);
  assert.deepEqual(pi.notDoubled, ["message_end"]);
});

const userMessage = (content: string) => ({ role: "user" as const, content, timestamp: 0 });

test("a handler of message_end may replace the message, for those after it and for good", async () => {
  const { pi, api } = await loaded();
  const seen: unknown[] = [];
  api.on("message_end", () => undefined);
  api.on("message_end", () => ({}));
  api.on("message_end", () => ({ message: userMessage("second") }));
  api.on("message_end", ({ message }) => {
    seen.push(message);
  });
  const second = userMessage("second");
  assert.deepEqual(await pi.messageEnd(userMessage("first")), second);
  assert.deepEqual(seen, [second]);
});

test("without a handler a message and a request stay as they are", async () => {
  const { pi } = await loaded();
  const message = userMessage("first");
  assert.equal(await pi.messageEnd(message), message);
  const messages = [message];
  assert.equal(await pi.request(messages), messages);
});

test("a handler of context may replace the messages of a request, and a fault of one is kept", async () => {
  const { pi, api } = await loaded();
  const error = new Error("fault");
  api.on("context", ({ messages }) => ({ messages: [...messages, userMessage("more")] }));
  api.on("context", () => {
    throw error;
  });
  api.on("context", () => ({}));
  const sent = await pi.request([userMessage("first")]);
  assert.deepEqual(sent, [userMessage("first"), userMessage("more")]);
  assert.deepEqual(pi.errors, [{ extension: "one", event: "context", error }]);
});

test("an event is told to all its handlers, whatever they answer", async () => {
  const { pi, api } = await loaded();
  const seen: unknown[] = [];
  for (const answer of [{ action: "handled" }, { action: "continue" }] as const) {
    api.on("input", ({ text }) => {
      seen.push(text);
      return answer;
    });
  }
  await pi.tell({ type: "input", text: "Go on.", source: "interactive" });
  assert.deepEqual(seen, ["Go on.", "Go on."]);
});

test("registered tools are listed, and are all active", async () => {
  const { pi, api } = await loaded();
  const parameters = Type.Object({});
  const execute = async () => ({ content: [], details: {} });
  api.registerTool({ name: "greet", label: "Greet", description: "Greets.", parameters, execute });
  assert.deepEqual(api.getActiveTools(), ["greet"]);
  const listed = { name: "greet", description: "Greets.", parameters, exposure: "direct" };
  assert.deepEqual(api.getAllTools(), [listed]);
  assert.deepEqual(pi.notDoubled, []);
});

test("entries are kept as the session file would hold them", async () => {
  const { pi, api } = await loaded();
  const data: { n: number; lost?: undefined } = { n: 1, lost: undefined };
  api.appendEntry("note", data);
  api.appendEntry("empty");
  data.n = 2;
  assert.deepEqual(pi.entries, [
    { extension: "one", customType: "note", data: { n: 1 } },
    { extension: "one", customType: "empty", data: undefined },
  ]);
  assert.throws(() => api.appendEntry("note", { big: 1n }), TypeError);
});

test("messages are kept with their options", async () => {
  const { pi, api } = await loaded();
  const message = { customType: "hint", content: "Stop.", display: true, details: undefined };
  api.sendMessage(message, { triggerTurn: true });
  api.sendUserMessage("Go on.");
  assert.deepEqual(pi.messages, [
    { extension: "one", kind: "custom", arguments: [message, { triggerTurn: true }] },
    { extension: "one", kind: "user", arguments: ["Go on."] },
  ]);
});

test("commands and tools are kept by name", async () => {
  const { pi, api } = await loaded();
  const command = { description: "Greets.", handler: async () => {} };
  const tool = {
    name: "greet",
    label: "Greet",
    description: "Greets.",
    parameters: Type.Object({}),
    execute: async () => ({ content: [], details: {} }),
  };
  api.registerCommand("greet", command);
  api.registerTool(tool);
  assert.deepEqual([...pi.commands], [["greet", command]]);
  assert.deepEqual([...pi.tools], [["greet", tool]]);
});

test("the bus joins extensions and harness, and contains a listener's fault", async () => {
  const { pi, api } = await loaded();
  const error = new Error("fault");
  const seen: unknown[] = [];
  api.events.on("news", () => {
    throw error;
  });
  const remove = pi.events.on("news", (data) => {
    seen.push(data);
  });
  api.events.emit("news", 1);
  remove();
  api.events.emit("news", 2);
  assert.deepEqual(seen, [1]);
  assert.deepEqual(pi.errors, [
    { extension: undefined, event: "news", error },
    { extension: undefined, event: "news", error },
  ]);
});

const ACTIONS: readonly [string, (pi: ExtensionAPI) => void][] = [
  ["appendEntry", (pi) => pi.appendEntry("note", {})],
  [
    "sendMessage",
    (pi) => pi.sendMessage({ customType: "x", content: "", display: false, details: {} }),
  ],
  ["sendUserMessage", (pi) => pi.sendUserMessage("x")],
];

for (const [name, act] of ACTIONS) {
  test(`pi.${name} throws while the extension loads, and works afterwards`, async () => {
    const message = `pi.${name} cannot be called while the extension early loads.`;
    await assert.rejects(new PiDouble().load("early", act), { message });
    act((await loaded()).api);
  });
}

test("an extension that failed to load gets no events", async () => {
  const pi = new PiDouble();
  const broken: ExtensionFactory = (api) => {
    api.on("tool_call", () => ({ block: true }));
    throw new Error("fault");
  };
  await assert.rejects(pi.load("broken", broken), /fault/);
  assert.deepEqual(await pi.toolCall(call()), { kind: "admitted" });
});

test("a member that is not doubled throws when it is called, by its name", async () => {
  const { pi, api } = await loaded();
  assert.equal(typeof api.exec, "function");
  assert.deepEqual(pi.notDoubled, []);
  assert.throws(() => api.exec("ls", []), /has no pi\.exec; add it to replay\/pi_double\.ts/);
  assert.deepEqual(pi.notDoubled, ["pi.exec"]);
});

test("a member that Pi has not got either is undefined, as in Pi", async () => {
  const { pi, api } = await loaded();
  assert.equal("next" in api, false);
  assert.deepEqual(pi.notDoubled, []);
});

test("the context is that of print mode, and the rest of it throws by its name", async () => {
  const { pi, api } = await loaded();
  api.on("tool_call", (_event, ctx) => {
    assert.equal(ctx.mode, "print");
    assert.equal(ctx.hasUI, false);
    assert.throws(() => ctx.ui, /has no ctx\.ui/);
  });
  assert.deepEqual(await pi.toolCall(call()), { kind: "admitted" });
  assert.deepEqual(pi.notDoubled, ["ctx.ui"]);
});

test("a harness may give members of the context, live ones too", async () => {
  let turns = 0;
  const context = {
    mode: "rpc",
    get cwd() {
      return `/project/${turns}`;
    },
  } as const;
  const { pi } = await loaded(new PiDouble(context));
  turns = 3;
  assert.equal(pi.context.mode, "rpc");
  assert.equal(pi.context.cwd, "/project/3");
});
