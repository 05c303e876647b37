import type { Config } from "./config/keys.ts";
import { BoundedMap } from "./detectors/bounded_map.ts";
import { DETECTORS } from "./detectors/registry.ts";
import type { Call, Detection, Detector, Observation } from "./detectors/types.ts";

/** Tools that call other tools and run at the same time; each has detectors of its own. */
const MAX_NESTED_LANES = 16;

/** What the detectors say of a call, in the order in which they said it. */
export interface Verdict {
  readonly detections: readonly Detection[];
  readonly refused: boolean;
}

/**
 * Runs the profile's detectors. The model's own calls are one lane; the calls that one other tool
 * makes are a lane of their own, that ends with the tool.
 */
export class Watch {
  readonly #config: Readonly<Config>;
  readonly #nested = new BoundedMap<string, Detector[]>(MAX_NESTED_LANES);
  #main: Detector[];
  #profile: Config["PROFILE"];
  #faults = 0;

  constructor(config: Readonly<Config>) {
    this.#config = config;
    this.#profile = config.PROFILE;
    this.#main = this.#create();
  }

  /** Shows what happened to the detectors that it concerns. */
  observe(seen: Observation): Detection | undefined {
    this.#followProfile();
    if (seen.kind === "prompt" || seen.kind === "context_lost") this.#nested.clear();
    const lane = "call" in seen ? this.#lane(seen.call.parent) : this.#main;
    if (seen.kind === "result" && seen.ran && !seen.isError) this.#spreadChange(seen.call, lane);
    return this.#ask(lane, seen);
  }

  /** Asks about a call and counts it as what became of it. */
  judge(call: Call): Verdict {
    const detection = this.observe({ kind: "call", call });
    if (detection?.response.kind !== "block") {
      this.observe({ kind: "admitted", call });
      return { detections: detection === undefined ? [] : [detection], refused: false };
    }
    const ignored = this.observe({ kind: "refused", call });
    return { detections: ignored ? [detection, ignored] : [detection], refused: true };
  }

  /** Ends the lane of a tool that called other tools. */
  endLane(parent: string): void {
    this.#nested.delete(parent);
  }

  reset(): void {
    this.#nested.clear();
    this.#main = this.#create();
  }

  status(): readonly string[] {
    const lines = this.#main.map((detector) => detector.status?.() ?? "");
    if (this.#faults > 0) lines.push(`faults in detectors: ${this.#faults}`);
    return lines.filter((line) => line !== "");
  }

  #create(): Detector[] {
    return DETECTORS[this.#config.PROFILE].map((create) => create(this.#config));
  }

  #followProfile(): void {
    if (this.#profile === this.#config.PROFILE) return;
    this.#profile = this.#config.PROFILE;
    this.reset();
  }

  #lane(parent: string | undefined): Detector[] {
    if (parent === undefined) return this.#main;
    const lane = this.#nested.get(parent) ?? this.#create();
    this.#nested.set(parent, lane);
    return lane;
  }

  #spreadChange(call: Call, lane: Detector[]): void {
    if (call.role !== "write") return;
    for (const other of [this.#main, ...this.#nested.values()]) {
      if (other !== lane) this.#ask(other, { kind: "changed", paths: call.paths });
    }
  }

  #ask(lane: Detector[], seen: Observation): Detection | undefined {
    for (const detector of lane) {
      const detection = this.#askOne(detector, seen);
      if (detection === undefined) continue;
      for (const each of lane) this.#askOne(each, { kind: "detected", event: detection.event });
      return detection;
    }
    return undefined;
  }

  /** A detector's fault is no detection: nothing is refused or stopped because of it. */
  #askOne(detector: Detector, seen: Observation): Detection | undefined {
    try {
      return detector.observe(seen);
    } catch {
      this.#faults++;
      return undefined;
    }
  }
}
