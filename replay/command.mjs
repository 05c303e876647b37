/** Runs a command of this folder. Plain JavaScript, so that an old Node.js can still say that it is old. */

import { fileURLToPath } from "node:url";

/**
 * @param {string} name of the command, before what goes wrong with it.
 * @param {() => Promise<{ main: Function }>} load imports the command; see surroundings.ts for what it gets.
 */
export function runCommand(name, load) {
  const complain = (sentence) => process.stderr.write(`${name}: ${sentence}\n`);
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 18)) {
    complain(`Node.js ${process.versions.node} is too old; use 22.18 or newer.`);
    process.exitCode = 2;
  } else {
    // Not awaited: of an await that can't end Node.js would say so in words of its own.
    run(load, complain);
  }
}

async function run(load, complain) {
  const { main } = await load();
  let cause = "the extension ended the process";
  const explain = () => {
    complain(`stopped: ${cause}.`);
    process.exitCode = 1;
  };
  process.once("exit", explain);
  process.once("uncaughtExceptionMonitor", () => {
    cause = "an error that nothing caught, and that is printed here too, ended the process";
  });
  // Node.js leaves when nothing can happen any more, even though `main` has not come to its end.
  process.once("beforeExit", () => {
    cause = "the extension's handler never answered the last call";
  });
  // Whoever reads the output may close it early, as `head` does: then there is nobody left to tell.
  process.stdout.on("error", (error) => {
    if (error.code !== "EPIPE") throw error;
    process.off("exit", explain);
    process.exit(1);
  });
  const code = await main(process.argv.slice(2), {
    root: fileURLToPath(new URL("..", import.meta.url)),
    cwd: process.cwd(),
    stdout: (line) => process.stdout.write(`${line}\n`),
    stderr: (line) => process.stderr.write(`${line}\n`),
  });
  process.off("exit", explain);
  // An extension may have left a timer or a socket behind, for which Node.js would wait.
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((resolve) => stream.write("", resolve));
  }
  process.exit(code);
}
