import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { createRederived } from "../detectors/rederived.ts";
import { createRepeatingParagraphs } from "../detectors/repeating_paragraphs.ts";
import { createRepeatingText } from "../detectors/repeating_text.ts";
import { createStagnation } from "../detectors/stagnation.ts";
import type { Detection, Detector, Stream } from "../detectors/types.ts";
import { config, thought } from "./observations.ts";

/** Sends a text in small pieces; says what was found, and how much had been sent by then. */
function stream(detector: Detector, text: string, kind: Stream = "output", block = 0, piece = 7) {
  for (let at = 0; at < text.length; at += piece) {
    const observed = {
      kind: "text",
      stream: kind,
      block,
      text: text.slice(at, at + piece),
    } as const;
    const found = detector.observe(observed);
    if (found !== undefined) return { found, sent: at + observed.text.length };
  }
  return undefined;
}

/** Text without any repetition. */
function unique(length: number): string {
  let text = "";
  for (let n = 0; text.length < length; n++) text += `${n * 7919} is number ${n}. `;
  return text.slice(0, length);
}

function keepOf(detection: Detection | undefined): number | undefined {
  return detection?.response.kind === "cut" ? detection.response.keep : undefined;
}

describe("A stream that repeats itself word for word", () => {
  it("is cut behind the first copy", () => {
    const detector = createRepeatingText(config());
    const text = unique(130).repeat(3);
    const cut = stream(detector, text);
    assert.deepEqual(cut?.found, {
      event: "output_loop",
      details: { stream: "output", kind: "character", escalated: false },
      advice: { key: "MSG_OUTPUT_LOOP", values: {} },
      response: { kind: "cut", block: 0, keep: 170 },
    });
    assert.ok(cut.sent <= 300 + 7, "within one stride of the second copy's end");
  });

  it("is cut in thinking from 80 characters on, in an answer from 100", () => {
    const text = unique(90).repeat(3);
    assert.equal(stream(createRepeatingText(config()), text), undefined);
    const cut = stream(createRepeatingText(config()), text, "thinking");
    assert.equal(cut?.found.event, "thinking_loop");
    assert.equal(cut?.found.advice.key, "MSG_THINKING_LOOP");
    assert.equal(
      stream(createRepeatingText(config()), unique(70).repeat(2), "thinking"),
      undefined,
    );
  });

  it("is found at the same place however it arrives", () => {
    const text = unique(1000) + unique(130).repeat(5);
    const places = [1, 7, 64, 10_000].map((piece) =>
      keepOf(stream(createRepeatingText(config()), text, "output", 0, piece)?.found),
    );
    assert.deepEqual(new Set(places).size, 1);
  });

  it("is found in any block of the message, each by itself", () => {
    const detector = createRepeatingText(config());
    assert.equal(stream(detector, unique(130), "thinking", 0), undefined);
    assert.equal(stream(detector, unique(130), "output", 1), undefined);
    const cut = stream(detector, unique(130).repeat(3), "thinking", 2);
    assert.equal(cut?.found.response.kind === "cut" && cut.found.response.block, 2);
  });

  it("does not go on from message to message", () => {
    const detector = createRepeatingText(config());
    for (let i = 0; i < 5; i++) {
      assert.equal(stream(detector, unique(130)), undefined);
      detector.observe({ kind: "message_start" });
    }
    assert.equal(stream(detector, unique(130)), undefined);
    detector.reset();
    assert.equal(stream(detector, unique(130)), undefined);
  });

  it("is left alone when the detector is off or finds no room between its bounds", () => {
    const text = unique(130).repeat(5);
    for (const off of [{ OUTPUT_WINDOW: 0 }, { OUTPUT_WINDOW: 500, MAX_WINDOW: 400 }]) {
      assert.equal(stream(createRepeatingText(config(off)), text), undefined);
    }
    const thinkingOff = createRepeatingText(config({ THINKING_WINDOW: 0 }));
    assert.equal(stream(thinkingOff, text, "thinking"), undefined);
  });
});

describe("A stream that comes back to the same paragraph", () => {
  const opening = "Let me think about this problem from the very beginning, step by step";
  const drifting = [1, 2, 3].map((n) => `${opening}, try ${n}. ${unique(20 * n)}`).join("\n\n");

  it("is cut before the third one", () => {
    const cut = stream(createRepeatingParagraphs(config()), drifting, "thinking");
    assert.deepEqual(cut?.found, {
      event: "semantic_loop",
      details: { stream: "thinking", kind: "semantic", escalated: false },
      advice: { key: "MSG_SEMANTIC_LOOP", values: {} },
      response: { kind: "cut", block: 0, keep: drifting.lastIndexOf(opening) },
    });
    const answer = stream(createRepeatingParagraphs(config()), drifting, "output");
    assert.equal(answer?.found.event, "output_semantic_loop");
    assert.equal(answer?.found.advice.key, "MSG_OUTPUT_SEMANTIC_LOOP");
  });

  it("is left alone at the second one, and over several messages", () => {
    const detector = createRepeatingParagraphs(config());
    const twice = drifting.slice(0, drifting.lastIndexOf(opening));
    for (const forget of [
      () => detector.observe({ kind: "message_start" }),
      () => detector.reset(),
    ]) {
      assert.equal(stream(detector, twice), undefined);
      forget();
    }
  });

  it("is left alone when the detector is off", () => {
    const off = createRepeatingParagraphs(config({ SEMANTIC_THRESHOLD: 0 }));
    assert.equal(stream(off, drifting), undefined);
  });
});

