/**
 * What the guard costs: microseconds a call, through its handler, beside `JSON.stringify` of the same
 * input in the same run. A report for people; nothing fails when a machine is slow.
 */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Bench } from "tinybench";
import registerGuard from "../engine.ts";
import { SHAPES, type Shape } from "./shapes.ts";

const SMALL = 100;
const SIZES = [SMALL, 10_000, 1_000_000];
const HISTORIES = [0, 20, 100_000];

/** What the documentation promises: a time for small inputs, and for others a ratio. */
const SMALL_LIMIT_US = 5;
const LARGE_LIMIT_RATIO = 1.5;

/** Different inputs that take turns: more than the guard remembers, so that each is new to it. */
const VARIANTS = 25;

/** How many identical calls the guard admits. */
const ADMITTED = 5;

type Handler = (event: { readonly toolName: string; readonly input: unknown }) => unknown;

function register(): Handler {
  const handlers: Handler[] = [];
  const pi = {
    on: (_: string, handler: Handler) => handlers.push(handler),
    appendEntry: () => undefined,
  };
  registerGuard(pi as unknown as ExtensionAPI);
  const [handler] = handlers;
  if (handler === undefined) throw new Error("the extension registered no handler");
  return handler;
}

// ---- What is measured --------------------------------------------------------------------------

/** The tasks of one line of the table, by the titles of their columns. */
type Line = Map<string, () => unknown>;

function lineFor(shape: Shape, size: number): Line {
  const different = inputs((i) => shape.make(size, i));
  const equal = inputs(() => shape.make(size, 0));
  const line: Line = new Map();

  const next = inTurn(different);
  line.set("JSON.stringify", () => JSON.stringify(next()));
  for (const history of HISTORIES) {
    // Without history each call is the first of a registration.
    const handler = history === 0 ? undefined : withHistory(history, different);
    const input = inTurn(different);
    line.set(`${history}`, () => (handler ?? register())({ toolName: "tool", input: input() }));
  }

  const refusing = register();
  const again = inTurn(equal);
  for (let i = 0; i < ADMITTED; i += 1) refusing({ toolName: "tool", input: again() });
  line.set("refused", () => refusing({ toolName: "tool", input: again() }));
  return line;
}

/** Parsed from text, as Pi's are, so that no two of them share a string. */
function inputs(make: (i: number) => unknown): unknown[] {
  return Array.from({ length: VARIANTS }, (_, i) => JSON.parse(JSON.stringify(make(i))));
}

function inTurn(all: readonly unknown[]): () => unknown {
  let count = 0;
  return () => {
    count += 1;
    return all[count % all.length];
  };
}

/** A handler that has admitted so many calls, the last twenty of which resemble the next ones. */
function withHistory(history: number, resembling: readonly unknown[]): Handler {
  const handler = register();
  const last = resembling.slice(-20);
  for (let i = last.length; i < history; i += 1) {
    handler({ toolName: "bash", input: { command: `echo ${i}` } });
  }
  for (const input of last) handler({ toolName: "tool", input });
  return handler;
}

// ---- How it is measured ------------------------------------------------------------------------

/** Microseconds a call, by the titles of the columns. */
type Times = Map<string, number>;

/** The median by the clock, which a busy machine leaves alone as long as a call takes microseconds. */
async function medians(line: Line): Promise<Times> {
  return times(line, () => performance.now(), "p50");
}

/**
 * The mean of this thread's own time, for calls that take so long that a busy machine turns to other
 * work in between. It includes collecting garbage, and may go on in steps of milliseconds.
 */
async function means(line: Line): Promise<Times> {
  const threadTime = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  return times(line, threadTime, "mean");
}

async function times(line: Line, now: () => number, statistic: "mean" | "p50"): Promise<Times> {
  const bench = new Bench({
    now,
    time: 300,
    iterations: 30,
    warmupTime: 100,
    warmupIterations: 10,
  });
  for (const [title, task] of line) bench.add(title, task);
  await bench.run();
  return new Map(
    bench.tasks.map(({ name, result }) => {
      if (result.state !== "completed") throw new Error(`"${name}" could not be measured`);
      return [name, result.latency[statistic] * 1000];
    }),
  );
}

// ---- How it is shown ---------------------------------------------------------------------------

function row(first: string, cells: readonly string[]): string {
  return first.padEnd(40) + cells.map((cell) => cell.padStart(18)).join("");
}

function sizeName(characters: number): string {
  if (characters >= 1_000_000) return `${characters / 1_000_000} MB`;
  return characters >= 1000 ? `${characters / 1000} kB` : `${characters} B`;
}

async function report(shape: Shape, size: number): Promise<string> {
  const measured = await (size === Math.max(...SIZES) ? means : medians)(lineFor(shape, size));
  const [base = Number.NaN, ...guard] = measured.values();
  const cells = guard.map((us) => {
    const over = size === SMALL ? us > SMALL_LIMIT_US : us > LARGE_LIMIT_RATIO * base;
    return `${us.toFixed(2)} (${(us / base).toFixed(2)}x)${over ? "!" : ""}`;
  });
  return row(`${shape.name}, ${sizeName(size)}`, [base.toFixed(2), ...cells]);
}

console.log(`Microseconds a call, and times JSON.stringify of the same input (Node ${process.version}).
0, 20, 100000: so many calls came before, the last twenty of them like this one but for one value.
refused: the same call came too often.
"!" marks more than ${SMALL_LIMIT_US} us at ${sizeName(SMALL)}, and more than ${LARGE_LIMIT_RATIO} times JSON.stringify above.
`);
console.log(row("input", ["JSON.stringify", ...HISTORIES.map(String), "refused"]));
for (const shape of SHAPES) for (const size of SIZES) console.log(await report(shape, size));
