import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BlockWatch } from "../streams/block_watch.ts";
import { surfaceOf } from "../streams/surface.ts";
import { Session } from "./support.ts";

const many = (n: number, line: (i: number) => string, between = "\n") =>
  Array.from({ length: n }, (_, i) => line(i)).join(between);
const ESSAY =
  "Lighthouses began as fires on hills. Monks kept lamps along the coast, guilds paid for coal, and a keeper's wage was often ale and candles. " +
  "The turn came with optics: rings of glass bent nearly all of a flame's light into one beam. Bells, guns and sirens fought the fog. " +
  "Automation ended the profession; volunteers paint the towers now.";
/** What a watch says of a text that streams in, in pieces of seven characters. */
function loopIn(text: string) {
  const watch = new BlockWatch("thinking");
  for (let i = 0; i < text.length; i += 7) {
    const loop = watch.push(text.slice(i, i + 7));
    if (loop !== undefined) return loop;
  }
  return undefined;
}

const WAVERING = [
  "Wait, maybe the parser drops the last token, and that is why the test fails. Let me check the parser again.",
  "Hmm, the final token could be lost inside the parser. That would make the test fail. I should look at the parser once more.",
  "Actually, if the parser loses its last token then the test cannot pass. So the parser needs another look.",
  "Let me think. The test fails because a token goes missing at the end, and the parser is where that happens.",
  "Perhaps it is the parser after all: the last token is dropped there and the failing test shows it.",
  "So the token at the end disappears, the test fails, and the parser is to blame. I need to check the parser.",
  "But wait. What if the parser never sees the last token? Then the test would fail just like this.",
  "Again: failing test, missing token, parser. The last token must be dropped by the parser. I should check it.",
  "OK so the parser. The last token. The test fails when the token is dropped. Let me check the parser one more time.",
  "Hmm, I keep coming back to the parser and its last token. If it is dropped the test fails. Look at the parser.",
];

describe("text that repeats word for word", () => {
  const loops: [string, string][] = [
    ["a word", "The ".repeat(400)],
    ["a sentence", "I will check the file and report back to you shortly. ".repeat(8)],
    ["a sign", "\\".repeat(6_000)],
    ["blanks", " ".repeat(6_000)],
    ["line ends", "\n".repeat(6_000)],
    ["zeros", "0 ".repeat(6_000)],
    ["a row", "ok ok ok\n".repeat(300)],
    ["a letter", "A".repeat(6_000)],
    ["a line of a log", "2026-03-01T10:00:00Z ERROR connection reset by peer\n".repeat(90)],
    ["a line of code in a fence", `\`\`\`c\n${"  x = next(x);\n".repeat(400)}`],
    [
      "a listing in a fence",
      `\`\`\`c\n${`${many(30, (i) => `  int v${i} = ${i * i};`)}\n`.repeat(12)}`,
    ],
    ["a passage", `${ESSAY.slice(0, 320)} `.repeat(6)],
    ["a passage that goes round by its words first", `${ESSAY}\n\n`.repeat(6)],
    [
      "a sentence without spaces",
      "我需要先检查配置文件，然后再运行测试，看看结果是否正确。".repeat(20),
    ],
  ];
  for (const [what, text] of loops) {
    it(`is cut when it is ${what}`, () => {
      assert.notEqual(loopIn(text), undefined);
    });
  }

  it("is cut when it is a paragraph that returns between others without new facts", () => {
    const fill = "Let us go on|Well then|Hm|As I said|Where was I".split("|");
    const text = many(5, (i) => `${fill[i]}.\n\n${ESSAY}`, "\n\n");
    assert.notEqual(loopIn(text), undefined);
    assert.equal(loopIn(many(5, (i) => `module_${i}:\n\n${ESSAY}`, "\n\n")), undefined);
  });

  it("is kept up to the end of the first copy", () => {
    const start = "A beginning that is said once only. ";
    const loop = loopIn(start + "And then the same sentence over and over again. ".repeat(9));
    assert.equal(loop?.kind, "character");
    assert.ok(loop !== undefined && loop.keep >= start.length && loop.keep <= start.length + 60);
  });

  it("is judged anew when another repetition begins", () => {
    const row = "ok ok ok\n".repeat(40);
    const sentence = "Now this sentence is said, and it is said once more after that. ";
    const loop = loopIn(`${row}${sentence.repeat(3)}${row}${sentence.repeat(8)}`);
    assert.ok(loop !== undefined && loop.keep > 2 * row.length);
  });

  const honest: [string, string][] = [
    ["a rule of 200 dashes", `${"-".repeat(200)}\n`],
    ["a box", `┌${"─".repeat(200)}┐\n│ x │\n└${"─".repeat(200)}┘\n`],
    ["a matrix of zeros", many(30, () => "0 ".repeat(30))],
    ["fifteen rows of ok", many(15, () => "ok ok ok")],
    [
      "a refrain",
      many(
        3,
        (i) =>
          `Verse ${i} about ${"sea hill wood".split(" ")[i]}.\nRow on, row on, the tide is kind.`,
      ),
    ],
    ["imports", `\`\`\`py\n${many(60, (i) => `from pkg.mod_${i} import Thing${i}`)}\n\`\`\`\n`],
    ["nearly equal objects", many(200, (i) => `  {"id": ${i}, "name": "user", "active": true},`)],
    ["addresses with one prefix", many(20, (i) => `svc://acme/region-1/zone-2/team/service-${i}`)],
    ["encoded data", `data:image/png;base64,iVBORw0KGgo${"AAAA".repeat(200)}ElFTkSuQmCC`],
    ["a table", many(40, (i) => `| case ${i} | pass | pass |`)],
    ["a log", many(60, (i) => `2026-03-01T10:${10 + (i % 50)}:00Z INFO job ${i * 7} finished`)],
    ["a column of truth values", many(99, (i) => (i % 3 ? "true" : "false"))],
    ["a matrix of words", many(20, (i) => many(10, (k) => (i % (k + 1) ? "pass" : "fail"), " "))],
    ["two lines of a log that alternate", "10:11:12 a\n10:11:12 b\n".repeat(30)],
    ["values", many(120, (i) => `2026-01-${10 + (i % 20)},north,${(i * 37) % 90},0.0`)],
  ];
  for (const [what, text] of honest) {
    it(`is left alone when it is ${what}`, () => {
      assert.equal(loopIn(text), undefined);
    });
  }
});

