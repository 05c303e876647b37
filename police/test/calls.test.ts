import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createFileScan } from "../detectors/file_scan.ts";
import { createRefusals } from "../detectors/refusals.ts";
import { createRejectedCalls } from "../detectors/rejected_calls.ts";
import { createReread } from "../detectors/reread.ts";
import { createSearchSpiral } from "../detectors/search_spiral.ts";
import { createToolLoop } from "../detectors/tool_loop.ts";
import type { Detector, RejectionReason } from "../detectors/types.ts";
import { call, config, read, result, search, thought, tryCall, write } from "./observations.ts";

/** Tries the same call again and again; says how often it was admitted before it was refused. */
function admittedTimes(detector: Detector, next: (n: number) => ReturnType<typeof read>): number {
  for (let n = 0; n < 100; n++) if (tryCall(detector, next(n)) !== undefined) return n;
  return 100;
}

describe("Calls that repeat back to back", () => {
  const a = () => call("bash", "other", ["a"]);
  const b = () => call("bash", "other", ["b"]);
  const c = () => call("bash", "other", ["c"]);

  it("are refused at the second one, and at every further one", () => {
    const detector = createToolLoop(config());
    assert.equal(tryCall(detector, a()), undefined);
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(tryCall(detector, a()), {
        event: "tool_loop",
        details: { toolName: "bash", windowSize: 1, banned: false },
        advice: { key: "MSG_TOOL_LOOP", values: { windowSize: 1 } },
        response: { kind: "block", terminate: false },
      });
    }
  });

  it("are admitted with another call in between", () => {
    const detector = createToolLoop(config());
    for (const next of [a, b, a]) assert.equal(tryCall(detector, next()), undefined);
  });

  it("are found in cycles", () => {
    const detector = createToolLoop(config());
    for (const next of [a, b, c, a, b]) assert.equal(tryCall(detector, next()), undefined);
    assert.deepEqual(tryCall(detector, c())?.details, {
      toolName: "bash",
      windowSize: 3,
      banned: false,
    });
  });

  it("stay refused for the session with a ban, also when the user speaks", () => {
    const detector = createToolLoop(config({ TOOL_LOOP_BAN: 2 }));
    tryCall(detector, a());
    assert.equal(tryCall(detector, a())?.event, "tool_loop");
    assert.equal(tryCall(detector, b()), undefined);
    detector.observe({ kind: "prompt" });
    assert.deepEqual(tryCall(detector, a())?.details, {
      toolName: "bash",
      windowSize: 1,
      banned: true,
    });
    assert.equal(detector.status?.(), "calls remembered: 0, banned: 1");
    detector.reset();
    assert.equal(tryCall(detector, a()), undefined);
  });

  it("are admitted again when the user speaks", () => {
    const detector = createToolLoop(config());
    tryCall(detector, a());
    detector.observe({ kind: "prompt" });
    assert.equal(tryCall(detector, a()), undefined);
  });

  it("are admitted for exempt tools, and when the detector is off", () => {
    const exempt = createToolLoop(config({ TOOL_LOOP_EXEMPT: "poll, BASH" }));
    assert.equal(admittedTimes(exempt, a), 100);
    const off = createToolLoop(config({ TOOL_LOOP_BAN: 0 }));
    assert.equal(admittedTimes(off, a), 100);
  });
});

