import assert from "node:assert/strict";
import { open, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

import type { BranchVerdict, Guard } from "../guarded_branch.ts";
import { loadGuards, readPieces, serve, type WorkerMessage } from "../session_worker.ts";
import { ROOT, scratchFolder } from "./project.ts";

const ENGINE = path.join(ROOT, "engine", "engine.ts");
const ls = ["", "bash", { command: "ls" }, true] as const;
const here = { id: "s1", cwd: "/project" };
const turnOf = (...calls: (readonly [string, string, unknown, boolean])[]) =>
  ["turn", calls] as const;

/** Gives the worker the messages in pieces of that many bytes, and returns its answers. */
async function ask(
  guards: readonly Guard[],
  messages: readonly WorkerMessage[],
  piece = 7,
): Promise<(BranchVerdict & { error?: string })[]> {
  const bytes = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  async function* input() {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  }
  const answers: string[] = [];
  await serve(guards, input(), (line) => answers.push(line));
  return answers.map((line) => JSON.parse(line));
}

function guard(name: string, register: (pi: ExtensionAPI) => void): Guard {
  return { name, factory: register };
}

test("the sixth identical call is refused, and a different one is not", async () => {
  const guards = await loadGuards([`engine=${ENGINE}`]);
  const [verdict] = await ask(guards, [
    ["branch", here],
    turnOf(ls, ls, ls),
    turnOf(ls, ls),
    turnOf(["", "bash", { command: "ls -a" }, true], ls),
    ["end"],
  ]);
  assert.deepEqual(verdict, {
    refusals: [[6, "engine"]],
    detections: [[2, "loop_broken"]],
    firstDetection: 7,
    firstEnforcement: 7,
    longestRun: 5,
    strongestRepeat: 6,
    faults: [],
  });
});

test("what is first found and first enforced is told by the calls that were made", async () => {
  const telling = guard("telling", (pi) => {
    pi.on("tool_call", ({ toolName }) => {
      if (toolName === "read") pi.events.emit("loop-police:detection", { event: "told" });
      return undefined;
    });
    pi.on("turn_start", ({ turnIndex }, ctx) => {
      if (turnIndex === 2) ctx.abort();
    });
  });
  const read = ["r", "read", {}, true] as const;
  const line = { message: { role: "assistant", content: [] } };
  const turns = [[ls, read], [ls], [ls]].map((calls) => ["turn", calls, line, []] as const);
  const [told] = await ask([telling], [["branch", here], ...turns, ["end"]]);
  assert.deepEqual([told?.firstDetection, told?.firstEnforcement], [2, 3]);
  const [quiet] = await ask([telling], [["branch", here], ["turn", [ls], line, []], ["end"]]);
  assert.deepEqual([quiet?.firstDetection, quiet?.firstEnforcement], [null, null]);
});

test("a call that Pi rejected is counted and not shown to the guards", async () => {
  const guards = await loadGuards([`engine=${ENGINE}`]);
  const rejected = ["", "bash", { command: "ls" }, false] as const;
  const calls = [ls, ls, ls, ls, ls];
  const [verdict] = await ask(guards, [["branch", here], turnOf(...calls, rejected, ls), ["end"]]);
  assert.deepEqual(verdict?.refusals, [[6, "engine"]]);
  const [rest] = await ask(guards, [["branch", here], turnOf(...calls, rejected), ["end"]]);
  assert.deepEqual(rest?.refusals, []);
});

test("a call is compared as the hook is given it", async () => {
  const guards = await loadGuards([`engine=${ENGINE}`]);
  const timeout = (given: unknown) =>
    ["", "bash", { command: "ls", timeout: given }, true] as const;
  const mixed = [3, "3", 3, "3", 3, "3"].map(timeout);
  const [verdict] = await ask(guards, [["branch", here], turnOf(...mixed), ["end"]]);
  assert.deepEqual(verdict?.refusals, [[5, "engine"]]);
  const other = ["tools", [{ name: "bash", parameters: { properties: {} } }]] as const;
  const [apart] = await ask(guards, [["branch", here], other, turnOf(...mixed), ["end"]]);
  assert.deepEqual(apart?.refusals, []);
});

test("each branch, and a fork's own part, begins with guards that have seen nothing", async () => {
  const guards = await loadGuards([`engine=${ENGINE}`]);
  const four = turnOf(ls, ls, ls, ls);
  const verdicts = await ask(guards, [
    ["branch", here],
    four,
    ["end"],
    ["branch", here],
    four,
    ["restart"],
    four,
    ["end"],
    ["branch", here],
    four,
    four,
    ["drop"],
    ["branch", here],
    four,
    ["end"],
  ]);
  assert.deepEqual(
    verdicts.map(({ refusals }) => refusals.length),
    [0, 0, 0],
  );
});

test("of two guards the one that refused is named", async () => {
  const strict = (name: string, tool: string) =>
    guard(name, (pi) => {
      pi.on("session_start", () => {});
      pi.on("tool_call", ({ toolName }) =>
        toolName === tool ? { block: true, reason: "no" } : undefined,
      );
    });
  const guards = [strict("first", "bash"), strict("second", "read")];
  const [verdict] = await ask(guards, [
    ["branch", here],
    turnOf(["", "read", {}, true], ["", "bash", {}, true], ["", "ls", {}, true]),
    ["end"],
  ]);
  assert.deepEqual(verdict?.refusals, [
    [0, "second"],
    [1, "first"],
  ]);
});

test("a guard that takes its time is waited for, and named", async () => {
  const order: string[] = [];
  const slow = guard("slow", (pi) => {
    pi.on("tool_call", async ({ toolName }) => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(toolName);
      return toolName === "bash" ? { block: true, reason: "no" } : undefined;
    });
  });
  const after = guard("after", (pi) => {
    pi.on("tool_call", ({ toolName }) => {
      order.push(`after ${toolName}`);
      return { block: true, reason: "no" };
    });
  });
  const calls = turnOf(["", "bash", {}, true], ["", "read", {}, true]);
  const [verdict] = await ask([slow, after], [["branch", here], calls, ["end"]]);
  assert.deepEqual(verdict?.refusals, [
    [0, "slow"],
    [1, "after"],
  ]);
  assert.deepEqual(order, ["bash", "read", "after read"]);
});

