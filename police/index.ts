/** The Pi extension: passes Pi's events on to the police, and its answers back. No policy here. */

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

import { COMMAND, complete, DESCRIPTION, runCommand } from "./command.ts";
import { agentDir, CONFIG_FILE, olderConfigs } from "./config/places.ts";
import { loadConfig, saveConfig } from "./config/store.ts";
import { PiHost } from "./pi_host.ts";
import { Police } from "./police.ts";
import { StreamReader } from "./stream_reader.ts";
import { isAssistant } from "./transcript.ts";

export default function loopPolice(pi: ExtensionAPI): void {
  const path = join(agentDir(), CONFIG_FILE);
  const here = dirname(fileURLToPath(import.meta.url));
  const { config, warning } = loadConfig(path, olderConfigs(here, agentDir(), process.cwd()));
  const police = new Police(config);
  const host = new PiHost(pi, config);
  const reader = new StreamReader();

  /** Runs a handler so that no fault of ours reaches Pi; its answer is then "nothing to say". */
  function safely<E, R>(
    handle: (event: E) => R,
  ): (event: E, ctx: ExtensionContext) => R | undefined {
    return (event, ctx) => {
      try {
        host.enter(ctx);
        return handle(event);
      } catch (error) {
        host.reportFault(error);
        return undefined;
      }
    };
  }

  const showStatus = () => host.showStatus(config.PROFILE, police.detections);

  pi.on(
    "session_start",
    safely(() => {
      if (warning !== undefined) host.tell(`loop-police: ${warning}`);
      showStatus();
    }),
  );
  pi.on(
    "session_compact",
    safely(() => police.contextLost()),
  );
  pi.on(
    "session_tree",
    safely(() => police.contextLost()),
  );
  pi.on(
    "input",
    safely((event) => {
      if (event.source !== "extension") police.userSpoke();
    }),
  );

  pi.on(
    "turn_start",
    safely((event) => {
      host.turnIndex = event.turnIndex;
      police.turnStarted(host);
    }),
  );
  pi.on(
    "turn_end",
    safely((event) =>
      police.turnEnded(
        event.toolResults.map((result) => result.toolCallId),
        host,
      ),
    ),
  );
  pi.on(
    "agent_settled",
    safely(() => police.settled(host)),
  );

  pi.on(
    "message_start",
    safely((event) => {
      if (!isAssistant(event.message)) return;
      reader.start();
      police.messageStarted();
    }),
  );
  pi.on(
    "message_update",
    safely((event) => {
      const part = reader.read(event);
      if (part !== undefined) police.streamed(part.stream, part.block, part.text, host);
    }),
  );
  pi.on(
    "message_end",
    safely((event) => {
      if (!isAssistant(event.message)) return undefined;
      const message = police.messageEnded(event.message, host);
      showStatus();
      return message && { message };
    }),
  );
  pi.on(
    "context",
    safely((event) => {
      const messages = police.requestMessages(event.messages);
      return messages && { messages };
    }),
  );

  pi.on(
    "tool_execution_start",
    safely((event) =>
      police.callStarted(event.toolCallId, event.toolName, event.args, event.parentToolCallId),
    ),
  );
  pi.on(
    "tool_call",
    safely((event) => {
      const { toolCallId: id, toolName: tool, input, parentToolCallId: parent } = event;
      const refusal = police.callAsked({ id, tool, input, parent }, host);
      showStatus();
      return refusal;
    }),
  );
  pi.on(
    "tool_result",
    safely((event) => police.callRan(event.toolCallId)),
  );
  pi.on(
    "tool_execution_end",
    safely((event) => {
      const { toolCallId: id, toolName: tool, result, isError } = event;
      police.callEnded({ id, tool, result, isError }, host);
      showStatus();
    }),
  );

  pi.on("session_shutdown", async (_, ctx) => {
    host.enter(ctx);
    await host.close();
  });

  pi.registerCommand(COMMAND, {
    description: DESCRIPTION,
    getArgumentCompletions: complete,
    handler: async (args, ctx) => {
      host.enter(ctx);
      const { text, ok } = runCommand(args, {
        config,
        path,
        save: () => saveConfig(path, config),
        reset: () => police.reset(),
        status: () => police.status(),
      });
      host.reply(text, ok);
      showStatus();
    },
  });
}
