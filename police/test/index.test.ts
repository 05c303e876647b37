import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";

import type {
  ExtensionContext,
  MessageUpdateEvent,
  TurnEndEvent,
} from "@earendil-works/pi-coding-agent";

import { PiDouble } from "../../replay/pi_double.ts";
import loopPolice from "../index.ts";
import { PiHost } from "../pi_host.ts";
import { StreamReader } from "../stream_reader.ts";
import { config } from "./observations.ts";
import { assistant, text, thinking, toolCall, user } from "./session.ts";

let folder: string;
let agentDirBefore: string | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "police-"));
  agentDirBefore = process.env.PI_CODING_AGENT_DIR;
  process.env.PI_CODING_AGENT_DIR = folder;
});

afterEach(() => {
  if (agentDirBefore === undefined) delete process.env.PI_CODING_AGENT_DIR;
  else process.env.PI_CODING_AGENT_DIR = agentDirBefore;
  rmSync(folder, { recursive: true, force: true });
});

const loop = Array.from({ length: 8 }, (_, n) => `${n * 7919} is number ${n}. `)
  .join("")
  .repeat(4);

interface Screen {
  readonly notified: string[];
  status: string | undefined;
  aborts: number;
}

/** A session in which the shipped extension is loaded, with or without a user interface. */
async function start(context: Partial<ExtensionContext> = {}) {
  const screen: Screen = { notified: [], status: undefined, aborts: 0 };
  const base: Partial<ExtensionContext> = {
    mode: "tui",
    hasUI: true,
    cwd: folder,
    model: undefined,
    abort: () => void screen.aborts++,
    ui: {
      notify: (message: string) => screen.notified.push(message),
      setStatus: (_: string, status: string | undefined) => {
        screen.status = status;
      },
    } as unknown as ExtensionContext["ui"],
    sessionManager: {
      getSessionId: () => "session",
      getSessionFile: () => undefined,
    } as unknown as ExtensionContext["sessionManager"],
  };
  // Getters are kept as getters.
  const pi = new PiDouble(Object.defineProperties(base, Object.getOwnPropertyDescriptors(context)));
  await pi.load("police", loopPolice);
  await pi.emit({ type: "session_start", reason: "startup" });
  return { pi, screen };
}

function update(delta: string, whole: string, block = 0, kind = "text"): MessageUpdateEvent {
  const content = [
    ...Array(block).fill(text("before")),
    kind === "text" ? text(whole) : thinking(whole),
  ];
  const message = assistant(content);
  const assistantMessageEvent = {
    type: `${kind}_delta`,
    contentIndex: block,
    delta,
    partial: message,
  } as MessageUpdateEvent["assistantMessageEvent"];
  return { type: "message_update", message, assistantMessageEvent };
}

async function stream(pi: PiDouble, whole: string, kind = "text") {
  const message = assistant([]);
  await pi.emit({ type: "message_start", message: user("go") });
  await pi.emit({ type: "message_start", message });
  for (let at = 0; at < whole.length; at += 50) {
    await pi.emit(update(whole.slice(at, at + 50), whole.slice(0, at + 50), 0, kind));
  }
  const content = [kind === "text" ? text(whole) : thinking(whole)];
  return pi.messageEnd(assistant(content, { stopReason: "aborted" }));
}

/** The first message that was sent, with how it was to be delivered. */
function firstSent(pi: PiDouble): { content: string; customType: string; options: unknown } {
  const [message, options] = pi.messages.map((sent) => sent.arguments)[0] ?? [];
  return { ...(message as unknown as { content: string; customType: string }), options };
}

/** What standard error got while `act` ran. */
async function standardError(act: () => Promise<unknown>): Promise<string> {
  const write = process.stderr.write;
  let written = "";
  process.stderr.write = ((chunk: string) => {
    written += chunk;
    return true;
  }) as typeof write;
  try {
    await act();
  } finally {
    process.stderr.write = write;
  }
  return written;
}

