/** The process of session_worker.ts. */

import process from "node:process";

import { loadGuards, serve } from "./session_worker.ts";

const guards = await loadGuards(process.argv.slice(2));
process.stdout.write('{"ready":true}\n');
await serve(guards, process.stdin, (line) => process.stdout.write(`${line}\n`));
