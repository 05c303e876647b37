import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { DETECTORS } from "../detectors/registry.ts";
import type { Detection, Detector, Observation } from "../detectors/types.ts";
import { MARKERS, MESSAGE_DEFAULTS } from "../messages.ts";
import { type AssistantMessage, textOf } from "../transcript.ts";
import { Watch } from "../watch.ts";
import { config, read, write } from "./observations.ts";
import { assistant, TestSession, text, thinking, toolCall, user } from "./session.ts";

/** Text without any repetition. */
function unique(length: number): string {
  let made = "";
  for (let n = 0; made.length < length; n++) made += `${n * 7919} is number ${n}. `;
  return made.slice(0, length);
}

const loop = unique(130).repeat(6);

/** Runs `test` with one more detector in the classic profile. */
function withDetector(
  observe: (seen: Observation) => Detection | undefined,
  test: () => void,
): void {
  const classic = DETECTORS.classic as (() => Detector)[];
  classic.unshift(() => ({ observe, reset: () => undefined }));
  try {
    test();
  } finally {
    classic.shift();
  }
}

function notice(): Detection {
  return {
    event: "tool_loop",
    details: { toolName: "bash", windowSize: 1, banned: false },
    advice: { key: "MSG_NOTICE", values: { what: "maybe" } },
    response: { kind: "notice" },
  };
}

