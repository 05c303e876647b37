/**
 * Every text that a model reads. The defaults stand here; `loop-police.json` may replace each.
 *
 * `{placeholder}` tokens are filled in at run time; an unknown one stays as it is, so that a typo
 * in a user's text can be seen.
 */

/** The texts that `loop-police.json` may replace, each with what is sent if it does not. */
export const MESSAGE_DEFAULTS = {
  MSG_THINKING_LOOP:
    "⚠️ THINKING LOOP: your reasoning was repeating itself word for word, so it was stopped and " +
    "removed. Do not think it through again: decide on the next concrete step and take it.",
  MSG_SEMANTIC_LOOP:
    "⚠️ SEMANTIC LOOP: your reasoning kept coming back to the same paragraph, so it was stopped " +
    "and removed. Take another approach to the task.",
  MSG_OUTPUT_LOOP:
    "⚠️ OUTPUT LOOP: your answer was repeating itself word for word and was cut there. Do not " +
    "write that part again: go on from the cut, or finish with a short conclusion.",
  MSG_OUTPUT_SEMANTIC_LOOP:
    "⚠️ OUTPUT SEMANTIC LOOP: your answer kept coming back to the same paragraph and was cut " +
    "there. Do not write that part again: go on from the cut, or finish with a short conclusion.",
  MSG_CONSECUTIVE_LOOP:
    "⚠️ CONSECUTIVE LOOP ({count}x): your output had to be stopped {count} times in a row because " +
    "it kept looping. Give a short, direct answer now, or ask the user what you need to know.",
  MSG_STAGNATION:
    "⚠️ STAGNATION: your reasoning in each of the last {window} turns was at least {threshold}% " +
    "the same. It leads nowhere and was removed. Do something different.",
  MSG_FILE_SCAN_LOOP:
    '⚠️ FILE READ CEILING: "{path}" was read {count} times, so this read did not run. Search the ' +
    "file for what you need, or work with what you have seen of it.",
  MSG_SEARCH_SPIRAL:
    '⚠️ SEARCH SPIRAL: "{pattern}" would now be searched in {paths} places, so this search did ' +
    "not run. Looking in more places will not find it: reconsider what you are looking for.",
  MSG_REREAD:
    '⚠️ REDUNDANT RE-READ: "{path}" has not changed since you read it, so this read did not run; ' +
    "{count} of your last {window} reads were such repeats. Use what you already have. If you " +
    "lose track, write down what is done and what is left, and go on with what is left.",
  MSG_TOOL_LOOP:
    "⚠️ TOOL CALL LOOP: you are repeating your last {windowSize} call(s) exactly, so this call did " +
    "not run, and will not while you repeat it. Do something different, or use the results that " +
    "you already have.",
  MSG_REDERIVED:
    "⚠️ REDERIVED REASONING: you reasoned your way back to the plan that was just stopped, so " +
    "that reasoning was removed. Do not rebuild it. Take a different concrete step, or tell the " +
    "user what blocks you.",
  MSG_STUCK:
    "⚠️ STUCK ({count}x): you have come back to the same stopped plan {count} times. Stop here. " +
    "Tell the user what you were trying to do and what blocks it, and ask how to go on.",
  MSG_REJECTED_LOOP:
    "⚠️ REJECTED CALLS: {count} of your calls to {tool} were invalid and none of them ran. The " +
    "error: {error}. A valid call looks like this: {shape}",
  MSG_REFUSAL_IGNORED:
    "⚠️ REFUSAL IGNORED: this call to {tool} was refused {count} times in a row. It will not run, " +
    "and the run is being stopped. The user decides how to go on.",
  MSG_NO_PROGRESS: "⚠️ NO PROGRESS: {what}",
  MSG_NOTICE: "⚠️ POSSIBLE LOOP: {what}",
  MSG_SUFFIX: "",
} as const;

export type MessageKey = keyof typeof MESSAGE_DEFAULTS;

/** Longest value that is put into a text: paths, patterns and errors come from the model. */
const MAX_VALUE_CHARS = 600;

/** Fills in a template's placeholders and appends the suffix, if there is one. */
export function renderMessage(
  template: string,
  values: Readonly<Record<string, string | number>>,
  suffix: string,
): string {
  const text = template.replace(/\{(\w+)\}/g, (token, name: string) =>
    Object.hasOwn(values, name) ? shorten(String(values[name])) : token,
  );
  const tail = suffix.trim();
  return tail === "" ? text : `${text}\n\n${tail}`;
}

function shorten(value: string): string {
  return value.length <= MAX_VALUE_CHARS ? value : `${value.slice(0, MAX_VALUE_CHARS)}…`;
}

/** What stands in the transcript where something was taken out. */
export const MARKERS = {
  thinking_loop: "[Reasoning removed by loop-police: it was repeating itself.]",
  semantic_loop: "[Reasoning removed by loop-police: it kept returning to the same paragraph.]",
  output_loop: "[Cut by loop-police: the answer was repeating itself.]",
  output_semantic_loop: "[Cut by loop-police: the answer kept returning to the same paragraph.]",
  stagnation: "[Reasoning removed by loop-police: it was the same as in the turns before.]",
  rederived_reasoning:
    "[Reasoning removed by loop-police: it led back to a plan that was already stopped.]",
} as const;

/** What the user is told of a finding, in a few words. */
export const USER_WORDS = {
  thinking_loop: "thinking repeated itself and was stopped",
  semantic_loop: "thinking kept returning to the same paragraph and was stopped",
  output_loop: "the answer repeated itself and was stopped",
  output_semantic_loop: "the answer kept returning to the same paragraph and was stopped",
  stagnation: "thinking stagnated over several turns and was removed",
  file_scan_loop: "a file was read too often; the read was refused",
  redundant_reread: "files were read again unchanged; the read was refused",
  search_spiral: "a search spread over too many places; it was refused",
  tool_loop: "a sequence of tool calls repeated itself; the call was refused",
  rederived_reasoning: "thinking led back to a stopped plan and was removed",
  rejected_call_loop: "a tool was called with invalid arguments again and again",
  refusal_ignored: "a refused call was tried again and again",
} as const;

/** What the user is told when a run is stopped for good. */
export const USER_TEXTS = {
  recoveryLimit: (limit: number): string =>
    `loop-police stopped this run: the model kept looping after ${limit} recoveries. ` +
    "Rephrase the task, try another model, or allow more with /loop-police set RECOVERY_LIMIT=N.",
  refusalIgnored: (tool: string): string =>
    `loop-police stopped this run: the model kept trying the same refused ${tool} call. ` +
    "Tell it what to do instead, or clear a false alarm with /loop-police reset.",
} as const;
