import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAnnouncement } from "../turns/announcement.ts";
import { bash, read, Session, told } from "./support.ts";

const PLANS = [
  "First I will read the loader, then change how it resolves relative paths, and finally run the loader tests.",
  "The plan is to open the loader, adjust the handling of relative paths in it, and run its tests afterwards.",
  "I should start with the loader: read it, fix the resolution of relative paths, then run the tests of the loader.",
  "So: read the loader, change the path resolution so that relative paths work, run the tests for the loader.",
  "Step one is reading the loader. Step two is the resolution of relative paths. Step three is running the loader tests.",
  "To begin with I need to read the loader. After that, relative paths have to be resolved. Then run the tests.",
  "My approach: look into the loader, repair the relative path resolution, and confirm with the loader tests.",
];

describe("a plan that is turned over from message to message", () => {
  it("is cut after three messages that said nothing new", () => {
    const session = new Session();
    const cut = PLANS.map((plan) => session.think(plan));
    const first = cut.indexOf(true);
    assert.ok(first >= 3 && first <= 6, `cut at ${first}`);
    assert.equal(session.found[0]?.event, "stagnation");
    assert.deepEqual(session.found[0]?.response, { kind: "cut", block: 0, keep: 0 });
  });

  it("is the reasoning that was warned of, when something was detected before", () => {
    const session = new Session();
    for (let i = 0; i < 6; i++) session.call(bash("ls"), "a");
    for (const plan of PLANS) session.think(plan);
    assert.equal(session.found.at(-1)?.event, "rederived_reasoning");
  });

  it("is forgotten as soon as a call brings something", () => {
    const session = new Session();
    for (const [i, plan] of PLANS.entries()) {
      assert.equal(session.think(plan), false);
      session.call(read(`f${i}.ts`), `content ${"x".repeat(i)}`);
    }
  });

  it("is forgotten when the user speaks", () => {
    const session = new Session();
    for (const plan of PLANS) assert.equal(session.prompt().think(plan), false);
  });

  it("is forgotten while something is waited for", () => {
    const session = new Session();
    for (let i = 0; i < 7; i++) {
      assert.equal(
        session.think("The job is still running on the cluster, so I wait and ask again."),
        false,
      );
      session.call(bash("job 7"), "pending");
    }
  });

  it("is not forgotten for calls that bring nothing", () => {
    const session = new Session();
    session.call(bash("ls"), "a");
    const cut = PLANS.map((plan) => {
      session.call(bash("ls"), "a");
      return session.think(plan);
    });
    assert.ok(cut.includes(true));
  });

  it("without spaces between words is cut as well", () => {
    const session = new Session();
    const plans = [
      "首先读取加载器，然后修改相对路径的解析。",
      "先读取加载器，之后修改相对路径的解析。",
      "所以读取加载器，修改相对路径解析。",
    ];
    const cut = [...plans, ...plans, ...plans].map((plan) => session.think(plan));
    assert.ok(cut.includes(true));
  });
});

describe("messages on different things", () => {
  it("are left alone", () => {
    const session = new Session();
    const topics = [
      "The talk needs a hook; the outage of last winter is a story everyone remembers.",
      "For the middle part, three diagrams: the old topology, the split, the new ring.",
      "Latency fell to a tenth, cost by a third, pages per week from twelve to two.",
      "Questions to expect: why not a managed service, what about Brazil, who is on call.",
      "The demo should run offline; record it and keep the file on the stick.",
    ];
    for (const topic of topics) assert.equal(session.think(topic), false);
  });

  it("are left alone when each names new facts about the same", () => {
    const session = new Session();
    for (let i = 0; i < 8; i++) {
      assert.equal(
        session.think(`The handler in src/part_${i}.ts and test_${i} of the loader checks paths.`),
        false,
      );
    }
  });

  it("are left alone when they are short", () => {
    const session = new Session();
    for (let i = 0; i < 8; i++) assert.equal(session.think("Now update."), false);
  });
});