describe("text that says the same in other words", () => {
  it("is cut in paragraphs and in one go", () => {
    assert.equal(loopIn(WAVERING.join("\n\n"))?.kind, "semantic");
    assert.equal(loopIn(WAVERING.join(" "))?.kind, "semantic");
  });

  it("is cut though it counts its attempts", () => {
    const text = many(14, (i) => `Attempt ${i + 1}: ${WAVERING[i % 10]}`, "\n\n");
    assert.equal(loopIn(text)?.kind, "semantic");
  });

  it("is left alone while new names and numbers come", () => {
    const text = many(
      20,
      (i) => `In file_${i}.ts the handler looks fine. Let me check the next file, number ${i * 7}.`,
      "\n\n",
    );
    assert.equal(loopIn(text), undefined);
  });

  it("is left alone while code or a table shows something new", () => {
    const text = many(
      20,
      (i) =>
        `Let me look at the parser again, the last token may be dropped.\n    token_${i} = next();`,
    );
    assert.equal(loopIn(text), undefined);
  });

  it("may be said twice, if there was much of it", () => {
    const words = many(
      130,
      (i) => `w${String.fromCharCode(97 + (i % 26), 97 + i / 26)}ord is`,
      " ",
    );
    assert.equal(loopIn(`${words}. In other words, ${words}`), undefined);
  });

  it("may come back on itself once after a long text", () => {
    const topics =
      "ropes sails masts anchors keels oars decks hulls rudders pumps lamps bells".split(" ");
    const honest = many(
      24,
      (i) =>
        `Chapter on ${topics[i % 12]} ${"abcdefghijklmnopqrstuvwx"[i]}${i * 37}: cost, weight, ${i * 91} makers.`,
      "\n\n",
    );
    assert.equal(
      loopIn(
        `${honest}\n\nIn short: ropes, sails, masts, anchors, keels and oars have cost and weight.`,
      ),
      undefined,
    );
  });
});

