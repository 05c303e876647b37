/** A replay notes what a guard told of and did, and never throws. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";

import { POLICE_CHANNEL, runScenario } from "../run_scenario.ts";
import { call, calls, scenario, user } from "./made_up.ts";

/** Refuses every call but the first few, and records it as the engine does. */
const strict =
  (admitted: number): ExtensionFactory =>
  (pi) => {
    let seen = 0;
    pi.on("tool_call", () => {
      seen += 1;
      if (seen <= admitted) return undefined;
      pi.appendEntry("loop_broken", {});
      return { block: true, reason: "no" };
    });
  };

test("refusals are counted among the calls that reach the hook, and known by their entry", async () => {
  const rejected = { invalid: { toolName: "edit", input: {} }, error: "no" };
  const events = [user, rejected, { batch: calls(2) }, call("pwd")];
  const run = await runScenario(scenario({ events }), strict(1));
  assert.deepEqual(run, {
    signs: [
      { event: 3, kind: "loop_broken", enforced: "block" },
      { event: 4, kind: "loop_broken", enforced: "block" },
    ],
    blocked: 2,
    firstBlock: 2,
    notices: [],
    problems: [],
  });
});

test("with a guard that does nothing there is no sign", async () => {
  const run = await runScenario(scenario(), () => {});
  assert.deepEqual(run, { signs: [], blocked: 0, firstBlock: null, notices: [], problems: [] });
});

test("what is told on the bus is a sign, and so is an abort, each at its event", async () => {
  const run = await runScenario(scenario({ events: [user, { text: "a" }, call("ls")] }), (pi) => {
    pi.on("message_update", (_event, ctx) => ctx.abort());
    pi.on("agent_settled", () => pi.events.emit(POLICE_CHANNEL, { event: "told" }));
  });
  assert.deepEqual(run.signs, [
    { event: 2, kind: undefined, enforced: "abort" },
    { event: 2, kind: "told", enforced: undefined },
  ]);
});

test("a payload of any shape is a sign", async () => {
  const run = await runScenario(scenario(), (pi) => {
    pi.on("input", () => pi.events.emit(POLICE_CHANNEL, null) as undefined);
  });
  assert.deepEqual(run.signs, [{ event: 1, kind: "undefined", enforced: undefined }]);
});

test("what the guard tells the user is kept", async () => {
  const run = await runScenario(scenario(), (pi) => {
    pi.on("session_start", (_event, ctx) => ctx.ui.notify("Hello."));
  });
  assert.deepEqual(run.notices, ["Hello."]);
});

const FAULTS: readonly [title: string, guard: ExtensionFactory, problem: RegExp][] = [
  [
    "that cannot be loaded",
    () => {
      throw new Error("fault");
    },
    /^the replay broke off: Error: fault$/,
  ],
  [
    "whose handler throws",
    (pi) => {
      pi.on("turn_end", () => {
        throw new Error("fault");
      });
    },
    /^the handler of turn_end threw: Error: fault$/,
  ],
  [
    "whose tool_call handler throws what cannot become a text",
    (pi) => {
      pi.on("tool_call", () => {
        throw Object.create(null);
      });
    },
    /^event 2: the handler threw: a value of type object$/,
  ],
  [
    "that touches what the double lacks",
    (pi) => {
      pi.on("input", (_event, ctx) => void ctx.ui.select);
    },
    /^the guard touched ctx\.ui\.select, which the Pi double lacks$/,
  ],
];

for (const [title, guard, problem] of FAULTS) {
  test(`a guard ${title} is a problem and no exception`, async () => {
    const { problems } = await runScenario(scenario({ events: [user, call("ls")] }), guard);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? "", problem);
  });
}
