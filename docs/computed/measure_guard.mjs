/**
 * Measures the shipped guard from outside, through the handler that it registers: how many identical
 * calls it admits, how many calls it remembers, what it says and what it records.
 */

import loopBreaker from "../../engine/engine.ts";
import { PiDouble } from "../../replay/pi_double.ts";

// Far more than any guard of this kind remembers: an end for the loops below.
const PLENTY = 1000;

const repeated = { toolName: "bash", input: { command: "ls -R" } };
const other = (n) => ({ toolName: "bash", input: { command: `echo ${n}` } });

async function session() {
  const pi = new PiDouble();
  await pi.load("engine", loopBreaker);
  return pi;
}

async function refused(pi, call) {
  return (await pi.toolCall(call)).kind === "refused";
}

/** Asks for one call until it is refused; returns how often it was admitted. */
async function exhaust(pi) {
  for (let admitted = 0; admitted < PLENTY; admitted += 1) {
    if (await refused(pi, repeated)) return admitted;
  }
  throw new Error(`the guard refused nothing in ${PLENTY} calls`);
}

const pi = await session();
const repeats = await exhaust(pi);
const { result } = await pi.toolCall(repeated);

/** With one repeat gone from the window the call is admitted again: the others pushed it out. */
async function windowSize() {
  for (let others = 0; others < PLENTY; others += 1) {
    const fresh = await session();
    await exhaust(fresh);
    for (let n = 0; n < others; n += 1) await refused(fresh, other(n));
    if (!(await refused(fresh, repeated))) return others + repeats - 1;
  }
  throw new Error(`the guard remembers more than ${PLENTY} calls`);
}

console.log(
  JSON.stringify({
    repeats,
    window: await windowSize(),
    reason: result.reason,
    telemetry: pi.entries[0].data,
  }),
);