describe("a list", () => {
  const items = [
    "Check the settings",
    "Start the database",
    "Run the migrations",
    "Seed the tables",
    "Open the dashboard",
  ];

  it("that starts over is cut, also when its numbers go on", () => {
    assert.equal(loopIn(many(60, (i) => `${i + 1}. ${items[i % 5]}`))?.kind, "semantic");
  });

  it("that starts over under lead-ins that speak of the list is cut", () => {
    const lead = ["The steps:", "Again, the list:", "So the plan:", "To do:", "Once more:"];
    const text = many(9, (k) => `${lead[k % 5]}\n${many(5, (i) => `- ${items[i]}`)}`, "\n\n");
    assert.notEqual(loopIn(text), undefined);
  });

  it("under the name of another thing each time is a checklist", () => {
    const text = many(9, (k) => `Host ams${k * 3}:\n${many(4, (i) => `- ${items[i]}`)}`, "\n\n");
    assert.equal(loopIn(text), undefined);
  });

  it("without bullets is one whose lines begin alike", () => {
    const ends =
      "jumps when pasting|hides the map|freezes with wide tables|loses its text|stays open".split(
        "|",
      );
    const text = many(
      20,
      (i) => `Fixed an issue where the menu ${ends[i % 5]} and the menu ${ends[(i * 3 + 1) % 5]}.`,
    );
    assert.equal(loopIn(text.slice(0, 500)), undefined);
  });

  it("in ever other order goes round when no word is new any more", () => {
    const fruit = "apple pear plum cherry grape quince peach melon".split(" ");
    const text = many(300, (i) => fruit[(i * i + (i >> 3)) % 8] as string, ", ");
    assert.notEqual(loopIn(text), undefined);
    assert.notEqual(
      loopIn(many(60, (i) => `${i % 7}. ${fruit[(i * 3) % 8]} and ${fruit[(i * i) % 8]}`)),
      undefined,
    );
  });
});

describe("a listing", () => {
  const code = "```py\ndef total(items):\n    result = 0\n    return result + sum(items)\n```";

  it("that is written down again and again under other words is cut", () => {
    const lead = [
      "Here it is:",
      "Better:",
      "This should work now:",
      "The final version:",
      "One more correction:",
    ];
    assert.equal(loopIn(many(6, (i) => `${lead[i % 5]}\n\n${code}\n`))?.kind, "semantic");
  });

  it("that belongs to another thing each time is left alone", () => {
    assert.equal(loopIn(many(6, (i) => `### part_${i}\n\n${code}\n`)), undefined);
  });

  it("of a line or two is left alone", () => {
    assert.equal(loopIn(many(6, () => "Install:\n\n```\nnpm ci\n```\n")), undefined);
  });

  it("far beyond any file is cut", () => {
    const words = many(
      40,
      (i) => `  const v${i} = compute(${i * 7919}, "${"abcdefgh".repeat(3)}");`,
    );
    const text = many(4, (i) => `// part ${"abcd"[i]}\n${words}`);
    assert.notEqual(loopIn(`\`\`\`ts\n${`${text}\n`.repeat(3)}`), undefined);
  });
});

describe("a line", () => {
  const lines: [string, string][] = [
    ["", "blank"],
    ["```ts", "fence"],
    ["=====", "rule"],
    ["1 2 3", "data"],
    ["## Title", "heading"],
    ["| a | b |", "table"],
    ["a | b | c", "table"],
    ["[10:11:12] started", "log"],
    ["- name: web", "data"],
    ["2) second", "list"],
    ["- point", "list"],
    ["const a = b(1);", "code"],
    ["<div class='a'>", "code"],
    ["  return;", "code"],
    ["INSERT INTO users VALUES (1)", "code"],
    ['  "key": true,', "data"],
    ["a,b,c,d", "data"],
    ["https://x.example/y", "data"],
    ["a 1234567 b", "data"],
    ["ok ok ok", "data"],
    ["Once more", "data"],
    ["Once more we go", "prose"],
    ["Let me see: it is so, or else,", "prose"],
  ];
  for (const [line, surface] of lines) {
    it(`"${line}" is ${surface}`, () => {
      assert.equal(surfaceOf(line), surface);
    });
  }
});

describe("what is told of a stream", () => {
  const sentence = "I will check the file and report back to you shortly. ".repeat(9);
  const wavering = WAVERING.join("\n\n");
  const cases: ["thinking" | "output", string, string][] = [
    ["thinking", sentence, "thinking_loop"],
    ["thinking", wavering, "semantic_loop"],
    ["output", sentence, "output_loop"],
    ["output", wavering, "output_semantic_loop"],
  ];
  for (const [stream, text, event] of cases) {
    it(`is ${event}`, () => {
      const session = new Session();
      assert.equal(session.say(text, stream), true);
      assert.equal(session.found[0]?.event, event);
    });
  }

  it("comes from each block for itself", () => {
    const session = new Session();
    session.policy.observe({ kind: "message_start" });
    const half = "I will check the file and report back to you shortly. ".repeat(2);
    for (let block = 0; block < 9; block++) {
      const seen = { kind: "text", stream: "output", block, text: half } as const;
      assert.equal(session.policy.observe(seen), undefined);
    }
  });
});
