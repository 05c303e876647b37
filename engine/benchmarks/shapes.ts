/** Inputs of the shapes that tool calls have, in any size. */

import type { JsonValue } from "../engine.ts";

export interface Shape {
  readonly name: string;
  /**
   * An input of about `characters` characters of JSON text. Inputs of different `variant`s differ in
   * one value and resemble each other in everything else.
   */
  make(characters: number, variant: number): JsonValue;
}

const SOURCE_LINE = '    print(f"{name}: \\"{value}\\"")  # it\'s done\n';

function text(characters: number): string {
  return SOURCE_LINE.repeat(Math.ceil(characters / SOURCE_LINE.length)).slice(0, characters);
}

/** The text with another character in its middle for each variant: of one length, and alike at both ends. */
function withMiddle(whole: string, variant: number): string {
  const middle = whole.length >> 1;
  return whole.slice(0, middle) + String.fromCharCode(65 + variant) + whole.slice(middle + 1);
}

/** As many pieces as make up the size, each of which takes about `pieceSize` characters. */
function pieces<T>(characters: number, pieceSize: number, piece: (i: number) => T): T[] {
  return Array.from({ length: Math.max(1, Math.round(characters / pieceSize)) }, (_, i) =>
    piece(i),
  );
}

export const SHAPES: readonly Shape[] = [
  {
    name: "one long text",
    make: (characters, variant) => ({
      path: `src/module_${variant}.py`,
      content: text(Math.max(1, characters - 60)),
    }),
  },
  {
    name: "list of edits",
    make: (characters, variant) => ({
      path: `src/module_${variant}.py`,
      edits: pieces(characters, 330, (i) => ({
        oldText: `${i}: ${text(Math.min(130, characters / 4))}`,
        newText: `${i}: ${text(Math.min(130, characters / 4))}`,
      })),
    }),
  },
  {
    name: "table of small values",
    make: (characters, variant) => ({
      rows: pieces(characters, 60, (i) => ({
        id: i,
        name: `row ${i}`,
        done: i % 2 === 0,
        at: i / 7,
      })),
      page: variant,
    }),
  },
  {
    name: "list of numbers",
    make: (characters, variant) =>
      pieces(characters, 5, (i) => (i === 3 ? variant : 1000 + (i % 9000))),
  },
  {
    name: "names out of order",
    make: (characters, variant) =>
      Object.fromEntries(
        pieces(characters, 18, (i) => [
          `k${((i * 2_654_435_761) % 2 ** 32).toString(36)}`,
          i === 3 ? variant : i,
        ]),
      ),
  },
  {
    name: "text, differs in the middle",
    make: (characters, variant) => ({
      path: "src/module.py",
      content: withMiddle(text(Math.max(1, characters - 60)), variant),
    }),
  },
  {
    name: "edits, one differs in a middle",
    make: (characters, variant) => ({
      path: "src/module.py",
      edits: pieces(characters, 330, (i) => {
        const oldText = `${i}: ${text(Math.min(130, characters / 4))}`;
        return { oldText, newText: i === 0 ? withMiddle(oldText, variant) : oldText };
      }),
    }),
  },
  {
    name: "numbers, text differs in middle",
    make: (characters, variant) => ({
      ids: pieces(characters, 5, (i) => 1000 + (i % 9000)),
      note: withMiddle(text(1000), variant),
    }),
  },
  {
    name: "names that differ",
    make: (characters, variant) => {
      const names = pieces(characters, 16, (i) => `property${i}`);
      names.push(`last${variant}`);
      return Object.fromEntries(names.map((name, i) => [name, i % 10]));
    },
  },
  {
    name: "objects in two orders",
    make: (characters, variant) => {
      const rows: JsonValue[] = pieces(characters, 30, (i) =>
        i % 2 === 0 ? { id: 1, kind: "row", at: 3 } : { at: 3, kind: "row", id: 1 },
      );
      return [...rows, { [`last${variant}`]: 1 }];
    },
  },
  {
    name: "list of booleans",
    make: (characters, variant) =>
      pieces(characters, 5.5, (i) => i % 2 === 0 || i === 2 * variant + 1),
  },
];
