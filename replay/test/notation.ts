/**
 * The notation for sequences of calls: `bash A B, edit F x7, read C`. Groups of one tool are separated
 * by commas; equal letters are equal calls; `x7` repeats the letter before it.
 */

import type { Expected, Fixture } from "../fixture.ts";

export interface NotedCall {
  readonly tool: string;
  readonly letter: string;
}

export function readNotation(notation: string): NotedCall[] {
  return notation.split(", ").flatMap((group) => {
    const [tool = "", ...words] = group.split(" ");
    return words.flatMap((word, index) => {
      if (word.startsWith("x")) return [];
      if (!/^[A-Z]$/.test(word)) throw new Error(`${JSON.stringify(word)} is not a letter`);
      const times = /^x(\d+)$/.exec(words[index + 1] ?? "")?.[1] ?? "1";
      return Array.from({ length: Number(times) }, () => ({ tool, letter: word }));
    });
  });
}

/** A fixture with made-up contents. */
export function madeUp(name: string, notation: string, expected: Expected): Fixture {
  const calls = readNotation(notation).map(({ tool, letter }) => ({
    toolName: tool,
    input: { command: `echo ${letter}` },
  }));
  return { name, calls, expected };
}
