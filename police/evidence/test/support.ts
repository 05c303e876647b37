/** Plays a session to the evidence policy, the way the package does it for a real one. */

import type { Call, Detection, Detector } from "../../detectors/types.ts";
import { createEvidencePolicy } from "../policy.ts";

export interface Answer {
  readonly text: string;
  readonly isError?: boolean;
}

/** A call as a test writes it down. */
export interface Asked {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

const ROLES: readonly (readonly [Call["role"], RegExp])[] = [
  ["write", /write|edit|create/],
  ["search", /grep|search|find|glob/],
  ["read", /read|view/],
];

export const CONFIG = { REJECTED_LOOP_LIMIT: 4 };

let count = 0;

export function callOf({ tool, input }: Asked): Call {
  const { path, pattern } = input;
  const paths = typeof path === "string" ? [`/w/${path}`] : [];
  const role = ROLES.find(([, words]) => words.test(tool))?.[0] ?? "other";
  const key = `${tool} ${JSON.stringify(input)}`;
  const call: Call = { id: `call ${++count}`, tool, key, input, role, paths, at: 0 };
  return typeof pattern === "string" ? { ...call, pattern } : call;
}

/** What the model is told about a detection. */
export function told(detection: Detection | undefined): string {
  const { what = "" } = detection?.advice.values ?? {};
  return String(what);
}

export function bash(command: string): Asked {
  return { tool: "bash", input: { command } };
}

export function read(path: string, offset?: number, limit?: number): Asked {
  return { tool: "read", input: { path, ...(offset === undefined ? {} : { offset, limit }) } };
}

/** A session that notes what was detected. */
export class Session {
  readonly policy: Detector = createEvidencePolicy(CONFIG);
  readonly found: Detection[] = [];
  /** How many calls ran and how many were refused. */
  ran = 0;
  refused = 0;

  prompt(): this {
    this.#note(this.policy.observe({ kind: "prompt" }));
    return this;
  }

  /** One message with one call; says whether it ran. */
  call(asked: Asked, answer: string | Answer): boolean {
    return this.batch([[asked, answer]]) === 1;
  }

  /** One message with several calls, each looked at before any runs; says how many ran. */
  batch(calls: readonly (readonly [Asked, string | Answer])[]): number {
    this.policy.observe({ kind: "message_start" });
    const end = { kind: "message_end", thinking: "", output: "", calls: calls.length } as const;
    this.policy.observe(end);
    const open: [Call, Answer][] = [];
    for (const [asked, answer] of calls) {
      const call = callOf(asked);
      const detection = this.#note(this.policy.observe({ kind: "call", call }));
      if (detection?.response.kind === "block") {
        this.policy.observe({ kind: "refused", call });
        this.refused++;
      } else {
        this.policy.observe({ kind: "admitted", call });
        open.push([call, typeof answer === "string" ? { text: answer } : answer]);
      }
    }
    for (const [call, { text, isError = false }] of open) {
      this.#note(this.policy.observe({ kind: "result", call, ran: true, isError, text, at: 0 }));
    }
    this.ran += open.length;
    return open.length;
  }

  /** One message without calls, streamed in pieces; says whether it was cut. */
  say(text: string, stream: "thinking" | "output" = "output", piece = 20): boolean {
    this.policy.observe({ kind: "message_start" });
    for (let i = 0; i < text.length; i += piece) {
      const part = { kind: "text", stream, block: 0, text: text.slice(i, i + piece) } as const;
      if (this.#note(this.policy.observe(part))?.response.kind === "cut") return true;
    }
    const thinking = stream === "thinking" ? text : "";
    const output = stream === "output" ? text : "";
    this.#note(this.policy.observe({ kind: "message_end", thinking, output, calls: 0 }));
    return false;
  }

  think(text: string): boolean {
    return this.say(text, "thinking");
  }

  #note(detection: Detection | undefined): Detection | undefined {
    if (detection !== undefined) this.found.push(detection);
    return detection;
  }
}

/** The number, from 1, of the first of `n` equal calls that is refused; 0 if none is. */
export function refusedAt(n: number, asked: Asked, answer: (i: number) => string | Answer): number {
  const session = new Session();
  for (let i = 0; i < n; i++) if (!session.call(asked, answer(i))) return i + 1;
  return 0;
}