describe("The extension", () => {
  it("recovers a looping answer: aborted, trimmed, logged, answered in a new run", async () => {
    const { pi, screen } = await start({ model: { id: "m", name: "M", provider: "p" } as never });
    await pi.commands.get("loop-police")?.handler("set HOOK_LOG=log.jsonl", pi.context as never);
    const heard: unknown[] = [];
    pi.events.on("loop-police:detection", (payload) => heard.push(payload));
    await pi.emit({ type: "turn_start", turnIndex: 3, timestamp: 0 });
    const stored = await stream(pi, loop, "thinking");
    assert.equal(screen.aborts, 1);
    assert.equal(JSON.stringify(stored).includes("is number"), false);
    assert.deepEqual(pi.messages, []);
    await pi.emit({ type: "agent_settled", aborted: true });
    assert.equal(firstSent(pi).customType, "loop-police");
    assert.deepEqual(firstSent(pi).options, { triggerTurn: true });
    const line = JSON.parse(readFileSync(join(folder, "log.jsonl"), "utf8"));
    assert.deepEqual(heard, [line]);
    const { timestamp, ...rest } = line;
    assert.equal(new Date(timestamp).toISOString(), timestamp);
    assert.deepEqual(rest, {
      event: "thinking_loop",
      model: { id: "m", name: "M", provider: "p" },
      sessionId: "session",
      sessionFile: null,
      cwd: folder,
      turnIndex: 3,
      consecutiveLoops: 1,
      details: { stream: "thinking", kind: "character", escalated: false },
    });
    assert.equal(screen.status, "police: 1 loop");
    await stream(pi, loop);
    assert.equal(screen.status, "police: 2 loops");
    assert.deepEqual([pi.errors, pi.notDoubled], [[], []]);
  });

  it("refuses a repeated call until the user speaks", async () => {
    const { pi, screen } = await start();
    const call = { toolName: "bash", input: { command: "ls" } };
    const turn = async () => {
      const toolCallId = `id${Math.random()}`;
      await pi.emit({
        type: "tool_execution_start",
        toolCallId,
        toolName: "bash",
        args: call.input,
      });
      const { kind } = await pi.toolCall({ ...call, toolCallId });
      if (kind === "admitted") {
        const result = {
          type: "tool_result",
          toolCallId,
          toolName: "bash",
          input: call.input,
        } as const;
        await pi.tell({ ...result, content: [], isError: false, details: undefined });
      }
      const end = { type: "tool_execution_end", toolCallId, toolName: "bash", result: {} } as const;
      await pi.emit({ ...end, isError: kind !== "admitted" });
      return kind;
    };
    assert.deepEqual([await turn(), await turn()], ["admitted", "refused"]);
    await pi.tell({ type: "input", text: "x", source: "extension" });
    assert.equal(await turn(), "refused");
    await pi.tell({ type: "input", text: "go on", source: "interactive" });
    assert.equal(await turn(), "admitted");
    assert.match(screen.notified.join(), /a sequence of tool calls repeated itself/);
    assert.deepEqual([pi.errors, pi.notDoubled], [[], []]);
  });

  it("answers rejected calls with the shape of a valid one, as Pi describes it", async () => {
    const { pi } = await start();
    const properties = { path: { type: "string" } };
    const parameters = { type: "object", required: ["path"], properties };
    pi.tools.set("edit", { name: "edit", parameters } as never);
    for (let i = 0; i < 4; i++) {
      const call = { toolCallId: `${i}`, toolName: "edit" };
      await pi.emit({ type: "tool_execution_start", ...call, args: {} });
      const result = { content: [{ type: "text", text: 'Validation failed for tool "edit": x' }] };
      await pi.emit({ type: "tool_execution_end", ...call, result, isError: true });
    }
    assert.match(firstSent(pi).content, /A valid call looks like this: edit\(path: string\)/);
    assert.deepEqual(firstSent(pi).options, {});
  });

  it("names no shape when Pi lists no tools", async () => {
    const { pi } = await start();
    pi.tools.set("odd", undefined as never);
    for (let i = 0; i < 4; i++) {
      const call = { toolCallId: `${i}`, toolName: "edit" };
      await pi.emit({ type: "tool_execution_start", ...call, args: {} });
      const result = { content: [{ type: "text", text: "Tool edit not found" }] };
      await pi.emit({ type: "tool_execution_end", ...call, result, isError: true });
    }
    assert.match(firstSent(pi).content, /see the tool's description/);
  });

  it("gates stagnant reasoning out of requests and leaves others alone", async () => {
    const { pi } = await start();
    const messages = Array.from({ length: 4 }, () =>
      assistant([thinking("the same thought as ever"), toolCall("bash")], {
        stopReason: "toolUse",
      }),
    );
    assert.deepEqual(await pi.request(messages), messages);
    for (const message of messages) await pi.messageEnd(message);
    await pi.messageEnd(user("x"));
    assert.equal(JSON.stringify(await pi.request(messages)).includes("same thought"), false);
  });

  it("drops what the model no longer sees after compaction and a jump in the tree", async () => {
    const { pi } = await start();
    await pi.commands.get("loop-police")?.handler("set FILE_SCAN_LIMIT=1", pi.context as never);
    let line = 0;
    const read = async () =>
      (await pi.toolCall({ toolName: "read", input: { path: "a", line: line++ } })).kind;
    assert.deepEqual([await read(), await read()], ["admitted", "refused"]);
    const compacted = { type: "session_compact", fromExtension: false, reason: "manual" } as const;
    await pi.emit({ ...compacted, willRetry: false, compactionEntry: {} as never });
    assert.equal(await read(), "admitted");
    await pi.emit({ type: "session_tree", newLeafId: null, oldLeafId: null });
    assert.equal(await read(), "admitted");
  });

  it("aborts a run that goes on after a refusal that was to end it", async () => {
    const { pi, screen } = await start();
    const call = { toolName: "bash", input: { command: "ls" } };
    for (let i = 0; i < 6; i++) {
      await pi.messageEnd(assistant([toolCall("bash")], { stopReason: "toolUse" }));
      await pi.toolCall(call);
    }
    const ended: TurnEndEvent = {
      type: "turn_end",
      turnIndex: 0,
      message: user(""),
      toolResults: [{ toolCallId: "elsewhere" }] as TurnEndEvent["toolResults"],
      messageEntryId: "",
      toolResultEntryIds: [],
      entries: [],
      continue: true,
      context: {} as TurnEndEvent["context"],
      outcome: "completed",
    };
    await pi.tell(ended);
    assert.equal(screen.aborts, 1);
  });

  it("warns of a damaged configuration, once, where there is no user interface, too", async () => {
    writeFileSync(join(folder, "loop-police.json"), "{");
    const { screen } = await start();
    assert.match(screen.notified.join(), /loop-police\.json: could not be read/);
    const written = await standardError(() => start({ hasUI: false }));
    assert.match(written, /^loop-police: .*loop-police\.json: could not be read/);
  });

  it("answers its command and saves", async () => {
    const { pi, screen } = await start();
    const { handler, getArgumentCompletions } = pi.commands.get("loop-police") as never as {
      handler: (args: string, ctx: unknown) => Promise<void>;
      getArgumentCompletions: (typed: string) => unknown[] | null;
    };
    await handler("set STRIDE=25", pi.context);
    await handler("save", pi.context);
    await handler("", pi.context);
    await handler("reset", pi.context);
    assert.match(screen.notified.at(-2) as string, /STRIDE=25/);
    assert.equal(JSON.parse(readFileSync(join(folder, "loop-police.json"), "utf8")).STRIDE, 25);
    assert.equal(getArgumentCompletions("")?.length, 4);
    assert.equal(screen.status, "police: classic");
  });

  it("lets no fault of its own reach Pi, and refuses no call because of one", async () => {
    const broken = {
      get cwd(): string {
        throw new Error("no folder");
      },
    };
    const { pi, screen } = await start(broken);
    for (let i = 0; i < 5; i++) {
      const call = { toolName: "bash", input: { command: "ls" } };
      assert.equal((await pi.toolCall(call)).kind, "admitted");
    }
    const faults = screen.notified.filter((said) => said.includes("a fault of its own"));
    assert.equal(faults.length, 1);
    assert.deepEqual(pi.errors, []);
  });

  it("stays silent when there is nobody left to tell", async () => {
    const gone = {
      get hasUI(): boolean {
        throw new Error("stale");
      },
      get cwd(): string {
        throw new Error("stale");
      },
    };
    const { pi } = await start(gone);
    assert.equal((await pi.toolCall({ toolName: "bash", input: {} })).kind, "admitted");
    assert.deepEqual(pi.errors, []);
  });

  it("tells the user of a log that cannot be written", async () => {
    const { pi, screen } = await start();
    await pi.commands.get("loop-police")?.handler("set HOOK_LOG=no/log.jsonl", pi.context as never);
    await stream(pi, loop);
    assert.match(screen.notified.join(), /HOOK_LOG failed \(ENOENT\)/);
  });

  it("says that there is no session before there is one", () => {
    const api = { events: {} } as ConstructorParameters<typeof PiHost>[0];
    assert.throws(() => new PiHost(api, config()).cwd, /no session yet/);
  });

  it("waits for its hooks at the end of the session", async () => {
    const { pi } = await start();
    await pi.emit({ type: "session_shutdown", reason: "quit" });
    assert.deepEqual(pi.errors, []);
  });

  it("keeps the state of two sessions apart", async () => {
    const [one, two] = [await start(), await start()];
    const call = { toolName: "bash", input: { command: "ls" } };
    assert.equal((await one.pi.toolCall(call)).kind, "admitted");
    assert.equal((await two.pi.toolCall(call)).kind, "admitted");
    assert.equal((await one.pi.toolCall(call)).kind, "refused");
  });
});

describe("The reader of a stream", () => {
  it("takes the deltas, though the message with them is already ahead", () => {
    const reader = new StreamReader();
    assert.deepEqual(reader.read(update("ab", "abcd")), { stream: "output", block: 0, text: "ab" });
    assert.equal(reader.read(update("cd", "abcdef"))?.text, "cd");
    assert.deepEqual(reader.read(update("x", "x", 1, "thinking")), {
      stream: "thinking",
      block: 1,
      text: "x",
    });
  });

  it("takes what no delta brought at the end of a block", () => {
    const reader = new StreamReader();
    const end = (type: "text_end" | "thinking_end", contentIndex: number, content: string) => {
      const event = update("", content);
      const { partial } = event.assistantMessageEvent as unknown as { partial: never };
      return { ...event, assistantMessageEvent: { type, contentIndex, content, partial } };
    };
    reader.read(update("ab", "ab"));
    assert.equal(reader.read(end("text_end", 0, "abc"))?.text, "c");
    assert.equal(reader.read(end("text_end", 0, "abc")), undefined);
    assert.equal(reader.read(end("thinking_end", 1, "whole"))?.text, "whole");
    reader.start();
    assert.equal(reader.read(end("text_end", 0, "abc"))?.text, "abc");
  });

  it("takes nothing from updates that bring no text", () => {
    const reader = new StreamReader();
    assert.equal(reader.read(update("", "")), undefined);
    const started = update("", "x");
    const begun = { type: "start", partial: started.message } as never;
    assert.equal(reader.read({ ...started, assistantMessageEvent: begun }), undefined);
  });
});
