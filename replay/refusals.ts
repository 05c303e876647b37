/** What a document may expect of a guard's refusals: how many, and which is the first. */

import { isCount, kindOf } from "./document.ts";

/** Refusals among the calls that reach the hook. */
export interface ExpectedRefusals {
  /** Number of refused calls. */
  readonly blocked: number;
  /** The first refused call, 1 for the first that reaches the hook; null if none is refused. */
  readonly firstBlock: number | null;
}

/**
 * Sentences on what is wrong with `blocked` and `firstBlock`, also with the two together.
 *
 * @param path Where the two stand in the document.
 * @param calls The number of calls that reach the hook.
 */
export function* refusalProblems(
  path: string,
  blocked: unknown,
  firstBlock: unknown,
  calls: number,
): Generator<string> {
  if (firstBlock !== null && !isCount(firstBlock, 1)) {
    yield `${path}.firstBlock is ${kindOf(firstBlock)}; give null if no call is refused, ` +
      "else the number of the first refused call, counted from 1";
  } else if (isCount(blocked, 0)) {
    yield* contradictions(path, blocked, firstBlock, calls);
  }
}

/** A sentence if `blocked` is no count. */
export function* blockedProblems(path: string, blocked: unknown): Generator<string> {
  if (isCount(blocked, 0)) return;
  yield `${path}.blocked is ${kindOf(blocked)}; give the number of refused calls, 0 or more`;
}

/** Expectations that no replay of `calls` calls can meet. */
function* contradictions(
  path: string,
  blocked: number,
  firstBlock: number | null,
  calls: number,
): Generator<string> {
  if (firstBlock === null) {
    if (blocked === 0) return;
    yield `${path}.firstBlock is null, but blocked is ${blocked}; ` +
      "give the number of the first refused call, or set blocked to 0";
  } else if (blocked === 0) {
    yield `${path}.firstBlock is ${firstBlock}, but blocked is 0; ` +
      "set firstBlock to null, or blocked to the number of refused calls";
  } else if (firstBlock > calls) {
    yield `${path}.firstBlock is ${firstBlock}, but the number of calls is ${calls}; ` +
      "give the number of a call";
  } else if (blocked > calls - firstBlock + 1) {
    yield `${path}.blocked is ${blocked}, but from call ${firstBlock} on ` +
      `the number of calls is ${calls - firstBlock + 1}; correct blocked or firstBlock`;
  }
}