test("a handler that is registered or removed during a round counts from the next one on", async () => {
  const changing = guard("changing", (pi) => {
    let remove = () => {};
    let rounds = 0;
    pi.on("tool_call", () => {
      rounds += 1;
      if (rounds === 1) {
        remove = pi.on("tool_call", () => ({ block: true, reason: "no" })) as unknown as () => void;
      } else if (rounds === 2) remove();
      return undefined;
    });
  });
  const [verdict] = await ask([changing], [["branch", here], turnOf(ls, ls, ls), ["end"]]);
  assert.deepEqual(verdict?.refusals, [[1, "changing"]]);
});

test("what a guard does wrong is told", async () => {
  const faulty = guard("faulty", (pi) => {
    pi.on("tool_call", ({ toolName }) => {
      if (toolName === "bash") throw new Error("oops");
      pi.exec("ls", []);
      return undefined;
    });
    pi.events.on("x", () => {
      throw new Error("bus");
    });
    pi.on("tool_call", () => pi.events.emit("x", 0));
  });
  const [verdict] = await ask(
    [faulty],
    [["branch", here], turnOf(ls, ["", "read", {}, true]), ["end"]],
  );
  assert.deepEqual(verdict?.refusals, []);
  assert.match(verdict?.faults.join("\n") ?? "", /threw Error: oops/);
  assert.match(verdict?.faults.join("\n") ?? "", /touched pi\.exec/);
});

test("a guard that cannot be registered fails the branch and no other", async () => {
  let times = 0;
  const faulty = guard("faulty", () => {
    times += 1;
    if (times === 1) throw new Error("not now");
  });
  const verdicts = await ask(
    [faulty],
    [["branch", here], turnOf(ls), ["end"], ["branch", here], turnOf(ls), ["end"]],
  );
  assert.deepEqual(verdicts[0], { error: "Error: not now" });
  assert.deepEqual(verdicts[1]?.refusals, []);
});

test("a handler of a plain event that throws is a fault", async () => {
  const emitter = guard("emitter", (pi) => {
    pi.events.on("x", () => {
      throw new Error("bus");
    });
    pi.on("tool_call", () => {
      pi.events.emit("x", 0);
      return undefined;
    });
  });
  const [verdict] = await ask([emitter], [["branch", here], turnOf(ls), turnOf(ls), ["end"]]);
  assert.deepEqual(verdict?.faults, ["x handler: Error: bus"]);
});

test("a file that is no extension is refused", async (t) => {
  const file = path.join(await scratchFolder(t), "none.mjs");
  await writeFile(file, "export default 3;\n");
  await assert.rejects(loadGuards([`engine=${file}`]), /none\.mjs is no Pi extension/);
  await assert.rejects(import(pathToFileURL(`${file}.missing`).href));
});

test("messages are read from an open file to its end, and timers run between the pieces", async (t) => {
  const file = path.join(await scratchFolder(t), "messages");
  // Longer than what is read at a time, and of characters that take several bytes.
  const long = turnOf(["", "write", { content: "\u{1f600}".repeat(40_000) }, true]);
  const messages: WorkerMessage[] = [["branch", here], long, long, turnOf(ls), ["end"]];
  await writeFile(file, messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  const handle = await open(file);
  t.after(() => handle.close());
  let pieces = 0;
  let turns = 0;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  async function* counted() {
    for await (const piece of readPieces(handle.fd)) {
      pieces += 1;
      yield piece;
    }
  }
  const answers: string[] = [];
  await serve(await loadGuards([`engine=${ENGINE}`]), counted(), (line) => answers.push(line));
  clearImmediate(next);
  assert.equal(answers.length, 1);
  assert.deepEqual(JSON.parse(answers[0] ?? "").longestRun, 2);
  assert.ok(pieces >= 5, `${pieces} pieces`);
  assert.ok(turns >= pieces - 1, `${turns} turns of the event loop`);
});