describe("A stream that loops", () => {
  it("is aborted once, stored up to the loop, and answered when the run has settled", () => {
    const session = new TestSession();
    const stored = session.answer(loop);
    assert.equal(session.aborts, 1);
    assert.deepEqual(
      stored.content,
      [text(`${unique(170)}\n\n${MARKERS.output_loop}`)].map((block) => ({
        ...block,
        text: `${loop.slice(0, 170).trimEnd()}\n\n${MARKERS.output_loop}`,
      })),
    );
    assert.equal(stored.stopReason, "stop", "so that the model sees how far it got");
    assert.deepEqual(session.sent, [["new_run", MESSAGE_DEFAULTS.MSG_OUTPUT_LOOP]]);
    const [[found, inRow]] = session.published as [[Detection, number]];
    assert.deepEqual(found.details, { stream: "output", kind: "character", escalated: false });
    assert.equal(inRow, 1);
    assert.deepEqual(session.notified, ["loop-police: the answer repeated itself and was stopped"]);
  });

  it("is left alone when it does not loop", () => {
    const session = new TestSession();
    const stored = session.answer(unique(5000));
    assert.deepEqual([session.aborts, session.sent, session.events], [0, [], []]);
    assert.deepEqual(stored.content, [text(unique(5000))]);
  });

  it("leaves neither reasoning nor signature nor redacted payload when it was thinking", () => {
    const session = new TestSession();
    session.police.messageStarted();
    session.police.streamed("thinking", 1, loop, session);
    const message = assistant(
      [
        thinking("sound", { thinkingSignature: "kept" }),
        thinking(loop, { thinkingSignature: "secret", redacted: true }),
        toolCall("bash", { thoughtSignature: "secret" }),
      ],
      { stopReason: "aborted" },
    );
    const stored = session.police.messageEnded(message, session);
    assert.deepEqual(stored?.content, [
      thinking("sound", { thinkingSignature: "kept" }),
      text(MARKERS.thinking_loop),
      toolCall("bash"),
    ]);
    assert.equal(stored?.stopReason, "aborted");
    assert.equal(message.content.length, 3);
    assert.equal(JSON.stringify(message).includes("secret"), true, "the original is not changed");
  });

  it("is stored as aborted when calls are in the message: Pi would go on to run them", () => {
    const session = new TestSession();
    session.police.messageStarted();
    session.police.streamed("output", 0, loop, session);
    const message = assistant([text(loop), toolCall("bash")], { stopReason: "aborted" });
    assert.equal(session.police.messageEnded(message, session)?.stopReason, "aborted");
  });

  it("is never cut in the middle of a character", () => {
    const session = new TestSession();
    const emoji = "😀".repeat(65);
    session.police.messageStarted();
    session.police.streamed("output", 0, `x${emoji.repeat(4)}`, session);
    const stored = session.police.messageEnded(assistant([text(`x${emoji.repeat(4)}`)]), session);
    assert.ok(JSON.stringify(stored?.content).includes("😀"));
    assert.equal(
      /[\ud800-\udbff](?![\udc00-\udfff])/.test(textOf(stored as AssistantMessage, "text")),
      false,
    );
  });

  it("escalates from run to run, and stops the run at the limit with a word to the user", () => {
    const session = new TestSession();
    for (let i = 0; i < 3; i++) session.answer(loop, "thinking");
    assert.deepEqual(session.sent, [
      ["new_run", MESSAGE_DEFAULTS.MSG_THINKING_LOOP],
      ["new_run", MESSAGE_DEFAULTS.MSG_CONSECUTIVE_LOOP.replaceAll("{count}", "2")],
      ["new_run", MESSAGE_DEFAULTS.MSG_CONSECUTIVE_LOOP.replaceAll("{count}", "3")],
    ]);
    const escalated = session.published.map(
      ([{ details }]) => "escalated" in details && details.escalated,
    );
    assert.deepEqual(escalated, [false, true, true]);
    const stored = session.answer(loop, "thinking");
    assert.equal(session.sent.length, 3);
    assert.match(stored.errorMessage as string, /stopped this run: .* after 3 recoveries/);
    assert.equal(stored.stopReason, "aborted");
    // Pi shows the error by itself; a second line on standard error would be one too many.
    assert.deepEqual(session.told, []);
    assert.match(session.notified.at(-1) as string, /after 3 recoveries/);
  });

  it("is escalated after a message that only ended in an abort or an error", () => {
    for (const stopReason of ["aborted", "error"] as const) {
      const session = new TestSession();
      session.answer(loop);
      session.police.messageStarted();
      session.police.messageEnded(assistant([], { stopReason }), session);
      session.answer(loop);
      assert.match(session.sent[1]?.[1] as string, /CONSECUTIVE LOOP \(2x\)/);
    }
  });

  it("is not escalated after a sound message, nor after the user spoke", () => {
    for (const between of [
      (session: TestSession) => void session.answer(unique(50)),
      (session: TestSession) => session.police.userSpoke(),
    ]) {
      const session = new TestSession();
      session.answer(loop);
      between(session);
      session.answer(loop);
      assert.deepEqual(session.sent[1], ["new_run", MESSAGE_DEFAULTS.MSG_OUTPUT_LOOP]);
    }
  });

  it("is recovered for ever, and never escalated, when the limits are off", () => {
    const session = new TestSession({ RECOVERY_LIMIT: 0, CONSECUTIVE_LOOP_LIMIT: 0 });
    for (let i = 0; i < 20; i++) session.answer(loop);
    assert.deepEqual(session.sent, Array(20).fill(["new_run", MESSAGE_DEFAULTS.MSG_OUTPUT_LOOP]));
    assert.ok(session.police.status().includes("recoveries: 20"));
  });

  it("may be recovered again after ten quiet turns, or once the user spoke", () => {
    for (const forgive of [
      (session: TestSession) => {
        for (let i = 0; i < 10; i++) session.turn("bash", { command: `${i}` });
      },
      (session: TestSession) => session.police.userSpoke(),
    ]) {
      const session = new TestSession();
      for (let i = 0; i < 3; i++) session.answer(loop);
      forgive(session);
      session.answer(loop);
      assert.equal(session.sent.length, 4);
    }
    const session = new TestSession();
    for (let i = 0; i < 3; i++) session.answer(loop);
    for (let i = 0; i < 9; i++) session.turn("bash", { command: `${i}` });
    session.answer(loop);
    assert.equal(session.sent.length, 3, "nine turns are not enough");
  });

  it("does not blind the police when the run never settles", () => {
    const session = new TestSession();
    session.police.messageStarted();
    session.police.streamed("output", 0, loop, session);
    session.police.messageStarted();
    session.police.streamed("output", 0, loop, session);
    assert.equal(session.aborts, 2);
  });

  it("takes the suffix along", () => {
    const session = new TestSession({ MSG_SUFFIX: "Ask the advisor." });
    session.answer(loop);
    assert.match(session.sent[0]?.[1] as string, /\n\nAsk the advisor\.$/);
  });
});

