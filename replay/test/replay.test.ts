/** An extension that misbehaves is a mismatch that the replay names, and never one that it dies of. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExtensionAPI, ExtensionFactory } from "@earendil-works/pi-coding-agent";

import type { Fixture } from "../fixture.ts";
import { replayFixture } from "../replay.ts";
import { guard } from "./guard_variants.ts";
import { madeUp } from "./notation.ts";

const CALM = madeUp("calm", "bash A B", { blocked: 0, entries: 0, firstBlock: null });
const SECOND = madeUp("second", "bash A B", { blocked: 1, entries: 1, firstBlock: 2 });

const TELEMETRY = { tool: "bash", repeats: 5, blockedSoFar: 1 };

async function problems(fixture: Fixture, extension: ExtensionFactory) {
  return (await replayFixture(fixture, extension)).problems;
}

/** An extension that refuses the call `echo B`, with what `refuse` does and returns. */
function refusesB(refuse: (pi: ExtensionAPI) => { reason?: string } | undefined): ExtensionFactory {
  return (pi) => {
    pi.on("tool_call", ({ input }) =>
      "command" in input && input.command === "echo B" ? { block: true, ...refuse(pi) } : undefined,
    );
  };
}

/** One that refuses it as it should be, but for the telemetry's data. */
function recordsForB(...entries: unknown[]): ExtensionFactory {
  return refusesB((pi) => {
    for (const data of entries) pi.appendEntry("loop_broken", data);
    return { reason: "B was made before." };
  });
}

test("an observation counts calls, refusals and entries, and places the first refusal", async () => {
  assert.deepEqual(await replayFixture(SECOND, recordsForB(TELEMETRY)), {
    observation: { name: "second", calls: 2, blocked: 1, firstBlock: 2, entries: 1 },
    problems: [],
  });
  assert.deepEqual(await replayFixture(CALM, guard()), {
    observation: { name: "calm", calls: 2, blocked: 0, firstBlock: null, entries: 0 },
    problems: [],
  });
});

test("each expectation that does not hold is named with both values", async () => {
  assert.deepEqual(await problems(SECOND, guard()), [
    "expected blocked 1, observed 0",
    "expected firstBlock 2, observed null",
    "expected entries 1, observed 0",
  ]);
});

test("entries of other types are not telemetry of the guard", async () => {
  const chatty: ExtensionFactory = (pi) => {
    pi.on("tool_call", () => pi.appendEntry("note", { n: 1 }));
  };
  assert.deepEqual(await problems(CALM, chatty), []);
});

test("an extension that throws when it is registered is named, and nothing is observed", async () => {
  const broken: ExtensionFactory = () => {
    throw new Error("no disk");
  };
  assert.deepEqual(await replayFixture(CALM, broken), {
    observation: undefined,
    problems: ["the extension threw when it was registered: Error: no disk"],
  });
});

test("an extension that rejects when it is registered is named too", async () => {
  const broken: ExtensionFactory = () => Promise.reject(new Error("no disk"));
  assert.deepEqual(await problems(CALM, broken), [
    "the extension threw when it was registered: Error: no disk",
  ]);
});

test("exactly one tool_call handler is admitted: none and two are mismatches", async () => {
  const twice: ExtensionFactory = async (pi) => {
    await guard()(pi);
    await guard()(pi);
  };
  assert.deepEqual(await problems(CALM, guard()), []);
  assert.deepEqual(await problems(CALM, () => {}), ["expected one tool_call handler, observed 0"]);
  assert.deepEqual(await problems(CALM, twice), ["expected one tool_call handler, observed 2"]);
});

test("a handler that throws is named with the call, and the rest is replayed", async () => {
  const breaksOnA: ExtensionFactory = (pi) => {
    pi.on("tool_call", ({ input }) => {
      if ("command" in input && input.command === "echo A") throw new TypeError("bad input");
    });
  };
  assert.deepEqual(await replayFixture(CALM, breaksOnA), {
    observation: { name: "calm", calls: 2, blocked: 0, firstBlock: null, entries: 0 },
    problems: ["call 1 (bash): the handler threw: TypeError: bad input"],
  });
});

