/** The detections that the calls give rise to, with what the model is told. */

import type { Detection, Response } from "../../detectors/types.ts";
import type { Profile } from "./profile.ts";

const BLOCK: Response = { kind: "block", terminate: false };

function noProgress(
  profile: Profile,
  count: number,
  what: string,
  response: Response = BLOCK,
): Detection {
  return {
    event: "tool_loop",
    details: { toolName: profile.tool, windowSize: count, banned: false },
    advice: {
      key: response.kind === "notice" ? "MSG_NOTICE" : "MSG_NO_PROGRESS",
      values: { what },
    },
    response,
  };
}

export function repeatedCall(profile: Profile, runs: number, windowSize: number): Detection {
  if (profile.kind === "read" && profile.ranges.length > 0) return redundantRead(profile, runs, 20);
  const where = windowSize === 1 ? "this same call" : "this same round of calls";
  return noProgress(
    profile,
    windowSize,
    `${where} has run ${runs} times and every time the answer was the same. It was not run again. ` +
      "Use the answer you have, change something first, or say what keeps you from going on.",
  );
}

export function uselessWait(profile: Profile, runs: number): Detection {
  return noProgress(
    profile,
    1,
    `you asked ${runs} times and the state has not changed. It was not asked again. ` +
      "Wait longer before you ask (for instance with `sleep 60`), do something else meanwhile, or tell the user what you are waiting for.",
  );
}

export function redundantRead(profile: Profile, count: number, window: number): Detection {
  const path = profile.ranges[0]?.path ?? profile.query;
  return {
    event: "redundant_reread",
    details: { toolName: profile.tool, path, count, window },
    advice: { key: "MSG_REREAD", values: { path, count, window } },
    response: BLOCK,
  };
}

export function sameHits(profile: Profile, count: number): Detection {
  return {
    event: "search_spiral",
    details: { toolName: profile.tool, pattern: profile.query, paths: count },
    advice: {
      key: "MSG_NO_PROGRESS",
      values: {
        what:
          `your last ${count} searches, in different words, all found the same. This one was not run. ` +
          "Open one of the hits and work with it, or look for something else.",
      },
    },
    response: BLOCK,
  };
}

export function noHits(profile: Profile, count: number): Detection {
  return {
    event: "search_spiral",
    details: { toolName: profile.tool, pattern: profile.query, paths: count },
    advice: {
      key: "MSG_NO_PROGRESS",
      values: {
        what:
          `your last ${count} searches found nothing. This one was not run. ` +
          "What you look for is probably not there under any such name: list the files and read, or ask the user.",
      },
    },
    response: BLOCK,
  };
}

export function sameFault(profile: Profile, count: number, text: string): Detection {
  return noProgress(
    profile,
    1,
    `the last ${count} attempts with other arguments all failed with the same fault: ${text} ` +
      "The arguments are not what is wrong. This call was not run. Mend the cause first, or tell the user what is missing.",
  );
}

export function sameAnswers(profile: Profile, count: number): Detection {
  return noProgress(
    profile,
    1,
    `the last ${count} calls, with slightly different arguments, all brought the same answer. ` +
      "This one was not run. Use the answer you have, or go another way.",
  );
}

export function emptyAnswers(profile: Profile, count: number): Detection {
  return noProgress(
    profile,
    1,
    `you made this same call ${count} times and only numbers in its answer changed. ` +
      "If you are waiting for something, wait longer between the calls; if not, go on.",
    { kind: "notice" },
  );
}