describe("A message", () => {
  it("that ended in an error or an abort of the user's is not looked at", () => {
    const session = new TestSession({ STAGNATION_WINDOW: 2 });
    for (const stopReason of ["error", "aborted", "error", "aborted"] as const) {
      session.police.messageStarted();
      const message = assistant([thinking("the same thought")], { stopReason });
      assert.equal(session.police.messageEnded(message, session), message);
    }
    assert.deepEqual(session.events, []);
    session.police.settled(session);
    assert.deepEqual([session.sent, session.told], [[], []]);
  });
});

describe("Stagnation", () => {
  const thought = "I should look at the parser once more to find out what it does with tokens";

  it("takes the reasoning out of the message, and that of the window out of requests", () => {
    const session = new TestSession();
    const earlier = [1, 2, 3].map(() => session.think(thought));
    const other = assistant([thinking("another thought")]);
    const stored = session.think(thought);
    assert.deepEqual(stored.content, [text(MARKERS.stagnation), toolCall("bash")]);
    assert.deepEqual(session.sent, [
      [
        "advice",
        MESSAGE_DEFAULTS.MSG_STAGNATION.replace("{window}", "4").replace("{threshold}", "85"),
      ],
    ]);
    assert.equal(session.aborts, 0);
    const messages = [user("go"), ...earlier, stored, other];
    const requested = session.police.requestMessages(messages) ?? [];
    assert.deepEqual((requested[1] as AssistantMessage).content, [toolCall("bash")]);
    assert.equal(JSON.stringify(requested).includes(thought), false);
    assert.equal(JSON.stringify(requested).includes("another thought"), true);
    assert.equal(JSON.stringify(messages).includes(thought), true, "the transcript keeps it");
    session.police.reset();
    assert.equal(session.police.requestMessages(messages), undefined);
  });

  it("leaves no message empty", () => {
    const session = new TestSession();
    const messages = [1, 2, 3, 4].map(() => session.think(thought, 0));
    const requested = session.police.requestMessages(messages) ?? [];
    for (const message of requested) {
      assert.deepEqual((message as AssistantMessage).content, [text(MARKERS.stagnation)]);
    }
  });

  it("leaves requests alone when there was none", () => {
    const session = new TestSession();
    session.think(thought);
    assert.equal(session.police.requestMessages([user("go")]), undefined);
  });
});

describe("Re-derived reasoning", () => {
  it("is taken out of the message only, every block of it, and stops the run at the limit", () => {
    const session = new TestSession({ RECOVERY_LIMIT: 1, STAGNATION_WINDOW: 0 });
    const plan = "I will run the build again since it may work this time around";
    session.think(plan);
    session.call("bash", { command: "make" });
    assert.notEqual(session.call("bash", { command: "make" }).refusal, undefined);
    session.police.messageStarted();
    const message = assistant([thinking(plan), thinking(plan), text("So:")]);
    const stored = session.police.messageEnded(message, session);
    assert.deepEqual(stored?.content, [text(MARKERS.rederived_reasoning), text("So:")]);
    assert.deepEqual(session.sent, [["advice", MESSAGE_DEFAULTS.MSG_REDERIVED]]);
    assert.equal(session.police.requestMessages([message]), undefined);
    session.think(plan);
    assert.equal(session.aborts, 1);
    assert.equal(session.sent.length, 1);
    const aborted = assistant([], { stopReason: "aborted" });
    assert.match(
      session.police.messageEnded(aborted, session)?.errorMessage as string,
      /1 recover/,
    );
  });
});

