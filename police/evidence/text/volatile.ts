/**
 * Takes out of a result what differs although nothing happened: times, durations, ids, process
 * numbers, addresses. What may be progress (percentages, counts, states) stays.
 *
 * Each kind of noise is one that a reported loop hid behind: a time stamp (row 25 of the public
 * reports), a fresh message id (row 26), a request number, a process number, a port.
 */

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*";
const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*";

/** Patterns in the order in which they are applied; none of them matches a placeholder. */
const NOISE: readonly (readonly [RegExp, string])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours begin with ESC
  [/\u001b\[[0-9;?]*[A-Za-z]/g, ""],
  [/\b\d{4}-\d\d-\d\d[T ]\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d\b)?/g, "<time>"],
  [
    new RegExp(
      `\\b(?:${DAY},? +)?(?:${MONTH} +\\d{1,2}|\\d{1,2} +${MONTH})\\b(?:,? +\\d{4}\\b)?`,
      "g",
    ),
    "<date>",
  ],
  [/(?<![\d.:])\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[AP]M\b)?(?!\d)/g, "<time>"],
  [/(<time>|<date>)(?: +(?:UTC|GMT|[A-Z]{3,4}))? +\d{4}\b/g, "$1"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b0x[0-9a-f]+\b/gi, "<address>"],
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b/gi, "<id>"],
  [
    /\b(?:req|request|msg|message|trace|span|sess|session|evt|event|corr|nonce|txn|tx|call)[-_][A-Za-z0-9]{3,}\b/gi,
    "<id>",
  ],
  [/\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}\b/g, "<id>"],
  [/\/(?:tmp|var\/folders)\/[\w./-]+/g, "<temporary>"],
  [
    /"?\b(?:id|uuid|pid|ts|at|time|took|elapsed|duration|latency|timestamp|uptime|[a-z]+_(?:ms|id|at)|(?:message|request|comment|trace|event|session|call)id)\b"?\s?[:=]\s?"?\d+(?:\.\d+)?"?/gi,
    "<field>",
  ],
  [
    /\b(?:pid|process|ppid|tid|thread|port|request|req|attempt|try|retry|iteration|seq|call|tick|id|comment|message|msg|session|job id)[ #-]{1,2}\d+\b/gi,
    "<number>",
  ],
  [/#\d+\b/g, "<number>"],
  [/^\[\d+\] \d+/gm, "<job>"],
  [/(?<=(?:\d|localhost|[a-z]\]?)):\d{4,5}\b/gi, "<port>"],
  [
    /\b\d+(?:\.\d+)?\s?(?:ms|µs|us|ns|s|sec|secs|seconds?|min|mins|minutes?|h|hours?|days?|milliseconds)\b/g,
    "<duration>",
  ],
  [/\b\d{9,}\b/g, "<id>"],
];

/** Longest text that is looked at, in UTF-16 units: both ends of a longer one, and its length. */
const LONGEST = 40_000;

/** What one pattern leaves may match another; texts are calm after two or three rounds. */
const MOST_ROUNDS = 6;

/** The text without volatile parts. Applying it twice changes nothing more. */
export function withoutNoise(text: string): string {
  let plain = calm(text.length > LONGEST ? bothEnds(text) : text);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let next = plain;
    for (const [pattern, placeholder] of NOISE) next = next.replace(pattern, placeholder);
    next = calm(next);
    if (next === plain) break;
    plain = next;
  }
  return plain;
}

function calm(text: string): string {
  return text.replace(/[ \t]+/g, " ").trim();
}

function bothEnds(text: string): string {
  return `${text.slice(0, LONGEST / 2 - 20)}\n… ${text.length} …\n${text.slice(-LONGEST / 2 + 20)}`;
}

/** The text with every number replaced by `#`, and the numbers that were there. */
export function skeleton(plain: string): { shape: string; numbers: string[] } {
  const numbers: string[] = [];
  const shape = plain.replace(/\d+(?:[.,]\d+)*/g, (number) => {
    if (numbers.length < 64) numbers.push(number);
    return "#";
  });
  return { shape, numbers };
}
