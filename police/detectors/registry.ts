/**
 * The detectors of each profile, in the order in which they are asked; the first that finds
 * something ends the round. A new detector is one file beside this one and one line here.
 */

import type { Config, Profile } from "../config/keys.ts";
import { createEvidencePolicy } from "../evidence/policy.ts";
import { createFileScan } from "./file_scan.ts";
import { createRederived } from "./rederived.ts";
import { createRefusals } from "./refusals.ts";
import { createRejectedCalls } from "./rejected_calls.ts";
import { createRepeatingParagraphs } from "./repeating_paragraphs.ts";
import { createRepeatingText } from "./repeating_text.ts";
import { createReread } from "./reread.ts";
import { createSearchSpiral } from "./search_spiral.ts";
import { createStagnation } from "./stagnation.ts";
import { createToolLoop } from "./tool_loop.ts";
import type { Detector } from "./types.ts";

export type DetectorFactory = (config: Readonly<Config>) => Detector;

export const DETECTORS: Readonly<Record<Profile, readonly DetectorFactory[]>> = {
  classic: [
    createRepeatingText,
    createRepeatingParagraphs,
    createRederived,
    createStagnation,
    createToolLoop,
    createFileScan,
    createReread,
    createSearchSpiral,
    createRejectedCalls,
    createRefusals,
  ],
  evidence: [createEvidencePolicy, createRejectedCalls, createRefusals],
};