describe("A refused call", () => {
  const ask = { command: "make" };

  it("gets the message as its result", () => {
    const session = new TestSession();
    assert.equal(session.turn("bash", ask), undefined);
    assert.deepEqual(session.turn("bash", ask), {
      block: true,
      reason: MESSAGE_DEFAULTS.MSG_TOOL_LOOP.replaceAll("{windowSize}", "1"),
    });
    assert.deepEqual([session.sent, session.aborts], [[], 0]);
    assert.deepEqual(session.events, ["tool_loop"]);
  });

  it("asks Pi to end the run at the fifth time, and the user is told", () => {
    const session = new TestSession();
    session.turn("bash", ask);
    const refusals = Array.from({ length: 5 }, () => session.turn("bash", ask));
    assert.deepEqual(
      refusals.map((refusal) => refusal?.terminate),
      [undefined, undefined, undefined, undefined, true],
    );
    assert.match(
      refusals[4]?.reason as string,
      /^⚠️ REFUSAL IGNORED: this call to bash was refused 5 times/,
    );
    assert.deepEqual(session.events.slice(-2), ["tool_loop", "refusal_ignored"]);
    assert.equal(session.aborts, 0, "Pi ends a batch by itself if every call of it asks for it");
    session.police.settled(session);
    assert.match(session.told.join(), /kept trying the same refused bash call/);
    session.police.settled(session);
    assert.equal(session.told.length, 1);
  });

  it("aborts the run when its batch holds another call", () => {
    const session = new TestSession({ REFUSAL_LIMIT: 2 });
    session.turn("bash", ask);
    session.turn("bash", ask);
    session.police.messageEnded(assistant([]), session);
    const refused = session.call("bash", ask);
    const other = session.call("read", { path: "a" });
    assert.equal(refused.refusal?.terminate, true);
    session.police.turnEnded([refused.id, other.id], session);
    assert.equal(session.aborts, 1);
    const aborted = session.police.messageEnded(assistant([], { stopReason: "aborted" }), session);
    assert.match(aborted?.errorMessage as string, /kept trying the same refused bash call/);
    session.police.settled(session);
    assert.match(session.notified.at(-1) as string, /kept trying/);
    assert.deepEqual(session.told, []);
  });

  it("aborts the run when something else keeps it going, and tells the user", () => {
    const session = new TestSession({ REFUSAL_LIMIT: 2 });
    for (let i = 0; i < 3; i++) session.turn("bash", ask);
    assert.equal(session.aborts, 0);
    session.police.turnStarted(session);
    assert.equal(session.aborts, 1);
    session.police.settled(session);
    assert.match(session.told.join(), /kept trying/);
  });

  it("does not end the run once the user has spoken", () => {
    const session = new TestSession({ REFUSAL_LIMIT: 2 });
    for (let i = 0; i < 3; i++) session.turn("bash", ask);
    session.police.userSpoke();
    session.police.turnStarted(session);
    session.police.settled(session);
    assert.deepEqual([session.aborts, session.told], [0, []]);
  });

  it("of another extension counts, too: the run is aborted", () => {
    const session = new TestSession({ REFUSAL_LIMIT: 2 });
    for (let i = 0; i < 2; i++) {
      session.police.messageEnded(assistant([toolCall("bash")]), session);
      session.refusedElsewhere("bash", ask, "Another guard says no.");
      session.police.turnEnded(["x"], session);
    }
    assert.deepEqual(session.events, ["refusal_ignored"]);
    assert.equal(session.aborts, 1);
  });
});

