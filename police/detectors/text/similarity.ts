/**
 * How alike two texts are, by the words they hold.
 *
 * Only the first 200,000 characters count (a thought of some 50,000 tokens), so that comparing
 * stays cheap and what is remembered stays small.
 */
const MAX_COMPARED_CHARS = 200_000;

/** The set of a text's words, in lower case. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = text.slice(0, MAX_COMPARED_CHARS).toLowerCase().split(/\s+/);
  return new Set(words.filter((word) => word !== ""));
}

/** Jaccard similarity: the share of the words of both that are in each, from 0 to 1. */
export function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  const all = a.size + b.size - common;
  return all === 0 ? 1 : common / all;
}