describe("Reads of one file", () => {
  const limited = () => createFileScan(config({ FILE_SCAN_LIMIT: 3 }));

  it("are refused once it was read as often as the limit says, and not before", () => {
    const detector = limited();
    for (let i = 0; i < 3; i++) assert.equal(tryCall(detector, read("/f")), undefined);
    assert.deepEqual(tryCall(detector, read("/f")), {
      event: "file_scan_loop",
      details: { toolName: "read", path: "/f", count: 3 },
      advice: { key: "MSG_FILE_SCAN_LOOP", values: { path: "/f", count: 3 } },
      response: { kind: "block", terminate: false },
    });
    assert.equal(tryCall(detector, read("/other")), undefined);
  });

  it("are counted by default up to 20", () => {
    assert.equal(
      admittedTimes(createFileScan(config()), () => read("/f")),
      20,
    );
  });

  it("do not count if someone else kept them from running", () => {
    const detector = limited();
    for (let i = 0; i < 5; i++) {
      const tried = read("/f");
      assert.equal(detector.observe({ kind: "call", call: tried }), undefined);
      detector.observe({ kind: "admitted", call: tried });
      detector.observe(result(tried, { ran: false, isError: true }));
    }
  });

  it("start anew when the file was changed, and go on counting if the change failed", () => {
    for (const [isError, admitted] of [
      [false, 3],
      [true, 1],
    ] as const) {
      const detector = limited();
      tryCall(detector, read("/f"));
      tryCall(detector, read("/f"));
      const change = write("/f");
      detector.observe({ kind: "admitted", call: change });
      detector.observe(result(change, { isError }));
      assert.equal(
        admittedTimes(detector, () => read("/f")),
        admitted,
      );
    }
  });

  it("start anew for a prompt, a lost context, a change from elsewhere, and a reset", () => {
    const detector = limited();
    const full = () => admittedTimes(detector, () => read("/f"));
    assert.equal(full(), 3);
    for (const kind of ["prompt", "context_lost"] as const) {
      detector.observe({ kind });
      assert.equal(full(), 3);
    }
    detector.observe({ kind: "changed", paths: ["/f"] });
    assert.equal(full(), 3);
    assert.equal(detector.status?.(), "files read: 1");
    detector.reset();
    assert.equal(full(), 3);
  });

  it("are not counted when the detector is off, nor are other tools", () => {
    const off = createFileScan(config({ FILE_SCAN_LIMIT: 0 }));
    assert.equal(
      admittedTimes(off, () => read("/f")),
      100,
    );
    const detector = limited();
    assert.equal(
      admittedTimes(detector, () => search("x", "/f")),
      100,
    );
  });
});

describe("Re-reads of unchanged files", () => {
  const small = () => createReread(config({ REREAD_WINDOW: 5, REREAD_RATIO: 0.4 }));
  const readAll = (detector: Detector, ...paths: string[]) =>
    paths.map((path) => tryCall(detector, read(path))?.event);

  it("are refused when they are 40% of a full window, and the window starts anew", () => {
    const detector = small();
    assert.deepEqual(readAll(detector, "/a", "/b", "/c", "/a"), Array(4).fill(undefined));
    assert.deepEqual(tryCall(detector, read("/b")), {
      event: "redundant_reread",
      details: { toolName: "read", path: "/b", count: 2, window: 5 },
      advice: { key: "MSG_REREAD", values: { path: "/b", count: 2, window: 5 } },
      response: { kind: "block", terminate: false },
    });
    assert.equal(detector.status?.(), "re-reads: 0 of the last 0 reads");
    assert.deepEqual(readAll(detector, "/a", "/b", "/c", "/a"), Array(4).fill(undefined));
    assert.deepEqual(readAll(detector, "/b"), ["redundant_reread"]);
  });

  it("are admitted while they are fewer", () => {
    const detector = small();
    const paths = ["/a", "/b", "/c", "/d", "/a", "/e", "/f", "/g", "/h", "/e"];
    assert.deepEqual(readAll(detector, ...paths), Array(10).fill(undefined));
    assert.equal(detector.status?.(), "re-reads: 1 of the last 5 reads");
  });

  it("never cost a file that is new", () => {
    const detector = small();
    readAll(detector, "/a", "/b", "/a", "/b");
    assert.deepEqual(readAll(detector, "/new"), [undefined]);
  });

  it("are none after the file was changed, and some if the change failed", () => {
    for (const [isError, found] of [
      [false, undefined],
      [true, "redundant_reread"],
    ] as const) {
      const detector = small();
      readAll(detector, "/a", "/b", "/c", "/a");
      const change = write("/b");
      detector.observe({ kind: "admitted", call: change });
      detector.observe(result(change, { isError }));
      assert.deepEqual(readAll(detector, "/b"), [found]);
    }
  });

  it("are none after a read that showed nothing", () => {
    const detector = small();
    readAll(detector, "/a", "/c", "/d", "/a");
    const failed = read("/b");
    detector.observe({ kind: "admitted", call: failed });
    detector.observe(result(failed, { isError: true }));
    assert.deepEqual(readAll(detector, "/b"), [undefined]);
  });

  it("are none after a change from elsewhere, a prompt, a lost context or a reset", () => {
    const forget = [
      (detector: Detector) => detector.observe({ kind: "changed", paths: ["/b"] }),
      (detector: Detector) => detector.observe({ kind: "prompt" }),
      (detector: Detector) => detector.observe({ kind: "context_lost" }),
      (detector: Detector) => detector.reset(),
    ];
    for (const forgetNow of forget) {
      const detector = small();
      readAll(detector, "/a", "/b", "/c", "/a");
      forgetNow(detector);
      assert.deepEqual(readAll(detector, "/b"), [undefined]);
    }
  });

  it("are refused one by one with a window of 1", () => {
    const detector = createReread(config({ REREAD_WINDOW: 1 }));
    assert.deepEqual(readAll(detector, "/a", "/a", "/b"), [
      undefined,
      "redundant_reread",
      undefined,
    ]);
  });

  it("are not looked for when the detector is off, nor in reads without a path", () => {
    const off = createReread(config({ REREAD_WINDOW: 0 }));
    assert.equal(
      admittedTimes(off, () => read("/a")),
      100,
    );
    const detector = createReread(config({ REREAD_WINDOW: 1 }));
    assert.equal(
      admittedTimes(detector, () => read()),
      100,
    );
  });
});