describe("A call that Pi rejects", () => {
  const words = {
    schema: 'Validation failed for tool "edit":\n  - path: missing\n\nReceived arguments:\n{}',
    json: 'Invalid arguments for tool "edit": no JSON',
    unknown_tool: "Tool edit not found",
  };

  for (const [reason, said] of Object.entries(words)) {
    it(`for its ${reason} is answered at the fourth time, with the error and a valid shape`, () => {
      const session = new TestSession();
      for (let i = 0; i < 4; i++) session.refusedElsewhere("edit", {}, said);
      assert.deepEqual(
        session.published.map(([{ details }]) => details),
        [{ toolName: "edit", count: 4, reason }],
      );
      const [how, message] = session.sent[0] as [string, string];
      assert.equal(how, "advice");
      assert.ok(message.includes("edit(...)") && message.includes(said.slice(0, 20)));
      assert.equal(message.includes("Received"), false);
    });
  }

  it("is known by its text alone, also beside an image", () => {
    const session = new TestSession({ REJECTED_LOOP_LIMIT: 2 });
    for (let i = 0; i < 2; i++) {
      const id = `image${i}`;
      session.police.callStarted(id, "edit", {}, undefined);
      const content = [
        { type: "text", text: words.schema },
        { type: "image", data: "" },
      ];
      session.police.callEnded({ id, tool: "edit", result: { content }, isError: true }, session);
    }
    assert.deepEqual(session.events, ["rejected_call_loop"]);
  });

  it("stops the run when it goes on after three answers", () => {
    const session = new TestSession();
    for (let i = 0; i < 16; i++) session.refusedElsewhere("edit", {}, words.schema);
    assert.deepEqual([session.sent.length, session.aborts], [3, 1]);
    session.police.settled(session);
    assert.match(session.told.join(), /after 3 recoveries/);
  });

  it("ends the run at once in the evidence profile, and is answered in a new one", () => {
    const session = new TestSession({ PROFILE: "evidence" });
    for (let i = 0; i < 4; i++) session.refusedElsewhere("edit", {}, words.schema);
    assert.deepEqual([session.sent.length, session.aborts], [0, 1]);
    assert.deepEqual(session.events, ["rejected_call_loop"]);
    session.police.settled(session);
    const [how, message] = session.sent[0] as [string, string];
    assert.equal(how, "new_run");
    assert.ok(message.includes("edit(...)"));
  });

  it("is nobody's fault when the run was aborted or the output cut", () => {
    const session = new TestSession();
    const cut = 'Tool call "edit" was not executed: the response hit the output token limit, so';
    for (const said of ["Operation aborted", cut]) {
      for (let i = 0; i < 9; i++) session.refusedElsewhere("edit", {}, said);
    }
    session.police.callEnded({ id: "never", tool: "edit", result: null, isError: true }, session);
    session.police.callEnded({ id: "begun", tool: "edit", result: {}, isError: false }, session);
    assert.deepEqual(session.events, []);
  });
});

