/**
 * What the police cost: nanoseconds a character of a stream, microseconds a call of a session, for
 * short and for long ones. The cost of one must not depend on how many came before it.
 */

import { Bench } from "tinybench";

import { defaultConfig, PROFILES } from "../config/keys.ts";
import { type Host, Police } from "../police.ts";

const STREAMS = [10_000, 100_000, 1_000_000, 10_000_000];
const SESSIONS = [100, 1_000, 10_000, 100_000];

/** How much more the largest size may cost than the smallest. */
const MAX_GROWTH = 1.5;

/** What a provider sends at a time. */
const DELTA_CHARS = 20;

const host: Host = {
  cwd: "/project",
  now: () => 0,
  abort: () => {
    throw new Error("the text of this benchmark is not to be taken for a loop");
  },
  send: () => undefined,
  notify: () => undefined,
  tell: () => undefined,
  publish: () => undefined,
  shapeOf: () => "",
};

/** Processor time, not time on the clock: other work on the machine must not count. */
function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Text with paragraphs and without repetition, as long as it must be. */
function honestText(length: number): string {
  const parts: string[] = [];
  let written = 0;
  for (let n = 1; written < length; n++) {
    const word = (n * 2_654_435_761) >>> 0;
    const part = `${word.toString(36)} ${n % 12 === 0 ? `\n\nPart ${n}, ${word}: ` : ""}`;
    parts.push(part);
    written += part.length;
  }
  return parts.join("").slice(0, length);
}

function streamThrough(text: string, profile: (typeof PROFILES)[number]): void {
  const police = new Police({ ...defaultConfig(), PROFILE: profile });
  police.messageStarted();
  for (let at = 0; at < text.length; at += DELTA_CHARS) {
    police.streamed("output", 0, text.slice(at, at + DELTA_CHARS), host);
  }
}

/** A session of reads, edits and commands that get on, each in a message of its own. */
function callThrough(calls: number, profile: (typeof PROFILES)[number]): void {
  const police = new Police({ ...defaultConfig(), PROFILE: profile });
  for (let n = 0; n < calls; n++) {
    const id = `call_${n}`;
    const path = `src/file${Math.floor(n / 3) % 5000}.ts`;
    const [tool, input] = [
      ["read", { path, offset: n }],
      ["edit", { path, edits: [{ oldText: `a${n}`, newText: `b${n}` }] }],
      ["bash", { command: `npm test -- --only ${n}` }],
    ][n % 3] as [string, Record<string, unknown>];
    police.callStarted(id, tool, input, undefined);
    police.callAsked({ id, tool, input, parent: undefined }, host);
    police.callRan(id);
    const result = { content: [{ type: "text", text: `result ${n}` }] };
    police.callEnded({ id, tool, result, isError: false }, host);
  }
}

/** Measures each size and prints a line for it; says whether the cost stayed flat. */
async function measure(
  title: string,
  sizes: readonly number[],
  unit: { readonly name: string; readonly perSecond: number },
  run: (size: number) => () => void,
): Promise<boolean> {
  // Long enough for some rounds of the largest size, which takes most of a second.
  const bench = new Bench({
    now: cpuMilliseconds,
    time: 1000,
    iterations: 5,
    warmupTime: 500,
    warmupIterations: 2,
  });
  for (const size of sizes) bench.add(`${size}`, run(size));
  await bench.run();
  console.log(title);
  const costs = bench.tasks.map(({ name, result }) => {
    if (result.state !== "completed") throw new Error(`size ${name}: ${result.state}`);
    const cost = (result.latency.p50 / 1000 / Number(name)) * unit.perSecond;
    console.log(`${name.padStart(12)}  ${cost.toFixed(2).padStart(8)} ${unit.name}`);
    return cost;
  });
  const growth = (costs.at(-1) as number) / (costs[0] as number);
  console.log(`${"growth".padStart(12)}  ${growth.toFixed(2).padStart(8)} x\n`);
  return growth <= MAX_GROWTH;
}

const flat: boolean[] = [];
for (const profile of PROFILES) {
  const longest = honestText(STREAMS.at(-1) as number);
  const perCharacter = { name: "ns a character", perSecond: 1e9 };
  const perCall = { name: "µs a call", perSecond: 1e6 };
  flat.push(
    await measure(`Streams of so many characters, ${profile}`, STREAMS, perCharacter, (size) => {
      const text = longest.slice(0, size);
      return () => streamThrough(text, profile);
    }),
    await measure(`Sessions of so many calls, ${profile}`, SESSIONS, perCall, (size) => {
      return () => callThrough(size, profile);
    }),
  );
}
if (flat.includes(false)) {
  console.log(`The cost grew by more than ${MAX_GROWTH}x from the smallest to the largest size.`);
  process.exitCode = 1;
}
