import { BoundedMap } from "./detectors/bounded_map.ts";
import { type Call, MAX_RESULT_CHARS, type RejectionReason } from "./detectors/types.ts";

/** Calls on their way at a time; Pi runs one batch, of at most some dozens. */
const MAX_OPEN = 1000;

/** A call between its start and its end. */
export interface OpenCall {
  readonly tool: string;
  /** The arguments as the model wrote them. */
  readonly rawInput: unknown;
  readonly parent: string | undefined;
  /** The call as the hook saw it; absent as long as it did not get there. */
  call?: Call;
  refused?: boolean;
  ran?: boolean;
}

/** What became of a call, told from what Pi lets extensions see of it. */
export type Ending =
  | { readonly kind: "result"; readonly call: Call; readonly ran: boolean }
  | { readonly kind: "rejected"; readonly reason: RejectionReason }
  /** Refused by another extension, before this one was asked. */
  | { readonly kind: "refused_elsewhere" }
  /** Refused by this one, or ended by an abort or the output limit. */
  | { readonly kind: "settled" };

/** The calls that are on their way, by Pi's ids. */
export type OpenCalls = BoundedMap<string, OpenCall>;

export function createOpenCalls(): OpenCalls {
  return new BoundedMap(MAX_OPEN);
}

/** How Pi's own words begin when it rejects a call before any hook. */
const REJECTIONS: readonly (readonly [RejectionReason, RegExp])[] = [
  ["schema", /^Validation failed for tool "/],
  ["json", /^Invalid arguments for tool "/],
  ["unknown_tool", /^Tool .{1,200} not found$/],
];

/** How they begin when the call did not run for a reason that is not the model's. */
const NOBODYS_FAULT = /^(Operation aborted|Tool call "[^"]*" was not executed: the response hit)/;

export function endingOf(open: OpenCall | undefined, text: string, isError: boolean): Ending {
  if (open?.call !== undefined) {
    if (open.refused === true) return { kind: "settled" };
    return { kind: "result", call: open.call, ran: open.ran === true };
  }
  if (!isError || NOBODYS_FAULT.test(text)) return { kind: "settled" };
  const reason = REJECTIONS.find(([, words]) => words.test(text))?.[0];
  return reason === undefined ? { kind: "refused_elsewhere" } : { kind: "rejected", reason };
}

/** Pi repeats the arguments after the error; only the error is worth repeating. */
export function errorOf(text: string): string {
  return (text.split(/\n\s*Received arguments:/, 1)[0] as string).replace(/\s+/g, " ").trim();
}

/** The text of a result's content, up to a bound. */
export function resultText(result: unknown): string {
  const content = (result as { content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return "";
  const texts = content.map(({ text }: { text?: unknown }) =>
    typeof text === "string" ? text.slice(0, MAX_RESULT_CHARS) : "",
  );
  return texts.join("\n").slice(0, MAX_RESULT_CHARS);
}
