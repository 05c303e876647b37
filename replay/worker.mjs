/** The process of session_worker.ts. */

import { writeSync } from "node:fs";

import { loadGuards, readPieces, serve } from "./session_worker.ts";

// Importing node:process would make streams of these, and waiting in a read or write impossible.
const STDIN = 0;
const STDOUT = 1;

async function* input() {
  try {
    yield* readPieces(STDIN);
  } catch (error) {
    // On Windows a pipe ends with an error.
    if (error.code === "EOF") return;
    // A guard has made a stream of it.
    if (error.code !== "EAGAIN") throw error;
    yield* process.stdin;
  }
}

function answer(line) {
  let rest = Buffer.from(`${line}\n`);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest));
  } catch (error) {
    if (error.code !== "EAGAIN") throw error;
    process.stdout.write(rest);
  }
}

const guards = await loadGuards(process.argv.slice(2));
answer('{"ready":true}');
await serve(guards, input(), answer);
