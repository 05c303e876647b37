/** How Pi meets the guard: one handler, which answers in Pi's terms and never fails. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import * as shipped from "../engine.ts";

type Handler = (event: unknown) => unknown;

interface Entry {
  readonly type: string;
  readonly data: unknown;
}

/** A Pi that keeps what the extension registers, and what it appends unless told otherwise. */
class PiDouble {
  readonly handlers: { readonly event: string; readonly handler: Handler }[] = [];
  readonly entries: Entry[] = [];

  on(event: string, handler: Handler): void {
    this.handlers.push({ event, handler });
  }

  appendEntry(type: string, data: unknown): unknown {
    this.entries.push({ type, data });
    return undefined;
  }

  /** Registers the shipped extension and returns its handler. */
  register(): Handler {
    shipped.default(this as unknown as ExtensionAPI);
    const last = this.handlers.at(-1);
    assert.ok(last, "the extension registered nothing");
    return last.handler;
  }
}

const event = { type: "tool_call", toolCallId: "1", toolName: "bash", input: { command: "ls -R" } };
const otherEvent = { ...event, input: { command: "ls" } };

/** A registration that has admitted five identical calls. */
function atThreshold(pi: PiDouble): Handler {
  const handler = pi.register();
  for (let i = 0; i < 5; i += 1) assert.equal(handler({ ...event, toolCallId: `${i}` }), undefined);
  return handler;
}

describe("a registration", () => {
  it("adds one tool_call handler and nothing else", () => {
    const pi = new PiDouble();
    pi.register();
    assert.deepEqual(
      pi.handlers.map((each) => each.event),
      ["tool_call"],
    );
    assert.deepEqual(pi.entries, []);
  });

  it("has a window of its own", () => {
    const pi = new PiDouble();
    const first = atThreshold(pi);
    const second = pi.register();
    assert.equal(second(event), undefined);
    assert.notEqual(first(event), undefined);
  });
});

describe("the handler", () => {
  it("answers a repeated call with a block and a reason alone", () => {
    const answer = atThreshold(new PiDouble())(event);
    assert.ok(typeof answer === "object" && answer !== null && "reason" in answer);
    assert.deepEqual(answer, { block: true, reason: answer.reason });
    assert.match(String(answer.reason), /\bbash\b.*\b5 times\b/);
  });

  it("answers an ordinary call with undefined and records nothing", () => {
    const pi = new PiDouble();
    assert.equal(atThreshold(pi)(otherEvent), undefined);
    assert.deepEqual(pi.entries, []);
  });

  it("leaves the event as it was", () => {
    const pi = new PiDouble();
    const handler = pi.register();
    const frozen = Object.freeze({ ...event, input: Object.freeze({ ...event.input }) });
    for (let i = 0; i < 6; i += 1) handler(frozen);
    assert.equal(pi.entries.length, 1);
  });

  it("takes a call of another tool, with its parent's id, as any other", () => {
    const handler = atThreshold(new PiDouble());
    assert.notEqual(handler({ ...event, toolCallId: "1/1", parentToolCallId: "1" }), undefined);
  });
});

describe("the telemetry", () => {
  it("is one loop_broken entry for each refusal", () => {
    const pi = new PiDouble();
    const handler = atThreshold(pi);
    handler(event);
    handler(event);
    assert.deepEqual(pi.entries, [
      { type: "loop_broken", data: { tool: "bash", repeats: 5, blockedSoFar: 1 } },
      { type: "loop_broken", data: { tool: "bash", repeats: 5, blockedSoFar: 2 } },
    ]);
  });

  it("is stored before the handler returns", () => {
    const pi = new PiDouble();
    atThreshold(pi)(event);
    assert.equal(pi.entries.length, 1);
  });

  it("may fail without a trace in the answer", () => {
    const expected = atThreshold(new PiDouble())(event);
    const pi = new PiDouble();
    pi.appendEntry = () => {
      throw new Error("no space left on device");
    };
    assert.deepEqual(atThreshold(pi)(event), expected);
  });

  it("may be rejected later without a trace in the answer", async () => {
    const expected = atThreshold(new PiDouble())(event);
    const pi = new PiDouble();
    pi.appendEntry = () => Promise.reject(new Error("no space left on device"));
    assert.deepEqual(atThreshold(pi)(event), expected);
    // An unhandled rejection would fail this test before the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("goes on being counted when it could not be stored", () => {
    const pi = new PiDouble();
    const { appendEntry } = pi;
    pi.appendEntry = () => {
      throw new Error("no space left on device");
    };
    const handler = atThreshold(pi);
    handler(event);
    pi.appendEntry = appendEntry;
    handler(event);
    assert.deepEqual(pi.entries, [
      { type: "loop_broken", data: { tool: "bash", repeats: 5, blockedSoFar: 2 } },
    ]);
  });
});

describe("an event that cannot be inspected", () => {
  const broken = (property: string) =>
    Object.defineProperty({ ...event }, property, {
      get() {
        throw new Error("hands off");
      },
    });
  const hostile: Record<string, unknown> = {
    "has no tool name": { ...event, toolName: undefined },
    "has a tool name that is no string": { ...event, toolName: { toString: () => "bash" } },
    "has no input": { ...event, input: undefined },
    "throws for its tool name": broken("toolName"),
    "throws for its input": broken("input"),
    "is nothing at all": undefined,
  };
  for (const [what, hostileEvent] of Object.entries(hostile)) {
    it(`is admitted when it ${what}, and is not remembered`, () => {
      const handler = atThreshold(new PiDouble());
      for (let i = 0; i < 30; i += 1) assert.equal(handler(hostileEvent), undefined);
      assert.notEqual(handler(event), undefined);
    });
  }
});

describe("the README", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

  it("quotes the refusal and the telemetry as they are", () => {
    const pi = new PiDouble();
    const answer = atThreshold(pi)(event);
    const quoted = [...readme.matchAll(/^> (.*)$/gm)].map(([, line]) => line).join(" ");
    assert.deepEqual(answer, { block: true, reason: quoted });
    const [, entry = ""] = readme.match(/```json\n(.*?)```/s) ?? [];
    assert.deepEqual(pi.entries, [{ type: "loop_broken", data: JSON.parse(entry) }]);
  });
});

describe("the shipped file", () => {
  const source = readFileSync(new URL("../engine.ts", import.meta.url), "utf8");

  it("exports the extension, its breaker and four types", () => {
    assert.deepEqual(Object.keys(shipped).sort(), ["createLoopBreaker", "default"]);
    const exported = [...source.matchAll(/^export (.*?)[({=]/gm)].map(([, what]) => what?.trim());
    assert.deepEqual(exported.sort(), [
      "default function loopBreaker",
      "function createLoopBreaker",
      "interface BlockDecision",
      "interface LoopBrokenData",
      "interface ToolCall",
      "type JsonValue",
    ]);
  });

  it("imports nothing but the type of Pi's API", () => {
    const imports = source.match(/\bimport\b[^;]*;|\brequire\s*\(/g);
    assert.deepEqual(imports, [
      'import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";',
    ]);
  });

  it("is what the package's manifest hands to Pi", () => {
    const manifest: unknown = JSON.parse(
      readFileSync(new URL("../package.json", import.meta.url), "utf8"),
    );
    assert.partialDeepStrictEqual(manifest, {
      type: "module",
      keywords: ["pi-package"],
      files: ["engine.ts"],
      pi: { extensions: ["./engine.ts"] },
      peerDependencies: { "@earendil-works/pi-coding-agent": "*" },
    });
    assert.ok(!Object.hasOwn(Object(manifest), "dependencies"), "the guard has no dependency");
  });
});
