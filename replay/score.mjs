/** The command that prints the scoreboard: see README.md. */

import { runCommand } from "./command.mjs";

runCommand("score", () => import("./score_cli.ts"));
