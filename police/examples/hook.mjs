#!/usr/bin/env node
/**
 * A HOOK_CMD that shows a notification with what the system itself has.
 *
 *   /loop-police set HOOK_CMD=node /path/to/hook.mjs
 *
 * With LOOP_POLICE_NTFY_TOPIC set, it also pushes to https://ntfy.sh under that topic.
 */

import { spawnSync } from "node:child_process";

const payload = JSON.parse(process.argv.at(-1) ?? "null");
if (typeof payload?.event !== "string") {
  console.error("hook.mjs: the last argument must be a payload of loop-police");
  process.exit(2);
}

const title = "loop-police";
const message = `${payload.event.replaceAll("_", " ")} (${payload.model?.id ?? "no model"})`;

// The texts are handed over in the environment: nothing of them is read as code.
const env = { ...process.env, TITLE: title, MESSAGE: message };

/** A program with its arguments, for each system. */
const NOTIFIERS = {
  linux: ["notify-send", title, message],
  darwin: [
    "osascript",
    "-e",
    'display notification (system attribute "MESSAGE") with title (system attribute "TITLE")',
  ],
  win32: [
    "powershell",
    "-NoProfile",
    "-Command",
    "Add-Type -AssemblyName System.Windows.Forms;" +
      "$icon = New-Object System.Windows.Forms.NotifyIcon;" +
      "$icon.Icon = [System.Drawing.SystemIcons]::Warning; $icon.Visible = $true;" +
      "$icon.ShowBalloonTip(4000, $env:TITLE, $env:MESSAGE, 'Warning'); Start-Sleep 4",
  ],
};

const [program, ...args] = NOTIFIERS[process.platform] ?? NOTIFIERS.linux;
const { status } = spawnSync(program, args, { env, stdio: "ignore", windowsHide: true });

const topic = process.env.LOOP_POLICE_NTFY_TOPIC;
if (topic) {
  const address = `https://ntfy.sh/${encodeURIComponent(topic)}`;
  await fetch(address, { method: "POST", headers: { Title: title }, body: message });
}

process.exitCode = status ?? 1;
