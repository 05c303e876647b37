/** Reads a shell command just far enough to tell what it does: read, search, change, wait. */

export type ShellKind = "read" | "search" | "list" | "change" | "wait" | "other";

/** Lines of a file that a call shows: 1-based, both ends included. */
export interface LineRange {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

export interface ShellReading {
  readonly kind: ShellKind;
  /** The command without what makes no difference: spaces, comments, redirects, quiet flags. */
  readonly canonical: string;
  /** The program that does the work. */
  readonly program: string;
  /** Files it reads, with their lines where the command says which. */
  readonly ranges: readonly LineRange[];
  /** It looks at the state of something that changes by itself. */
  readonly asksForState: boolean;
  /** It sleeps or waits, alone or before it does something. */
  readonly waits: boolean;
}

const READERS = new Set(["cat", "head", "tail", "less", "more", "nl", "bat"]);
const SEARCHERS = new Set(["grep", "egrep", "fgrep", "rg", "ag", "ack"]);
const LISTERS = new Set(["ls", "find", "fd", "tree", "locate", "dir"]);
const NOISE = new Set(["echo", "printf", "true", ":", "date", "pwd", "set", "clear"]);
const WRAPPERS = new Set(["sudo", "time", "nohup", "env", "exec", "command", "stdbuf", "npx"]);
/** Programs that change files or running processes whenever they succeed. */
const CHANGERS = new Set(
  "mv cp rm mkdir rmdir touch tee patch chmod chown ln kill pkill killall systemctl service unzip tar truncate dd rsync".split(
    " ",
  ),
);
/** Programs that change something with some of their verbs. */
const CHANGING_VERBS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    git: /^(?:checkout|apply|commit|merge|rebase|reset|stash|pull|switch|restore|clone|add|cherry-pick|revert|rm|mv|clean|am|init|tag|push|bisect)$/,
    npm: /^(?:i|install|ci|add|remove|update|uninstall|link|init|upgrade)$/,
    pnpm: /^(?:i|install|add|remove|update|link|init|up)$/,
    yarn: /^(?:install|add|remove|upgrade|init)$/,
    bun: /^(?:i|install|add|remove|update|init)$/,
    pip: /^(?:install|uninstall)$/,
    uv: /^(?:add|remove|sync|lock|pip|venv|init)$/,
    poetry: /^(?:add|remove|install|update|lock|init)$/,
    apt: /^(?:install|remove|upgrade|update)$/,
    "apt-get": /^(?:install|remove|upgrade|update)$/,
    brew: /^(?:install|uninstall|upgrade)$/,
    cargo: /^(?:add|install|remove|update|fmt|fix|init|new)$/,
    go: /^(?:get|mod|install|fmt|generate)$/,
    gem: /^(?:install|uninstall)$/,
    docker: /^(?:build|run|start|stop|restart|rm|rmi|compose|pull|exec)$/,
    kubectl: /^(?:apply|delete|create|rollout|scale|patch|edit|restart)$/,
    terraform: /^(?:apply|destroy|init|import)$/,
  }),
);
/** Flags that change how much is printed and not what is done; order and spacing go as well. */
const QUIET = /^(?:-q|-v|-vv|-s|--quiet|--verbose|--silent|--no-color|--color=\S+)$/;
const STATE =
  /(?:^|[\W_])(?:status|state|wait|poll|health|ready|jobs?|pods?|queue|progress|ping)(?:$|[\W_])/;

/** Longest command that is taken apart; the rest of a longer one only counts for equality. */
const LONGEST = 4_000;

export function readShell(command: string): ShellReading {
  const segments = split(command.slice(0, LONGEST))
    .map(words)
    .filter((s) => s.length > 0);
  const working = segments.filter((s) => !isNoise(s));
  const kept = working.length > 0 ? working : segments;
  const main = kept.find((s) => program(s) !== "sleep") ?? [];
  const kind = kindOf(kept, segments, command);
  const rest = command.length > LONGEST ? command.slice(LONGEST) : "";
  return {
    kind,
    canonical:
      kept
        .map(canonical)
        .filter((s) => s !== "")
        .join(" ; ") + rest,
    program: program(main),
    ranges: kind === "read" ? kept.flatMap(rangesOf) : [],
    asksForState: program(main) !== "git" && STATE.test(command),
    waits: segments.some((s) => program(s) === "sleep" || program(s) === "wait"),
  };
}

/** Splits at `&&`, `||`, `;`, `|`, `&` and line ends outside of quotes; drops comments. */
function split(command: string): string[] {
  const parts: string[] = [];
  let part = "";
  let quote = "";
  for (let i = 0; i < command.length; i++) {
    const c = command.charAt(i);
    if (quote !== "") {
      if (c === quote) quote = "";
      part += c;
    } else if (c === "'" || c === '"') {
      quote = c;
      part += c;
    } else if (c === "\\") {
      part += c + command.charAt(++i);
    } else if (c === "#" && /(?:^|\s)$/.test(part)) {
      while (i + 1 < command.length && command.charAt(i + 1) !== "\n") i++;
    } else if (
      c === "\n" ||
      c === ";" ||
      c === "|" ||
      (c === "&" && command.charAt(i - 1) !== ">")
    ) {
      if (c === "&" && command.charAt(i + 1) === ">") {
        part += c;
        continue;
      }
      parts.push(part);
      part = "";
    } else {
      part += c;
    }
  }
  parts.push(part);
  return parts;
}

