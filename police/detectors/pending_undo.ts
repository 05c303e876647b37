import { BoundedMap } from "./bounded_map.ts";

/** Calls on the way at one time; Pi runs one batch, of at most some dozens. */
const MAX_PENDING = 1000;

/** What is to be taken back if a call that was counted when it was admitted comes to nothing. */
export class PendingUndo {
  readonly #undo = new BoundedMap<string, () => void>(MAX_PENDING);

  add(callId: string, undo: () => void): void {
    this.#undo.set(callId, undo);
  }

  settle(callId: string, counts: boolean): void {
    if (!counts) this.#undo.get(callId)?.();
    this.#undo.delete(callId);
  }

  clear(): void {
    this.#undo.clear();
  }
}
