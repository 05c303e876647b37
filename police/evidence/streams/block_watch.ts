/** Watches one block of a message while it streams in. */

import type { Stream } from "../../detectors/types.ts";
import { LineWatch } from "./lines.ts";
import { isRegular, type Surface, surfaceOf } from "./surface.ts";
import { VerbatimWatch } from "./verbatim.ts";
import { WordingWatch } from "./wording.ts";

export interface StreamLoop {
  /** Word for word, or the same in other words. */
  readonly kind: "character" | "semantic";
  /** Length of the text before the loop, in UTF-16 units. */
  readonly keep: number;
}

/**
 * Limits within one block (see `WordingWatch` for what they are measured against): 28 words are two
 * to four short paragraphs. Reasoning is judged more strictly than an answer: of the recorded
 * passages none honest falls under 0.78, while documentation with its fixed phrases, 506 pieces of
 * it, begins to at 0.72.
 */
const WORDING = {
  thinking: { window: 28, sum: 0.74, lasting: 6 },
  output: { window: 28, sum: 0.66, lasting: 5 },
};
/** What a line is shows in its first characters; a shorter one is read when it is complete. */
const TELLING = 56;
/** A longer line is read in phrases of about this length. */
const PHRASE = 24;
/** Longest beginning of a line that is kept. */
const LONGEST_LINE = 500;
/** Behind a sentence, and what it ends with. */
const BEHIND_SENTENCE = /(?<=[.!?][)"'’”]?)\s+|(?<=[。！？；])/;
const SENTENCE_END = /[.!?。！？；][)"'’”]?\s*$/;
const NEWLINE = 10;
const SPACE = 32;
const PAUSES = new Set(Array.from("。！？；，、", (char) => char.charCodeAt(0)));
/** Scripts without spaces, and long words, are cut here. */
const LONGEST_PHRASE = 200;

export class BlockWatch {
  readonly #verbatim = new VerbatimWatch();
  readonly #lines = new LineWatch();
  readonly #wording: WordingWatch;
  /** The beginning of the line that is being written; enough to tell what it is. */
  #line = "";
  /** What of the line has not been read yet. */
  #phrase = "";
  #surface: Surface | undefined;
  /** How the line before began. */
  #opening = "";
  #at = 0;
  #phraseAt = 0;
  #lineAt = 0;
  #inFence = false;

  constructor(stream: Stream) {
    this.#wording = new WordingWatch(WORDING[stream]);
  }

  /** Takes in new characters; says so at the first sign of a loop. */
  push(text: string): StreamLoop | undefined {
    let unread = 0;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      const keep = this.#verbatim.push(unit, this.#inFence);
      if (keep !== undefined) return { kind: "character", keep };
      this.#at++;
      if (unit !== NEWLINE && !this.#endsPhrase(unit, i + 1 - unread)) continue;
      this.#write(text.slice(unread, unit === NEWLINE ? i : i + 1));
      unread = i + 1;
      const line = unit === NEWLINE;
      const loop = this.#endPhrase(line) ?? (line ? this.#endLine() : undefined);
      if (loop !== undefined) return { kind: "semantic", keep: loop };
    }
    this.#write(text.slice(unread));
    return undefined;
  }

  #endsPhrase(unit: number, unwritten: number): boolean {
    const long = this.#phrase.length + unwritten;
    if (long < PHRASE || this.#at - this.#lineAt < TELLING) return false;
    return unit === SPACE || PAUSES.has(unit) || long >= LONGEST_PHRASE;
  }

  #write(piece: string): void {
    if (this.#line.length < LONGEST_LINE) this.#line += piece;
    this.#phrase += piece;
  }

  #endPhrase(line: boolean): number | undefined {
    const phrase = this.#phrase;
    const at = this.#phraseAt;
    this.#phrase = "";
    this.#phraseAt = this.#at;
    this.#surface ??= this.#classify();
    if (this.#inFence || isRegular(this.#surface)) {
      this.#wording.pass(phrase);
      return undefined;
    }
    const listed = this.#surface === "list";
    for (const sentence of phrase.split(BEHIND_SENTENCE)) {
      const closes = line || SENTENCE_END.test(sentence) || sentence.length < phrase.length;
      const found = this.#wording.push(sentence, at, listed, closes);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #endLine(): number | undefined {
    const line = this.#line;
    const at = this.#lineAt;
    const surface = this.#classify();
    if (surface !== "blank") this.#opening = openingOf(line);
    this.#line = "";
    this.#lineAt = this.#at;
    this.#surface = undefined;
    if (surface === "fence") this.#inFence = !this.#inFence;
    return this.#lines.push(
      line,
      this.#inFence && surface !== "fence" ? "code" : surface,
      at,
      this.#wording.facts,
    );
  }

  /** Lines that begin alike are a list, with or without bullets. */
  #classify(): Surface {
    const surface = surfaceOf(this.#line);
    const alike = surface === "prose" && openingOf(this.#line) === this.#opening;
    return alike ? "list" : surface;
  }
}

/** The first two words of a line. */
function openingOf(line: string): string {
  return line.trim().split(/\s+/, 2).join(" ");
}