/** The words of a simple command without quotes, assignments and wrappers such as `sudo`. */
function words(segment: string): string[] {
  const found = (segment.match(/(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? []).map((word) =>
    word.replace(/^(["'])(.*)\1$/s, "$2"),
  );
  let first = 0;
  for (; first < found.length - 1; first++) {
    const word = found[first] as string;
    if (word === "timeout" || word === "gtimeout") first++;
    else if (!WRAPPERS.has(word) && !/^[A-Za-z_]\w*=/.test(word)) break;
  }
  const rest = found.slice(first);
  if (/^python[\d.]*$/.test(rest[0] ?? "") && rest[1] === "-m") return rest.slice(2);
  return rest;
}

function program(segment: readonly string[]): string {
  return (segment[0] ?? "").replace(/^.*\//, "");
}

function isNoise(segment: readonly string[]): boolean {
  const name = program(segment);
  if (segment.some((word) => /^\d?>/.test(word) && !isDiscard(word))) return false;
  return NOISE.has(name) || (name === "cd" && (segment[1] ?? ".") === ".");
}

const DISCARD = /^(?:&>|\d?>>?)(?:&\d|\/dev\/null)?$|^&>\/dev\/null$/;

function isDiscard(word: string): boolean {
  return DISCARD.test(word) && word !== ">" && word !== ">>";
}

function canonical(segment: readonly string[]): string {
  const name = program(segment);
  // What only cuts the output is no part of the work: results are compared anyway.
  if (READERS.has(name) && !segment.slice(1).some((word) => /^[^-\d+]/.test(word))) return "";
  return segment
    .filter((word) => !isDiscard(word) && word !== "/dev/null" && !QUIET.test(word))
    .join(" ");
}

function kindOf(
  kept: readonly (readonly string[])[],
  all: readonly (readonly string[])[],
  command: string,
): ShellKind {
  if (kept.some(changes) || all.some(redirects)) return "change";
  const names = kept.map(program).filter((name) => name !== "cd");
  if (names.every((name) => name === "sleep" || name === "wait") && names.length > 0) return "wait";
  if (names.some((name) => SEARCHERS.has(name)) || /\bgit grep\b/.test(command)) return "search";
  const first = names[0] ?? "";
  if (LISTERS.has(first)) return "list";
  const reads = (name: string) =>
    READERS.has(name) || name === "sed" || name === "wc" || name === "awk";
  if ((READERS.has(first) || first === "sed" || first === "awk") && names.every(reads))
    return "read";
  return "other";
}

function redirects(segment: readonly string[]): boolean {
  return segment.some(
    (word, at) =>
      (/^(?:1|&)?>>?[^&]/.test(word) && !word.endsWith("/dev/null")) ||
      (/^(?:1|&)?>>?$/.test(word) &&
        segment[at + 1] !== undefined &&
        segment[at + 1] !== "/dev/null"),
  );
}

function changes(segment: readonly string[]): boolean {
  const name = program(segment);
  if (CHANGERS.has(name)) return name !== "systemctl" || segment[1] !== "status";
  if ((name === "sed" || name === "perl") && segment.some((w) => /^-[a-z]*i/.test(w))) return true;
  if (segment.includes("--fix") || segment.includes("--write")) return true;
  const verb = segment.slice(1).find((word) => !word.startsWith("-")) ?? "";
  return CHANGING_VERBS.get(name.replace(/^pip3$/, "pip"))?.test(verb) ?? false;
}

function rangesOf(segment: readonly string[]): LineRange[] {
  const name = program(segment);
  if (!READERS.has(name) && name !== "sed") return [];
  const { from, to } = linesOf(name, segment);
  const files = segment.slice(1).filter((w, i, all) => isFile(w, all[i - 1], name));
  return files.map((path) => ({
    path: path.replace(/^(?:\.\/)+/, "").replace(/\/{2,}/g, "/"),
    from,
    to,
  }));
}

function isFile(word: string, before: string | undefined, name: string): boolean {
  if (word.startsWith("-") || word.startsWith("+") || isDiscard(word)) return false;
  if (name === "sed") return !/^[\d,$]+p?;?\d*q?$/.test(word) && !/^s(.).*\1/.test(word);
  return !(before !== undefined && /^-[nc]$/.test(before)) && !/^\d+$/.test(word);
}

/** `tail` counts from an end that is not known: no lines are said, only contents can tell. */
function linesOf(name: string, segment: readonly string[]): { from: number; to: number } {
  const all = { from: 1, to: Number.POSITIVE_INFINITY };
  const text = segment.slice(1).join(" ");
  if (name === "sed") {
    const part = /(\d+)(?:,(\d+|\$))?p/.exec(text);
    if (part === null) return all;
    const from = Number(part[1]);
    const to = part[2] === undefined ? from : part[2] === "$" ? all.to : Number(part[2]);
    return { from, to };
  }
  const count = /(?:^|\s)-(?:n\s*|-lines=)?(\d+)/.exec(text);
  if (name === "head") return { from: 1, to: count === null ? 10 : Number(count[1]) };
  if (name === "tail") {
    const start = /(?:^|\s)(?:-n\s*)?\+(\d+)/.exec(text);
    return start === null
      ? { from: Number.NaN, to: Number.NaN }
      : { from: Number(start[1]), to: all.to };
  }
  return all;
}
