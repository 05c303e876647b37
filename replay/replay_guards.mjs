/** The command that replays the guard fixtures: see README.md. */

import { runCommand } from "./command.mjs";

runCommand("replay_guards", () => import("./cli.ts"));