describe("an announcement", () => {
  const words = [
    "I'll fix the typo now.",
    "Let me open the file.",
    "Right, editing the file.",
    "Next, I change the line.",
    "I am going to do it.",
  ];

  it("that is not followed by the act is cut the fourth time", () => {
    const session = new Session();
    assert.deepEqual(
      words.map((text) => session.say(text)),
      [false, false, false, true, true],
    );
    assert.match(told(session.found[0]), /announced/);
  });

  it("need not begin like one, if it says the same", () => {
    const session = new Session();
    const same = [
      "I'll run the tests.",
      "Run the tests now.",
      "Tests, run them.",
      "Run tests now.",
    ];
    assert.equal(same.map((text) => session.say(text)).indexOf(true), 3);
    const other = new Session();
    other.say("I'll run the tests.");
    other.say(
      "Tests run: nine of nine pass, and none is skipped or marked as flaky any more, so that all is well with the tests that run.",
    );
    assert.equal(other.say("Let me run the tests."), false);
  });

  it("that is followed by a call is left alone", () => {
    const session = new Session();
    for (const [i, text] of words.entries()) {
      assert.equal(session.say(text), false);
      session.call(bash(`fix ${i}`), `fixed ${"x".repeat(i)}`);
    }
  });

  it("that is followed by a call which Pi rejects was meant", () => {
    const session = new Session();
    for (const text of words) {
      assert.equal(session.say(text), false);
      const rejected = { kind: "rejected", tool: "edit", reason: "schema", error: "no" } as const;
      session.policy.observe({ ...rejected, shape: "" });
    }
  });

  it("that is repeated although the user says to go on is cut as well", () => {
    const session = new Session();
    const same = [
      "I'll fix the typo in the README.",
      "Let me fix the README typo.",
      "Now I'll fix the typo in the README.",
    ];
    const cut = [...same, ...same].map((text) => session.prompt().say(text));
    assert.ok(cut.includes(true));
  });

  it("of something else after each prompt is a talk about plans", () => {
    const session = new Session();
    const plans = [
      "I'll start with the parser.",
      "Then I'd move the lexer out.",
      "Next I would drop the cache.",
      "I will write docs last.",
      "Let me name it Heron.",
    ];
    for (const plan of plans) assert.equal(session.prompt().say(plan), false);
  });

  it("that says nothing but that it will be done is the same after a prompt", () => {
    const session = new Session();
    for (let i = 0; i < 3; i++) assert.equal(session.prompt().say("Let me do it now."), false);
    assert.equal(session.prompt().say("I will do it."), true);
  });

  it("in the message that makes the call is no announcement alone", () => {
    const session = new Session();
    for (const text of words) {
      session.policy.observe({ kind: "message_start" });
      assert.equal(
        session.policy.observe({ kind: "text", stream: "output", block: 0, text }),
        undefined,
      );
      session.policy.observe({ kind: "message_end", thinking: "", output: text, calls: 1 });
    }
  });

  it("is over with a message that reports", () => {
    const session = new Session();
    for (const text of words) {
      assert.equal(session.say(text), false);
      session.say("Seven of nine tests pass; the other two need a network.");
    }
  });

  it("between thoughts counts all the same", () => {
    const session = new Session();
    const cut = words.map((text) => {
      session.think("Hm.");
      return session.say(text);
    });
    assert.equal(cut.indexOf(true), 3);
  });

  const are = [
    "Ich werde jetzt anfangen.",
    "我现在来修改。",
    "これから修正します。",
    "Je vais le faire.",
    "Сейчас я исправлю.",
  ];
  for (const text of are) it(`is "${text}"`, () => assert.equal(isAnnouncement(text), true));
  const areNot = [
    "",
    "Done: nine tests pass.",
    "Shall I fix it? Let me know?",
    `I'll ${"x".repeat(500)}`,
  ];
  for (const text of areNot) {
    it(`is not "${text.slice(0, 30)}"`, () => assert.equal(isAnnouncement(text), false));
  }
});

describe("the policy", () => {
  it("forgets everything on reset, and says how things stand", () => {
    const session = new Session();
    for (let i = 0; i < 5; i++) session.call(bash("ls"), "a");
    assert.equal(
      session.policy.status?.(),
      "4 calls in a row brought nothing new, 0 messages in a row said nothing new",
    );
    session.policy.reset();
    assert.equal(session.call(bash("ls"), "a"), true);
  });

  it("takes a change that another lane made for news", () => {
    const session = new Session();
    for (let i = 0; i < 5; i++) session.call(bash("npm test"), "1 failing");
    session.policy.observe({ kind: "changed", paths: ["/w/a.ts"] });
    assert.equal(session.call(bash("npm test"), "1 failing"), true);
  });

  it("forgets nothing when a message is cut", () => {
    const session = new Session();
    for (let i = 0; i < 5; i++) session.call(bash("npm test"), "1 failing");
    assert.equal(session.policy.observe({ kind: "cut", thinking: "" }), undefined);
    assert.equal(session.call(bash("npm test"), "1 failing"), false);
  });

  it("keeps only the beginning of a long message", () => {
    const session = new Session();
    assert.equal(session.say(Array.from({ length: 900 }, (_, i) => `word${i}x`).join(" ")), false);
  });
});
