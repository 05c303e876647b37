/** The process of desk.ts. */

import process from "node:process";
import { fileURLToPath } from "node:url";

import { serveDesk } from "./desk.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
await serveDesk(root, process.stdin, (line) => process.stdout.write(`${line}\n`));
