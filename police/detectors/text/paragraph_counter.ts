import { BoundedMap } from "../bounded_map.ts";

/** When two paragraphs are the same, and when that is a loop. */
export interface ParagraphRules {
  /** Shorter paragraphs are ignored; in UTF-16 units, without surrounding white space. */
  readonly minLength: number;
  /** Paragraphs are the same if their first so many units are. */
  readonly fingerprint: number;
  /** So many of the same make a loop. */
  readonly threshold: number;
}

/** Paragraphs remembered of one block: some 100 pages; a loop comes round long before. */
const MAX_PARAGRAPHS = 4096;

/** An address is compared to its end, up to so many fingerprints: lists share long prefixes. */
const MAX_ADDRESS_FINGERPRINTS = 8;

const NEWLINE = 10;
const BACKTICK = 96;

/**
 * Counts, while a text arrives, the paragraphs that begin alike. Paragraphs are separated by blank
 * lines. Those inside or with a ``` fence and those of a table are not counted: there, repeated
 * structure is what is wanted.
 *
 * A character costs a constant; a paragraph is known by its fingerprint only.
 */
export class ParagraphCounter {
  readonly #rules: ParagraphRules;
  readonly #counts = new BoundedMap<string, number>(MAX_PARAGRAPHS);
  #position = 0;
  #newlines = 0;
  #inFence = false;
  /** Where the paragraph began that completed the loop. */
  #loopAt: number | undefined;
  // The paragraph that is arriving:
  #start = 0;
  #key = "";
  #keyDone = false;
  #length = 0;
  #spaces = "";
  #spaceCount = 0;
  #ticks = 0;
  #fences = 0;

  constructor(rules: ParagraphRules) {
    this.#rules = rules;
  }

  push(code: number): void {
    if (code === NEWLINE) {
      this.#newlines++;
      if (this.#newlines === 1) this.#append(NEWLINE);
      if (this.#newlines === 2) this.#close();
    } else {
      if (this.#newlines >= 2) this.#open();
      this.#newlines = 0;
      this.#append(code);
    }
    this.#position++;
  }

  /** Where the paragraph begins with which the text became a loop, if it did. */
  find(): number | undefined {
    if (this.#loopAt !== undefined) return this.#loopAt;
    const decided = this.#keyDone && this.#newlines < 2;
    return decided && this.#completesLoop() ? this.#start : undefined;
  }

  #append(code: number): void {
    this.#ticks = code === BACKTICK ? this.#ticks + 1 : 0;
    if (this.#ticks === 3) {
      this.#fences++;
      this.#ticks = 0;
    }
    if (isSpace(code)) this.#appendSpace(code);
    else this.#appendInk(code);
  }

  #appendSpace(code: number): void {
    if (this.#length === 0) return;
    this.#spaceCount++;
    if (this.#key.length >= this.#rules.fingerprint) this.#keyDone = true;
    else if (!this.#keyDone && this.#spaces.length < this.#rules.fingerprint) {
      this.#spaces += String.fromCharCode(code);
    }
  }

  #appendInk(code: number): void {
    this.#length += this.#spaceCount + 1;
    this.#spaceCount = 0;
    if (this.#keyDone) return;
    const wanted = this.#rules.fingerprint;
    this.#key += this.#spaces + String.fromCharCode(code);
    this.#spaces = "";
    if (this.#key.length < wanted) return;
    if (!endsInAddress(this.#key)) this.#key = this.#key.slice(0, wanted);
    else if (this.#key.length < wanted * MAX_ADDRESS_FINGERPRINTS) return;
    this.#keyDone = true;
  }

  #counted(): boolean {
    if (this.#inFence || this.#fences > 0 || this.#key.startsWith("|")) return false;
    return this.#length >= this.#rules.minLength;
  }

  #completesLoop(): boolean {
    return this.#counted() && this.#seen() + 1 >= this.#rules.threshold;
  }

  #seen(): number {
    return this.#counts.get(this.#key) ?? 0;
  }

  #close(): void {
    if (this.#completesLoop()) this.#loopAt ??= this.#start;
    if (this.#counted()) this.#counts.set(this.#key, this.#seen() + 1);
    if (this.#fences % 2 === 1) this.#inFence = !this.#inFence;
  }

  #open(): void {
    this.#start = this.#position;
    this.#key = "";
    this.#keyDone = false;
    this.#length = 0;
    this.#spaces = "";
    this.#spaceCount = 0;
    this.#ticks = 0;
    this.#fences = 0;
  }
}

/** Whether the last word so far is an address like `https://...`, which 60 units would cut. */
function endsInAddress(key: string): boolean {
  const word = key.slice(key.search(/\S*$/));
  return word.includes("://");
}

/** What `String.prototype.trim` takes for white space. */
function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return String.fromCharCode(code).trim() === "";
}