describe("A pattern searched in ever more places", () => {
  it("is refused at the third place, and the first two stay open", () => {
    const detector = createSearchSpiral(config());
    assert.equal(tryCall(detector, search("TODO", "/src")), undefined);
    assert.equal(tryCall(detector, search("TODO")), undefined);
    assert.deepEqual(tryCall(detector, search("TODO", "/docs")), {
      event: "search_spiral",
      details: { toolName: "grep", pattern: "TODO", paths: 3 },
      advice: { key: "MSG_SEARCH_SPIRAL", values: { pattern: "TODO", paths: 3 } },
      response: { kind: "block", terminate: false },
    });
    assert.equal(tryCall(detector, search("TODO", "/src")), undefined);
    assert.equal(tryCall(detector, search("FIXME", "/docs")), undefined);
    assert.equal(detector.status?.(), "patterns searched: 2");
  });

  it("leaves the places already searched open when the limit is lowered", () => {
    const settings = config({ SEARCH_EXPAND_LIMIT: 4 });
    const detector = createSearchSpiral(settings);
    for (const path of ["/a", "/b", "/c"]) tryCall(detector, search("x", path));
    settings.SEARCH_EXPAND_LIMIT = 2;
    assert.equal(tryCall(detector, search("x", "/a")), undefined);
    assert.equal(tryCall(detector, search("x", "/d"))?.event, "search_spiral");
  });

  it("does not count searches that did not run, and none before the user spoke", () => {
    const detector = createSearchSpiral(config());
    for (const path of ["/a", "/b", "/c", "/d"]) {
      const tried = search("x", path);
      assert.equal(detector.observe({ kind: "call", call: tried }), undefined);
      detector.observe({ kind: "admitted", call: tried });
      detector.observe(result(tried, { ran: false }));
    }
    for (const path of ["/a", "/b"]) assert.equal(tryCall(detector, search("x", path)), undefined);
    detector.observe({ kind: "prompt" });
    for (const path of ["/c", "/d"]) assert.equal(tryCall(detector, search("x", path)), undefined);
    detector.reset();
    assert.equal(tryCall(detector, search("x", "/e")), undefined);
  });

  it("is not looked for when the detector is off, or without a pattern", () => {
    const off = createSearchSpiral(config({ SEARCH_EXPAND_LIMIT: 0 }));
    assert.equal(
      admittedTimes(off, (n) => search("x", `/${n}`)),
      100,
    );
    const detector = createSearchSpiral(config());
    assert.equal(
      admittedTimes(detector, (n) => call("find", "search", [`/${n}`])),
      100,
    );
  });
});

