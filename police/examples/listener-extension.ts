/**
 * A Pi extension that listens to the police and keeps the session's count of loops, by kind, in the
 * status bar. Copy it to `~/.pi/agent/extensions/`; without the police it shows nothing.
 */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

/** The part of the payload that is used here. */
interface Detection {
  readonly event: string;
}

export default function (pi: ExtensionAPI): void {
  const counts = new Map<string, number>();
  let session: ExtensionContext | undefined;

  pi.on("session_start", (_event, ctx) => {
    session = ctx;
    counts.clear();
  });

  pi.events.on("loop-police:detection", (data) => {
    const { event } = data as Detection;
    counts.set(event, (counts.get(event) ?? 0) + 1);
    const shown = [...counts].map(([kind, count]) => `${kind.replaceAll("_", " ")} ${count}`);
    session?.ui.setStatus("loop-counter", `loops: ${shown.join(", ")}`);
  });
}