describe("Calls", () => {
  it("are the same file however its path is written", () => {
    const session = new TestSession({ FILE_SCAN_LIMIT: 3, REREAD_WINDOW: 0 });
    for (const path of ["a.py", "./a.py", "/project/a.py"]) {
      assert.equal(session.call("read", { path }).refusal, undefined);
    }
    assert.match(
      session.call("read", { path: "x/../a.py" }).refusal?.reason as string,
      /"\/project\/a\.py"/,
    );
  });

  it("that cannot be compared are never refused", () => {
    const session = new TestSession();
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (let i = 0; i < 9; i++) assert.equal(session.call("bash", cycle).refusal, undefined);
  });

  it("that did not run do not count as reads", () => {
    const session = new TestSession({ FILE_SCAN_LIMIT: 2, TOOL_LOOP_BAN: 0 });
    for (let i = 0; i < 9; i++) {
      assert.equal(
        session.call("read", { path: "a", offset: i }, { ran: false }).refusal,
        undefined,
      );
    }
  });

  it("of another tool are counted apart, and forgotten when it ends", () => {
    const session = new TestSession();
    assert.equal(session.call("bash", { command: "x" }).refusal, undefined);
    assert.equal(session.call("bash", { command: "x" }, { parent: "script" }).refusal, undefined);
    assert.notEqual(
      session.call("bash", { command: "x" }, { parent: "script" }).refusal,
      undefined,
    );
    assert.equal(session.call("bash", { command: "x" }, { parent: "other" }).refusal, undefined);
    session.police.callEnded({ id: "script", tool: "run", result: {}, isError: false }, session);
    assert.equal(session.call("bash", { command: "x" }, { parent: "script" }).refusal, undefined);
    assert.notEqual(session.call("bash", { command: "x" }).refusal, undefined);
  });

  it("are known without their start, too", () => {
    const session = new TestSession();
    const asked = { id: "a", tool: "bash", input: {}, parent: undefined };
    assert.equal(session.police.callAsked(asked, session), undefined);
    session.police.callRan("a");
    session.police.callRan("unheard of");
    assert.notEqual(session.police.callAsked({ ...asked, id: "b" }, session), undefined);
  });

  it("start anew when the model forgot: re-reads after compaction are none", () => {
    const session = new TestSession({ FILE_SCAN_LIMIT: 2, REREAD_WINDOW: 0 });
    const read = (offset: number) => session.call("read", { path: "a", offset }).refusal;
    assert.deepEqual([read(1), read(2), read(3)?.block], [undefined, undefined, true]);
    session.police.contextLost();
    assert.equal(read(4), undefined);
  });
});

describe("A notice", () => {
  it("at a call goes along with the next request, and the call runs", () => {
    withDetector(
      (seen) => (seen.kind === "call" ? notice() : undefined),
      () => {
        const session = new TestSession();
        assert.equal(session.call("bash", {}).refusal, undefined);
        assert.deepEqual(session.sent, [["notice", "⚠️ POSSIBLE LOOP: maybe"]]);
        assert.equal(session.aborts, 0);
      },
    );
  });

  it("in a stream waits for the message's calls, and only the user gets it if there are none", () => {
    withDetector(
      (seen) => (seen.kind === "text" ? notice() : undefined),
      () => {
        const session = new TestSession();
        session.police.messageStarted();
        session.police.streamed("output", 0, "some text", session);
        assert.deepEqual(session.sent, []);
        session.police.messageEnded(assistant([text("some text"), toolCall("bash")]), session);
        assert.equal(session.sent.length, 1);
        session.answer("the final answer");
        assert.equal(session.sent.length, 1);
        assert.ok(session.notified.length > 1);
      },
    );
  });

  it("of a message's end goes nowhere behind the final answer", () => {
    withDetector(
      (seen) => (seen.kind === "message_end" ? notice() : undefined),
      () => {
        const session = new TestSession();
        session.think("x", 0);
        session.think("y", 1);
        assert.equal(session.sent.length, 1);
      },
    );
  });
});

describe("A finding of a cut", () => {
  const cut: Detection = {
    event: "stagnation",
    details: { window: 4, threshold: 0.85 },
    advice: { key: "MSG_NO_PROGRESS", values: { what: "the same plan" } },
    response: { kind: "cut", block: 0, keep: 0 },
  };

  it("aborts the stream whatever its event", () => {
    withDetector(
      (seen) => (seen.kind === "text" ? cut : undefined),
      () => {
        const session = new TestSession();
        const stored = session.answer("the same plan again");
        assert.deepEqual(stored.content, [text(MARKERS.stagnation)]);
        assert.equal(stored.stopReason, "aborted");
        assert.deepEqual(session.sent, [["new_run", "⚠️ NO PROGRESS: the same plan"]]);
        assert.deepEqual(session.published[0]?.[0].details, cut.details);
      },
    );
  });

  it("is advice when there is no stream to cut", () => {
    withDetector(
      (seen) => (seen.kind === "message_end" ? cut : undefined),
      () => {
        const session = new TestSession();
        session.think("plan");
        assert.deepEqual(session.sent, [["advice", "⚠️ NO PROGRESS: the same plan"]]);
      },
    );
  });
});