describe("Calls that Pi rejects", () => {
  const reject = (detector: Detector, tool: string, reason: RejectionReason = "schema") =>
    detector.observe({ kind: "rejected", tool, reason, error: "wrong", shape: `${tool}()` });

  it("are answered at the fourth, the eighth and so on", () => {
    const detector = createRejectedCalls(config());
    const answers = Array.from({ length: 8 }, () => reject(detector, "edit"));
    assert.deepEqual(
      answers.map((answer) => answer !== undefined),
      [false, false, false, true, false, false, false, true],
    );
    assert.deepEqual(answers[3], {
      event: "rejected_call_loop",
      details: { toolName: "edit", count: 4, reason: "schema" },
      advice: {
        key: "MSG_REJECTED_LOOP",
        values: { tool: "edit", count: 4, error: "wrong", shape: "edit()" },
      },
      response: { kind: "advise" },
    });
  });

  it("count anew after a valid call of the tool, and not after one of another", () => {
    const detector = createRejectedCalls(config());
    for (let i = 0; i < 3; i++) reject(detector, "edit");
    tryCall(detector, read("/a"));
    assert.notEqual(reject(detector, "edit"), undefined);
    for (let i = 0; i < 3; i++) reject(detector, "edit");
    tryCall(detector, write("/a"));
    assert.equal(reject(detector, "edit"), undefined);
    assert.equal(detector.status?.(), "tools with rejected calls: 1");
  });

  it("count together if there is no such tool, and apart for each tool there is", () => {
    const detector = createRejectedCalls(config());
    const names = ["a", "b", "c", "d"];
    assert.deepEqual(
      names.map((name) => reject(detector, name)?.event),
      Array(4).fill(undefined),
    );
    assert.deepEqual(
      names.map((name) => reject(detector, name, "unknown_tool")?.event),
      [undefined, undefined, undefined, "rejected_call_loop"],
    );
  });

  it("are not counted when the detector is off, and count anew when the user speaks", () => {
    const off = createRejectedCalls(config({ REJECTED_LOOP_LIMIT: 0 }));
    for (let i = 0; i < 9; i++) assert.equal(reject(off, "edit"), undefined);
    const detector = createRejectedCalls(config());
    for (const forget of [() => detector.observe({ kind: "prompt" }), () => detector.reset()]) {
      for (let i = 0; i < 3; i++) assert.equal(reject(detector, "edit"), undefined);
      forget();
    }
  });
});

describe("A refused call that is tried again", () => {
  const message = thought("");
  const refuse = (detector: Detector, path = "/a") =>
    detector.observe({ kind: "refused", call: read(path) });

  it("is to end the run in the fifth message in a row", () => {
    const detector = createRefusals(config());
    for (let i = 0; i < 4; i++) {
      assert.equal(refuse(detector), undefined);
      detector.observe(message);
    }
    assert.deepEqual(refuse(detector), {
      event: "refusal_ignored",
      details: { toolName: "read", count: 5 },
      advice: { key: "MSG_REFUSAL_IGNORED", values: { tool: "read", count: 5 } },
      response: { kind: "block", terminate: true },
    });
    assert.equal(refuse(detector)?.response.kind, "block");
    assert.equal(detector.status?.(), "refused calls: 1");
  });

  it("counts once in a message: the model had not read the refusal yet", () => {
    const detector = createRefusals(config());
    for (let i = 0; i < 9; i++) assert.equal(refuse(detector), undefined);
  });

  it("counts anew after a message without it, after a prompt, and after a reset", () => {
    const detector = createRefusals(config({ REFUSAL_LIMIT: 2 }));
    const forget = [
      () => detector.observe(message),
      () => detector.observe({ kind: "prompt" }),
      () => detector.reset(),
    ];
    for (const forgetNow of forget) {
      assert.equal(refuse(detector), undefined);
      detector.observe(message);
      forgetNow();
    }
  });

  it("counts apart for each call, and not at all when the detector is off", () => {
    const detector = createRefusals(config({ REFUSAL_LIMIT: 2 }));
    assert.equal(refuse(detector, "/a"), undefined);
    detector.observe(message);
    assert.equal(refuse(detector, "/b"), undefined);
    const off = createRefusals(config({ REFUSAL_LIMIT: 0 }));
    for (let i = 0; i < 9; i++) {
      assert.equal(refuse(off), undefined);
      off.observe(message);
    }
  });
});
