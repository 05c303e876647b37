/** The command: see README.md. Plain JavaScript, so that an old Node.js can still say that it is old. */

import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  complain(`Node.js ${process.versions.node} is too old; use 22.18 or newer.`);
  process.exitCode = 2;
} else {
  const { main } = await import("./cli.ts");
  process.once("exit", explainHang);
  try {
    process.exitCode = await main(process.argv.slice(2), {
      root: fileURLToPath(new URL("..", import.meta.url)),
      cwd: process.cwd(),
      stdout: (line) => process.stdout.write(`${line}\n`),
      stderr: (line) => process.stderr.write(`${line}\n`),
    });
  } finally {
    process.off("exit", explainHang);
  }
}

/** Node.js leaves when nothing can happen any more, even though `main` has not come to its end. */
function explainHang() {
  complain("stopped: the extension's handler never answered the last call.");
  process.exitCode = 1;
}

function complain(sentence) {
  process.stderr.write(`replay_guards: ${sentence}\n`);
}
