/** Which call is refused, and which is not: five identical calls among the last twenty admitted. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLoopBreaker } from "../engine.ts";
import { assertAdmitted, assertRefused, bash, call, others, times } from "./support.ts";

const ls = bash("ls -R");

describe("the threshold", () => {
  it("refuses the sixth identical call", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    assertRefused(inspect, ls);
  });

  it("admits the fifth", () => {
    assertAdmitted(createLoopBreaker(), ...times(5, ls));
  });

  it("admits a different call after five identical ones", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls), bash("ls"));
  });

  it("admits any number of different calls", () => {
    assertAdmitted(createLoopBreaker(), ...others(200));
  });

  it("counts identical calls that other calls stand between", () => {
    const inspect = createLoopBreaker();
    for (const other of others(5)) assertAdmitted(inspect, ls, other);
    assertRefused(inspect, ls);
  });

  it("admits the same input for another tool", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, call("read", { path: "a.py" })));
    assertAdmitted(inspect, call("write", { path: "a.py" }));
    assertRefused(inspect, call("read", { path: "a.py" }));
  });

  it("does not mix up where a tool's name ends and its input begins", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, call("a", "bc")), call("ab", "c"));
  });
});

describe("the window", () => {
  it("still holds five calls after fifteen others", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls), ...others(15));
    assertRefused(inspect, ls);
  });

  it("has lost one of them after sixteen others", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls), ...others(16), ls);
  });

  it("starts over after twenty others", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls), ...others(20), ...times(5, ls));
    assertRefused(inspect, ls);
  });

  it("does not change with refused calls, so that a retry never gets through", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    for (const retry of times(100, ls)) assertRefused(inspect, retry);
    assertAdmitted(inspect, ...others(15));
    assertRefused(inspect, ls);
    assertAdmitted(inspect, bash("pwd"), ls);
  });

  it("belongs to one breaker", () => {
    const first = createLoopBreaker();
    const second = createLoopBreaker();
    assertAdmitted(first, ...times(5, ls));
    assertAdmitted(second, ...times(5, ls));
    assertRefused(first, ls);
    assertRefused(second, ls);
    assertAdmitted(createLoopBreaker(), ls);
  });
});

describe("the refusal", () => {
  it("carries its telemetry", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    const { reason, ...rest } = inspect(ls) ?? { reason: "" };
    assert.deepEqual(rest, {
      block: true,
      telemetry: { tool: "bash", repeats: 5, blockedSoFar: 1 },
    });
    assert.equal(typeof reason, "string");
  });

  it("names the tool and the count, and asks for something else", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    const reason = inspect(ls)?.reason ?? "";
    assert.match(reason, /\bbash\b/);
    assert.match(reason, /\b5 times\b.*\blast 20 admitted calls\b/);
    assert.match(reason, /Another identical call will not change the result/);
    assert.match(reason, /different concrete action/);
  });

  it("does not claim that the calls came one after another", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    assert.doesNotMatch(inspect(ls)?.reason ?? "", /in a row|consecutive|one after|straight/i);
  });

  it("counts the refusals of each call by itself", () => {
    const inspect = createLoopBreaker();
    const read = call("read", { path: "a.py" });
    assertAdmitted(inspect, ...times(5, ls), ...times(5, read));
    const counts = [ls, ls, read, ls, read].map((each) => inspect(each)?.telemetry.blockedSoFar);
    assert.deepEqual(counts, [1, 2, 1, 3, 2]);
  });

  it("goes on counting while one of the calls is remembered", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    assert.equal(inspect(ls)?.telemetry.blockedSoFar, 1);
    // Nineteen others leave one of the five, and the next joins it before it goes.
    assertAdmitted(inspect, ...others(19), ...times(5, ls));
    assert.equal(inspect(ls)?.telemetry.blockedSoFar, 2);
  });

  it("counts from one again once the last of the calls is forgotten", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    assert.equal(inspect(ls)?.telemetry.blockedSoFar, 1);
    assertAdmitted(inspect, ...others(20), ...times(5, ls));
    assert.equal(inspect(ls)?.telemetry.blockedSoFar, 1);
  });

  it("does not suffer from a receiver that alters it", () => {
    const inspect = createLoopBreaker();
    assertAdmitted(inspect, ...times(5, ls));
    Object.assign(inspect(ls)?.telemetry ?? {}, { tool: "?", repeats: 0, blockedSoFar: 99 });
    const telemetry = inspect(ls)?.telemetry;
    assert.deepEqual(telemetry, { tool: "bash", repeats: 5, blockedSoFar: 2 });
  });
});

describe("an input that changes later", () => {
  it("is remembered as it was", () => {
    const inspect = createLoopBreaker();
    const input = { edits: [{ oldText: "a" }] };
    assertAdmitted(inspect, ...times(5, call("edit", input)));
    input.edits = [{ oldText: "b" }];
    assertAdmitted(inspect, call("edit", input));
    assertRefused(inspect, call("edit", { edits: [{ oldText: "a" }] }));
  });

  it("is compared as it is", () => {
    const inspect = createLoopBreaker();
    const input = { step: 0, deep: [{ step: 0 }] };
    for (let step = 0; step < 30; step += 1) {
      input.deep = [{ step }];
      assertAdmitted(inspect, call("tool", input));
    }
  });
});
