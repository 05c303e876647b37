import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEvidencePolicy } from "../policy.ts";
import { Session } from "./support.ts";

type Reason = "schema" | "json" | "unknown_tool";

/** Which of `n` rejections stops the run. */
function stopsAt(session: Session, tools: readonly string[], reason: Reason = "schema"): number[] {
  return tools.flatMap((tool, at) => {
    const rejected = { kind: "rejected", tool, reason, error: "no path", shape: "{path}" } as const;
    return session.policy.observe(rejected) === undefined ? [] : [at + 1];
  });
}

const times = (n: number, tool: string) => Array<string>(n).fill(tool);

describe("calls that Pi rejects", () => {
  it("stop the run at the fourth of one tool, and every four further ones", () => {
    assert.deepEqual(stopsAt(new Session(), times(9, "edit")), [4, 8]);
  });

  it("are told with the error and the shape that is accepted", () => {
    const { policy } = new Session();
    const rejected = { kind: "rejected", tool: "edit", reason: "schema" } as const;
    const all = times(4, "").map(() => policy.observe({ ...rejected, error: "no", shape: "{p}" }));
    assert.deepEqual(all[3], {
      event: "rejected_call_loop",
      details: { toolName: "edit", count: 4, reason: "schema" },
      advice: {
        key: "MSG_REJECTED_LOOP",
        values: { tool: "edit", count: 4, error: "no", shape: "{p}" },
      },
      response: { kind: "cut", block: 0, keep: 0 },
    });
  });

  it("are counted for each tool, and unknown ones together", () => {
    assert.deepEqual(stopsAt(new Session(), ["edit", "read", "edit", "read", "edit", "read"]), []);
    assert.deepEqual(stopsAt(new Session(), ["a", "b", "c", "d"], "unknown_tool"), [4]);
  });

  it("are forgiven after a valid call of the tool, and when the user speaks", () => {
    const session = new Session();
    assert.deepEqual(stopsAt(session, times(3, "edit")), []);
    session.call({ tool: "edit", input: { path: "a" } }, "Edited.");
    assert.deepEqual(stopsAt(session, times(3, "edit")), []);
    session.prompt();
    assert.deepEqual(stopsAt(session, times(3, "edit")), []);
  });

  it("are never counted where the limit is 0", () => {
    const policy = createEvidencePolicy({ REJECTED_LOOP_LIMIT: 0 });
    const rejected = { kind: "rejected", tool: "edit", reason: "json" } as const;
    for (let i = 0; i < 9; i++) {
      assert.equal(policy.observe({ ...rejected, error: "", shape: "" }), undefined);
    }
  });
});
