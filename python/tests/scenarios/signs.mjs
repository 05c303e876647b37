/** Prints what a guard does on scenarios in the Pi double, a JSON line each: ROOT GUARD PROFILE FILE... */

import path from "node:path";
import { pathToFileURL } from "node:url";

const [root, name, profile, ...files] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(path.resolve(root, "replay", file)).href);
const { loadGuard, PoliceHome } = await load("guards.ts");
const { readScenario } = await load("scenario.ts");
const { runScenario } = await load("run_scenario.ts");

const guard = await loadGuard(root, name);
const home = name === "police" ? await PoliceHome.open(guard) : undefined;
try {
  for (const file of files) {
    const { scenario } = await readScenario(file);
    await home?.furnish(scenario.config ?? {}, profile);
    const { signs, problems } = await runScenario(scenario, guard);
    process.stdout.write(`${JSON.stringify({ signs, problems })}\n`);
  }
} finally {
  await home?.close();
}
