#!/usr/bin/env python3
"""Run the commands that verify the project; write docs/project/verification.md from their output.

    python3 docs/record_verification.py

Run it in a clean checkout. It takes as long as the gate, and nothing in the page is typed by hand.
"""

from __future__ import annotations

import datetime as dt
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "docs" / "project" / "verification.md"

# Title, command, and which of the printed lines say what came of it.
COMMANDS = [
    ("The gate", "tools/bazel test //...", r"^(//|Executed|ERROR|FAIL)"),
    (
        "The guard's tests and what they reach",
        "tools/bazel test --nocache_test_results --test_output=all //engine:behaviour_test",
        r"^. (tests|pass|fail|skipped|all files|engine\.ts|.*\| 1?0?0)",
    ),
    ("The replay of the evidence", "tools/bazel run //replay", r"^\{"),
    ("The package", "tools/bazel run //engine:package", r"^(package|sha256) "),
    (
        "The strict build of the documentation",
        "tools/bazel build //docs",
        r"(completed|up-to-date)",
    ),
    ("Whitespace", "git diff --check $(git hash-object -t tree /dev/null) HEAD --", r""),
]


def run(title: str, command: str, kept: str) -> tuple[str, bool]:
    """Run one command in the checkout; return its section of the page and whether it succeeded."""
    print(f"{title}: {command}", file=sys.stderr, flush=True)
    begin = time.monotonic()
    done = subprocess.run(command, shell=True, cwd=CHECKOUT, capture_output=True, text=True)  # noqa: S602
    lines = [line for line in (done.stdout + done.stderr).splitlines() if re.search(kept, line)]
    shown = [_plain(line) for line in lines] or ["(printed nothing)"]
    took = f"Exit code {done.returncode}, {time.monotonic() - begin:.0f} s."
    section = [
        f"## {title}",
        "",
        "<!--not run: a record of what was run-->",
        "```console",
        f"$ {command}",
        *shown,
        "```",
        "",
        took,
        "",
    ]
    return "\n".join(section), done.returncode == 0


def _plain(line: str) -> str:
    """Return a line without colours and without this machine's paths."""
    bare = re.sub(r"\x1b\[[0-9;]*m", "", line).replace(str(CHECKOUT), "CHECKOUT")
    return re.sub(r"/\S*/(bazel-out|testlogs)/", r".../\1/", bare).rstrip()


def main() -> int:
    """Write the page; exit 1, after writing, if a command failed."""
    sections = [run(*each) for each in COMMANDS]
    system = f"{platform.system()} {platform.machine()}"
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    head = [
        "# Verification record",
        "",
        "Made by `python3 docs/record_verification.py`,",
        f"on {today}, of commit {_commit()}, on {system}.",
        "",
    ]
    page = "\n".join([*head, *(text for text, _ in sections)])
    PAGE.write_text(page.rstrip() + "\n", encoding="utf-8")
    failed = [title for (title, *_), (_, good) in zip(COMMANDS, sections, strict=True) if not good]
    for title in failed:
        print(f"failed: {title}", file=sys.stderr)
    return 1 if failed else 0


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
