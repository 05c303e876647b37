/** Observations for tests, with the parts filled in that a test does not speak of. */

import { type Config, defaultConfig } from "../config/keys.ts";
import type { Call, Detection, Detector, Observation, ToolRole } from "../detectors/types.ts";

let calls = 0;

export function call(tool: string, role: ToolRole, paths: readonly string[] = []): Call {
  calls += 1;
  const key = `${tool}:${paths.join()}`;
  return { id: `id${calls}`, tool, key, input: {}, role, paths, at: 0 };
}

export function read(...paths: string[]): Call {
  return call("read", "read", paths);
}

export function write(...paths: string[]): Call {
  return call("edit", "write", paths);
}

export function search(pattern: string, ...paths: string[]): Call {
  return { ...call("grep", "search", paths), pattern };
}

export function config(values: Partial<Config> = {}): Config {
  return { ...defaultConfig(), ...values };
}

export function result(of: Call, ended: { ran?: boolean; isError?: boolean } = {}): Observation {
  return { kind: "result", call: of, ran: true, isError: false, text: "", at: 0, ...ended };
}

/** Asks about a call, and counts it if the detector has nothing against it. */
export function tryCall(detector: Detector, tried: Call): Detection | undefined {
  const detection = detector.observe({ kind: "call", call: tried });
  if (detection === undefined) {
    detector.observe({ kind: "admitted", call: tried });
    detector.observe(result(tried));
  }
  return detection;
}

export function thought(thinking: string): Observation {
  return { kind: "message_end", thinking, output: "", calls: 1 };
}