describe("A refusal that names no tool", () => {
  it("still ends the run", () => {
    const ends: Detection = {
      event: "stagnation",
      details: { window: 4, threshold: 0.85 },
      advice: { key: "MSG_NO_PROGRESS", values: { what: "nothing new" } },
      response: { kind: "block", terminate: true },
    };
    withDetector(
      (seen) => (seen.kind === "call" ? ends : undefined),
      () => {
        const session = new TestSession();
        assert.equal(session.turn("bash", {})?.terminate, true);
        session.police.settled(session);
        assert.match(session.told.join(), /the same refused tool call/);
      },
    );
  });
});

describe("The watch", () => {
  it("shows detectors a call, what became of it, and a result only of calls that were admitted", () => {
    const kinds: string[] = [];
    withDetector(
      (seen) => {
        if ("call" in seen) kinds.push(seen.kind);
        return undefined;
      },
      () => {
        const session = new TestSession();
        session.call("bash", { a: 1 });
        session.call("bash", { a: 1 });
      },
    );
    assert.deepEqual(kinds, ["call", "admitted", "result", "call", "refused"]);
  });

  it("goes on when a detector fails, and counts it", () => {
    withDetector(
      () => {
        throw new Error("fault");
      },
      () => {
        const session = new TestSession();
        assert.equal(session.turn("bash", { a: 1 }), undefined);
        assert.notEqual(session.turn("bash", { a: 1 }), undefined);
        assert.match(session.police.status().join("\n"), /faults in detectors: \d+/);
      },
    );
  });

  it("follows the profile, with fresh detectors", () => {
    const session = new TestSession();
    session.turn("bash", { a: 1 });
    session.config.PROFILE = "evidence";
    session.turn("bash", { b: 1 });
    session.config.PROFILE = "classic";
    assert.equal(session.turn("bash", { a: 1 }), undefined);
    assert.notEqual(session.turn("bash", { a: 1 }), undefined);
  });

  it("tells every other lane of a file that was changed", () => {
    const watch = new Watch(config({ FILE_SCAN_LIMIT: 1, TOOL_LOOP_BAN: 0, REREAD_WINDOW: 0 }));
    const refused = (parent?: string) => {
      const call = { ...read("/f"), ...(parent === undefined ? {} : { parent }) };
      return watch.judge(call).refused;
    };
    const change = (parent?: string) => {
      const call = { ...write("/f"), ...(parent === undefined ? {} : { parent }) };
      watch.judge(call);
      watch.observe({ kind: "result", call, ran: true, isError: false, text: "", at: 0 });
    };
    assert.deepEqual(
      [refused(), refused(), refused("a"), refused("a")],
      [false, true, false, true],
    );
    change("a");
    assert.deepEqual([refused(), refused("a")], [false, false]);
    change();
    assert.deepEqual([refused(), refused("a")], [false, false]);
  });

  it("forgets everything on reset", () => {
    const session = new TestSession({ TOOL_LOOP_BAN: 2 });
    for (let i = 0; i < 3; i++) session.answer(loop);
    session.turn("bash", { a: 1 });
    session.turn("bash", { a: 1 });
    assert.equal(session.police.detections, 4);
    session.police.reset();
    assert.equal(session.police.detections, 0);
    assert.deepEqual(session.police.status().slice(0, 3), [
      "loops found: 0",
      "looped messages in a row: 0",
      "recoveries: 0 of 3",
    ]);
    assert.equal(session.turn("bash", { a: 1 }), undefined);
  });
});