test("even a thrown value that cannot become text is survived", async () => {
  const hostile: ExtensionFactory = (pi) => {
    pi.on("tool_call", () => {
      throw Object.create(null);
    });
  };
  assert.deepEqual(await problems(CALM, hostile), [
    "call 1 (bash): the handler threw: a value of type object",
    "call 2 (bash): the handler threw: a value of type object",
  ]);
});

test("a refusal needs a reason", async () => {
  const silent = refusesB((pi) => {
    pi.appendEntry("loop_broken", TELEMETRY);
    return undefined;
  });
  assert.deepEqual(await problems(SECOND, silent), ["call 2 (bash): refused without a reason"]);
});

test("a refusal needs one entry: none and two are mismatches", async () => {
  assert.deepEqual(await problems(SECOND, recordsForB()), [
    "call 2 (bash): refused with 0 loop_broken entries instead of one",
    "expected entries 1, observed 0",
  ]);
  assert.deepEqual(await problems(SECOND, recordsForB(TELEMETRY, TELEMETRY)), [
    "call 2 (bash): refused with 2 loop_broken entries instead of one",
    "expected entries 1, observed 2",
  ]);
});

test("an entry without a refusal is a mismatch", async () => {
  const eager: ExtensionFactory = (pi) => {
    pi.on("tool_call", () => pi.appendEntry("loop_broken", TELEMETRY));
  };
  const expected = { blocked: 0, entries: 2, firstBlock: null };
  assert.deepEqual(await problems(madeUp("eager", "bash A B", expected), eager), [
    "call 1 (bash): not refused, but a loop_broken entry was recorded",
    "call 2 (bash): not refused, but a loop_broken entry was recorded",
  ]);
});

const BAD_TELEMETRY: readonly [string, unknown, string][] = [
  ["of another tool", { ...TELEMETRY, tool: "read" }, 'names the tool "read"'],
  ["with no repeats", { ...TELEMETRY, repeats: 0 }, "has repeats 0"],
  ["with repeats as text", { ...TELEMETRY, repeats: "5" }, 'has repeats "5"'],
  [
    "that counts no refusal",
    { ...TELEMETRY, blockedSoFar: 0 },
    "has blockedSoFar 0 after a total of 1 refused",
  ],
  [
    "that counts more refusals than there were",
    { ...TELEMETRY, blockedSoFar: 2 },
    "has blockedSoFar 2 after a total of 1 refused",
  ],
  [
    "that lacks a field",
    { tool: "bash", repeats: 5 },
    'must hold tool, repeats and blockedSoFar, observed {"tool":"bash","repeats":5}',
  ],
  [
    "with a field too many",
    { ...TELEMETRY, input: 1 },
    "must hold tool, repeats and blockedSoFar, observed " +
      '{"tool":"bash","repeats":5,"blockedSoFar":1,"input":1}',
  ],
  ["without data", undefined, "must hold tool, repeats and blockedSoFar, observed undefined"],
  ["that is null", null, "must hold tool, repeats and blockedSoFar, observed null"],
];

for (const [what, data, problem] of BAD_TELEMETRY) {
  test(`an entry ${what} is a mismatch`, async () => {
    assert.deepEqual(await problems(SECOND, recordsForB(data)), [
      `call 2 (bash): loop_broken ${problem}`,
    ]);
  });
}

test("what the Pi double lacks is named, even when the extension swallows its exception", async () => {
  const curious: ExtensionFactory = (pi) => {
    pi.on("tool_call", (_event, ctx) => {
      try {
        pi.getSettings();
      } catch {}
      try {
        ctx.abort();
      } catch {}
    });
  };
  assert.deepEqual(await problems(CALM, curious), [
    "the extension touched pi.getSettings, which the Pi double lacks",
    "the extension touched ctx.abort, which the Pi double lacks",
  ]);
});

test("each replay is a fresh registration", async () => {
  let registrations = 0;
  const counting: ExtensionFactory = (pi) => {
    registrations += 1;
    return guard()(pi);
  };
  await replayFixture(CALM, counting);
  await replayFixture(CALM, counting);
  assert.equal(registrations, 2);
});