describe("Thinking that turns on the spot", () => {
  const similar = (n: number) =>
    `one two three four five six seven eight nine ten eleven twelve ${n}`;

  it("is stopped in the fourth turn, and after that in the eighth", () => {
    const detector = createStagnation(config());
    const found = Array.from({ length: 8 }, (_, n) => detector.observe(thought(similar(n % 2))));
    assert.deepEqual(
      found.map((detection) => detection !== undefined),
      [false, false, false, true, false, false, false, true],
    );
    assert.deepEqual(found[3], {
      event: "stagnation",
      details: { window: 4, threshold: 0.85 },
      advice: { key: "MSG_STAGNATION", values: { window: 4, threshold: 85 } },
      response: { kind: "sanitize", scrub: 4 },
    });
  });

  it("is left alone when one thought differs; a turn without thinking does not count", () => {
    const detector = createStagnation(config());
    const thoughts = [similar(0), similar(0), "", similar(0), "something else", similar(0)];
    for (const text of thoughts) assert.equal(detector.observe(thought(text)), undefined);
    assert.equal(detector.status?.(), "similar thoughts: 1 in a row");
  });

  it("is left alone when it is blank", () => {
    const detector = createStagnation(config());
    for (let i = 0; i < 9; i++) assert.equal(detector.observe(thought("\n")), undefined);
  });

  it("is left alone when the user speaks in between, and when the detector is off", () => {
    const detector = createStagnation(config());
    for (const forget of [() => detector.observe({ kind: "prompt" }), () => detector.reset()]) {
      for (let i = 0; i < 3; i++) assert.equal(detector.observe(thought(similar(0))), undefined);
      forget();
    }
    const off = createStagnation(config({ STAGNATION_WINDOW: 0 }));
    for (let i = 0; i < 9; i++) assert.equal(off.observe(thought(similar(0))), undefined);
  });
});

describe("Reasoning that leads back to what was stopped", () => {
  const plan = "I will run the failing build again because it may work this time around";

  it("is removed, and more firmly the second time", () => {
    const detector = createRederived(config());
    detector.observe(thought(plan));
    detector.observe({ kind: "detected", event: "tool_loop" });
    assert.deepEqual(detector.observe(thought(plan)), {
      event: "rederived_reasoning",
      details: { streak: 1 },
      advice: { key: "MSG_REDERIVED", values: {} },
      response: { kind: "sanitize", scrub: 1 },
    });
    detector.observe({ kind: "detected", event: "rederived_reasoning" });
    const again = detector.observe(thought(plan));
    assert.deepEqual(again?.advice, { key: "MSG_STUCK", values: { count: 2 } });
    assert.equal(detector.status?.(), "re-derived reasoning: idle, 2 in a row");
  });

  it("is compared with what was left of a thought that was cut", () => {
    const detector = createRederived(config());
    detector.observe({ kind: "cut", thinking: plan });
    detector.observe({ kind: "detected", event: "thinking_loop" });
    detector.observe({ kind: "cut", thinking: " " });
    assert.equal(detector.observe(thought(plan))?.event, "rederived_reasoning");
  });

  it("is left alone without a detection before it", () => {
    const detector = createRederived(config());
    for (let i = 0; i < 3; i++) assert.equal(detector.observe(thought(plan)), undefined);
  });

  it("is left alone when both thoughts are blank", () => {
    const detector = createRederived(config());
    detector.observe(thought("\n"));
    detector.observe({ kind: "detected", event: "tool_loop" });
    assert.equal(detector.observe(thought("\n")), undefined);
  });

  it("is left alone one message later, and when it differs or there is none", () => {
    const detector = createRederived(config());
    for (const next of ["something else entirely", ""]) {
      detector.observe(thought(plan));
      detector.observe({ kind: "detected", event: "tool_loop" });
      assert.equal(detector.status?.(), "re-derived reasoning: on guard, 0 in a row");
      assert.equal(detector.observe(thought(next)), undefined);
      assert.equal(detector.observe(thought(plan)), undefined);
    }
  });

  it("is left alone with nothing to compare: at first, after a prompt, after a reset", () => {
    const detector = createRederived(config());
    for (const forget of [
      () => undefined,
      () => detector.observe({ kind: "prompt" }),
      () => detector.reset(),
    ]) {
      forget();
      detector.observe({ kind: "detected", event: "tool_loop" });
      assert.equal(detector.observe(thought(plan)), undefined);
    }
  });

  it("is left alone when the detector is off", () => {
    const detector = createRederived(config({ REDERIVE_THRESHOLD: 0 }));
    detector.observe(thought(plan));
    detector.observe({ kind: "detected", event: "tool_loop" });
    assert.equal(detector.observe(thought(plan)), undefined);
  });
});
