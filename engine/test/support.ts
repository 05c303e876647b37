/** What the tests of the guard share: how to feed a breaker, and what "identical" looks like. */

import assert from "node:assert/strict";
import { createLoopBreaker, type JsonValue, type ToolCall } from "../engine.ts";

export type Breaker = ReturnType<typeof createLoopBreaker>;

/** How many identical calls are admitted; the next one is refused. */
export const ADMITTED = 5;

/** How many admitted calls are remembered. */
export const REMEMBERED = 20;

/** A call, also one with an input that no type would let through. */
export function call(toolName: string, input: unknown): ToolCall {
  return { toolName, input: input as JsonValue };
}

export function bash(command: string): ToolCall {
  return call("bash", { command });
}

export function assertAdmitted(inspect: Breaker, ...calls: ToolCall[]): void {
  for (const each of calls) assert.equal(inspect(each), undefined);
}

export function assertRefused(inspect: Breaker, each: ToolCall): void {
  assert.equal(inspect(each)?.block, true);
}

/** `count` calls that differ from each other and from all calls in these tests. */
export function others(count: number): ToolCall[] {
  return Array.from({ length: count }, (_, i) => bash(`echo other ${i}`));
}

export function times(count: number, each: ToolCall): ToolCall[] {
  return Array.from({ length: count }, () => each);
}

/** Whether a breaker that admitted the first input five times refuses the second. */
export function identical(first: unknown, second: unknown): boolean {
  const inspect = createLoopBreaker();
  assertAdmitted(inspect, ...times(ADMITTED, call("tool", first)));
  return inspect(call("tool", second)) !== undefined;
}

export function assertIdentical(first: unknown, second: unknown): void {
  assert.equal(identical(first, second), true, "the second input passed as a different one");
  assert.equal(identical(second, first), true, "the first input passed as a different one");
}

/** Both inputs are remembered, and neither is taken for the other. */
export function assertDifferent(first: unknown, second: unknown): void {
  assert.equal(identical(first, first), true, "the first input is not remembered");
  assert.equal(identical(second, second), true, "the second input is not remembered");
  assert.equal(identical(first, second), false, "the second input passed for the first");
  assert.equal(identical(second, first), false, "the first input passed for the second");
}

/** However often the input comes it is admitted, and it takes no place among those remembered. */
export function assertNeverCompared(input: unknown): void {
  const inspect = createLoopBreaker();
  // The window is full: one more place taken would cost `ls` one of its five.
  assertAdmitted(inspect, ...times(ADMITTED, bash("ls")), ...others(REMEMBERED - ADMITTED));
  assertAdmitted(inspect, ...times(ADMITTED + 1, call("tool", input)));
  assertRefused(inspect, bash("ls"));
}
