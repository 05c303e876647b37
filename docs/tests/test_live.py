"""The site while it is being written: served on loopback, built anew when a source changes."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

import pytest

from docs.live.serve import free_port
from docs.tests.pages import ROOT

#: What no page is made of.
IGNORED = shutil.ignore_patterns("node_modules", "__pycache__", "scenarios")
#: Sphinx needs some ten seconds, more on a busy machine.
PATIENCE = 120


def test_the_usual_port_is_taken_when_it_is_free() -> None:
    usual = free_port(0)
    assert free_port(usual) == usual


def test_another_port_is_found_when_the_usual_one_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        usual = taken.getsockname()[1]
        other = free_port(usual)
    assert other not in {0, usual}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the site is made of."""
    copy = tmp_path / "checkout"
    for name in ("docs", "engine", "fixtures", "police", "python", "replay", "tools"):
        shutil.copytree(ROOT / name, copy / name, ignore=IGNORED)
    shutil.copy(ROOT / "tsconfig.json", copy)
    return copy


def _text(address: str) -> str:
    """Return a page; nothing while the server is building it, not yet there, or cut off."""
    try:
        with urlopen(address, timeout=10) as response:
            return str(response.read().decode())
    except (OSError, HTTPException):
        return ""


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\npage", "page"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\npage", ""),
        (b"", ""),
    ],
    ids=["whole", "cut off", "none"],
)
def test_a_page_that_is_not_whole_is_asked_for_again(answer: bytes, text: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer_once() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(answer)

        thread = Thread(target=answer_once)
        thread.start()
        assert _text(f"http://127.0.0.1:{port}/") == text
        thread.join()


def _wait_for(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.5)


def _program() -> list[str]:
    """Return the command that `tools/bazel run //docs:serve` runs."""
    node = str(Path(os.environ["SATYRN_NODE"]).absolute())
    typedoc = str(Path(os.environ["TYPEDOC_MODULES"]).absolute())
    program = [sys.executable, str(ROOT / "docs" / "live" / "serve.py")]
    entries = os.environ["TYPESCRIPT_API"].split()
    options = [f"--node={node}", f"--typedoc={typedoc}", *(f"--entry={each}" for each in entries)]
    parts = os.environ["DOCS_PARTS"].split()
    return [*program, *options, *(f"--part={Path(each).absolute()}" for each in parts)]


def _environment(checkout: Path, scratch: Path) -> dict[str, str]:
    return {
        **os.environ,
        "BUILD_WORKSPACE_DIRECTORY": str(checkout),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "TMPDIR": str(scratch),
    }


@contextmanager
def _serving(checkout: Path, scratch: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the server, whose temporary files lie in `scratch`, and wait for its address."""
    scratch.mkdir()
    with log.open("w") as printed:
        # A group of its own, to which Ctrl-C goes as from a terminal.
        server = subprocess.Popen(
            _program(),
            env=_environment(checkout, scratch),
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_for(lambda: "http://127.0.0.1:" in log.read_text(), "the address")
        yield server
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _site(log: Path) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
    assert found
    return found[0]


def test_it_is_served_follows_its_sources_and_ends_with_ctrl_c(
    checkout: Path, tmp_path: Path
) -> None:
    scratch, log = tmp_path / "scratch", tmp_path / "log"
    with _serving(checkout, scratch, log) as server:
        site = _site(log)
        _wait_for(lambda: "Satyrn Engine" in _text(site), f"the site\n{log.read_text()}")
        assert "satyrn-engine scan" in _text(f"{site}/reference/satyrn-engine.html")
        assert "createLoopBreaker" in _text(f"{site}/reference/typescript/engine/engine.html")

        page = checkout / "docs" / "index.md"
        page.write_text(page.read_text() + "\nA sentence that is new.\n")
        _wait_for(lambda: "A sentence that is new." in _text(site), "the changed page")

        source = checkout / "police" / "config" / "keys.ts"
        source.write_text(source.read_text().replace("shorter paragraphs are", "short ones are"))
        settings = f"{site}/reference/police.html"
        _wait_for(lambda: "short ones are ignored" in _text(settings), "the generated page")

        os.killpg(server.pid, signal.SIGINT)
        assert server.wait(timeout=30) == 0, log.read_text()
        assert "WARNING" not in log.read_text()
        assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "served"),
    [(signal.SIGTERM, True), (signal.SIGHUP, True), (signal.SIGTERM, False)],
    ids=["TERM", "HUP", "TERM while it is built"],
)
def test_it_leaves_nothing_when_it_is_ended(
    checkout: Path, tmp_path: Path, number: signal.Signals, *, served: bool
) -> None:
    scratch, log = tmp_path / "scratch", tmp_path / "log"
    with _serving(checkout, scratch, log) as server:
        if served:
            _wait_for(lambda: "Satyrn Engine" in _text(_site(log)), "the site")
        assert list(scratch.glob("satyrn-docs-*"))
        server.send_signal(number)
        assert server.wait(timeout=30) == 0, log.read_text()
        assert "Traceback" not in log.read_text()
        assert list(scratch.glob("satyrn-docs-*")) == []


def test_its_help_shows_no_option_that_is_only_for_the_target(tmp_path: Path) -> None:
    done = subprocess.run(
        [*_program(), "--help"],
        env=_environment(tmp_path, tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tools/bazel run //docs:serve" in done.stdout
    assert set(re.findall(r"--\w+", done.stdout)) == {"--help"}
