/**
 * Prints what the shipped guards tell other programs: all the scenarios are played, and each payload
 * is one JSON line, `{"what": "detection" or "loop_broken", "payload": ...}`.
 *
 *     node payloads.mjs ROOT
 *
 * ROOT is the folder with `engine/`, `police/`, `replay/` and `fixtures/`.
 */

import { readdir } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

const root = path.resolve(process.argv[2]);
const load = (name) => import(pathToFileURL(path.join(root, "replay", name)).href);

const { loadGuard, PoliceHome } = await load("guards.ts");
const { PiSession } = await load("pi_session.ts");
const { ENGINE_ENTRY, POLICE_CHANNEL } = await load("run_scenario.ts");
const { readScenario } = await load("scenario.ts");
const { stepsOf } = await load("scenario_steps.ts");

const engine = await loadGuard(root, "engine");
const police = await loadGuard(root, "police");
const home = await PoliceHome.open(police);

function print(what, payload) {
  process.stdout.write(`${JSON.stringify({ what, payload })}\n`);
}

async function play(scenario, guard) {
  const session = new PiSession({ enforced() {}, threw() {} });
  session.pi.events.on(POLICE_CHANNEL, (payload) => print("detection", payload));
  await session.start("the guard", guard);
  for (const step of stepsOf(scenario)) await session.take(step);
  await session.end();
  for (const { customType, data } of session.pi.entries) {
    if (customType === ENGINE_ENTRY) print(ENGINE_ENTRY, data);
  }
}

/** One detector that no scenario needs alone: what others would find first is switched off. */
const READ_TOO_OFTEN = {
  config: { REREAD_WINDOW: 0, TOOL_LOOP_BAN: 0, FILE_SCAN_LIMIT: 3 },
  events: [0, 1, 2, 3].map((offset) => ({
    call: { toolName: "read", input: { path: "notes.md", offset } },
    result: { text: `line ${offset}` },
  })),
};

const folder = path.join(root, "fixtures", "scenarios");
try {
  await home.furnish(READ_TOO_OFTEN.config, "classic");
  await play(READ_TOO_OFTEN, police);
  for (const name of (await readdir(folder)).sort()) {
    const read = await readScenario(path.join(folder, name));
    if (!read.ok) throw new Error(`${name}: ${read.problems.join("; ")}`);
    const { scenario } = read;
    for (const profile of ["classic", "evidence"]) {
      await home.furnish(scenario.config ?? {}, profile);
      await play(scenario, police);
    }
    await play(scenario, engine);
  }
} finally {
  await home.close();
}
