"""Run Node.js on staged copies of the declared sources.

The one launcher of `node_test` and `node_binary` (see defs.bzl). A test works in its package's
folder of the staged tree; a program that `bazel run` starts works where its user called it from.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.staging import copy_sources, link_node_modules


def main() -> int:
    """Stage, run, and return Node's exit code."""
    options, arguments = _parse(sys.argv[1:])
    node = Path(options.node).absolute()
    with tempfile.TemporaryDirectory(prefix="node-", dir=os.environ.get("TEST_TMPDIR")) as folder:
        # The real path: Node compares the paths of modules after resolving links.
        stage = Path(folder).resolve() / "stage"
        stage.mkdir()
        files = [*options.file, *_listed(options.files_from)]
        copy_sources(files, stage)
        link_node_modules(options.modules, stage)
        if not (stage / "package.json").exists():
            (stage / "package.json").write_text('{"type":"module"}\n')
        if options.entry:
            command = [str(node), *options.node_option, str(stage / options.entry), *arguments]
            folder_of_run = os.environ.get("BUILD_WORKING_DIRECTORY", ".")
            return _run(command, folder_of_run, dict(os.environ))
        command = [str(node), *_test_flags(options), *arguments]
        return _run(command, str(stage / options.package), _test_environment(node, Path(folder)))


def _parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split at the first `--`: before it this launcher's own options, behind it the program's."""
    cut = argv.index("--")
    own, rest = argv[:cut], argv[cut + 1 :]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", required=True, help="the Node.js executable")
    parser.add_argument("--modules", action="append", default=[], help="a node_modules tree")
    parser.add_argument("--file", action="append", default=[], help="a source to stage")
    parser.add_argument(
        "--files-from", action="append", default=[], help="a file that lists sources"
    )
    parser.add_argument("--package", default="", help="the folder that a test works in")
    parser.add_argument("--entry", default="", help="the program to run, instead of a test")
    parser.add_argument("--node-option", action="append", default=[])
    parser.add_argument("--test", action="store_true", help="run node's own test runner")
    parser.add_argument("--cover", action="append", default=[], help="must be covered entirely")
    return parser.parse_args(own), rest


def _listed(lists: list[str]) -> list[str]:
    return [line for name in lists for line in Path(name).read_text().splitlines()]


def _test_flags(options: argparse.Namespace) -> list[str]:
    """Return the test runner's flags: readable output, JUnit for Bazel, the coverage gate."""
    if not options.test:
        return list(options.node_option)
    junit = os.environ.get("XML_OUTPUT_FILE", os.devnull)
    flags = ["--test", "--test-reporter=spec", "--test-reporter-destination=stdout"]
    flags += ["--test-reporter=junit", f"--test-reporter-destination={Path(junit).absolute()}"]
    if options.cover:
        flags += ["--experimental-test-coverage"]
        flags += [f"--test-coverage-include={pattern}" for pattern in options.cover]
        flags += [f"--test-coverage-{kind}=100" for kind in ("lines", "branches", "functions")]
    return [*flags, *options.node_option]


def _test_environment(node: Path, scratch: Path) -> dict[str, str]:
    """Return an environment with a home of its own, and only Node.js and the system on PATH."""
    home = scratch / "home"
    home.mkdir()
    path = f"{node.parent}:/usr/bin:/bin"
    return {**os.environ, "HOME": str(home), "PATH": path, "TEST_TMPDIR": str(scratch)}


def _run(command: list[str], folder: str, environment: dict[str, str]) -> int:
    with subprocess.Popen(command, cwd=folder, env=environment) as process:
        # The terminal sends Ctrl-C to the whole group: let the child decide, then clean up.
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            code = process.wait()
        finally:
            signal.signal(signal.SIGINT, previous)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
