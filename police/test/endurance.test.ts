import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { TestSession } from "./session.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Megabytes that are really in use. */
function usedMegabytes(): number {
  collect();
  return process.memoryUsage().heapUsed / 1e6;
}

/** A call that gets on: other arguments each time, failed ones and refused ones among them. */
function step(session: TestSession, n: number): void {
  session.turn("bash", { command: `make ${n}` }, { isError: n % 7 === 0 });
  session.turn("read", { path: `src/${n}.ts` });
  session.turn("edit", { path: `src/${n}.ts` }, { ran: n % 5 !== 0 });
  session.turn("grep", { pattern: `word ${n}`, path: `src/${n}` });
  session.refusedElsewhere(`tool${n}`, { n }, 'Validation failed for tool "x": no');
  session.call("bash", { command: "make" }, { parent: `script${n}` });
}

describe("A session that goes on for days", () => {
  it("does not grow, whatever its calls are", () => {
    const session = new TestSession({ RECOVERY_LIMIT: 0 });
    const steps = (from: number, to: number) => {
      for (let n = from; n < to; n++) step(session, n);
      session.published.length = 0;
      session.sent.length = 0;
      session.notified.length = 0;
    };
    // Enough for every bounded table to be full.
    steps(0, 25_000);
    const before = usedMegabytes();
    steps(25_000, 40_000);
    const grown = usedMegabytes() - before;
    assert.ok(grown < 2, `90,000 more calls and results left ${grown.toFixed(1)} MB behind`);
  });

  it("takes 100 MB of a stream in constant memory, and still finds the loop at its end", () => {
    const session = new TestSession();
    session.police.messageStarted();
    const before = usedMegabytes();
    const delta = (n: number) =>
      Array.from({ length: 2000 }, (_, i) => `${(n * 2000 + i) * 7919} is what ${i} comes to. `);
    let sent = 0;
    for (let n = 0; sent < 100_000_000; n++) {
      const text = delta(n).join("");
      sent += text.length;
      session.police.streamed("output", 0, text, session);
    }
    assert.deepEqual(session.events, []);
    const grown = usedMegabytes() - before;
    assert.ok(grown < 10, `it took ${grown.toFixed(1)} MB`);
    session.police.streamed("output", 0, "once more and once more, forever ".repeat(20), session);
    assert.deepEqual(session.events, ["output_loop"]);
  });
});
