"""The build cache's server, as a person starts it."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.cache.serve import default_folder, parse
from tools.cache.server import CacheServer, CannotServe, program

DIGEST = hashlib.sha256(b"contents").hexdigest()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CacheServer]:
    with CacheServer(tmp_path / "cache") as running:
        yield running


def _put(address: str, content: bytes) -> int:
    request = urllib.request.Request(address, data=content, method="PUT")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            status: int = answer.status
            return status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def _get(address: str) -> bytes | int:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            content: bytes = answer.read()
            return content
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize("kind", ["ac", "cas"])
def test_what_was_put_is_got_again(server: CacheServer, kind: str) -> None:
    address = f"{server.address}/{kind}/{DIGEST}"
    assert _get(address) == 404
    assert _put(address, b"contents") == 201
    assert _get(address) == b"contents"
    assert (server.data / kind / DIGEST).read_bytes() == b"contents"


def test_putting_it_again_replaces_it(server: CacheServer) -> None:
    address = f"{server.address}/ac/{DIGEST}"
    _put(address, b"one")
    assert _put(address, b"another") == 204
    assert _get(address) == b"another"


def test_a_large_blob_is_taken_whole(server: CacheServer) -> None:
    content = bytes(range(256)) * 100_000
    assert _put(f"{server.address}/cas/{DIGEST}", content) == 201
    assert _get(f"{server.address}/cas/{DIGEST}") == content


@pytest.mark.parametrize(
    "path", ["", "/", "/cas/", "/cas/short", f"/other/{DIGEST}", f"/cas/{DIGEST}/x", "/server/x"]
)
def test_nothing_else_is_served_or_taken(server: CacheServer, path: str) -> None:
    assert _get(server.address + path) == 404
    assert _put(server.address + path, b"x") in (404, 405)


def test_no_other_method_is_understood(server: CacheServer) -> None:
    address = f"{server.address}/cas/{DIGEST}"
    _put(address, b"contents")
    request = urllib.request.Request(address, method="DELETE")
    with pytest.raises(urllib.error.HTTPError, match="405") as refused:
        urllib.request.urlopen(request, timeout=30)
    refused.value.close()
    assert _get(address) == b"contents"


def test_it_listens_on_loopback_alone(server: CacheServer) -> None:
    assert server.address.startswith("http://127.0.0.1:")


def test_who_listens_on_every_address_is_named_by_the_machine(tmp_path: Path) -> None:
    assert CacheServer(tmp_path, "0.0.0.0", 81).address == f"http://{socket.gethostname()}:81"
    assert CacheServer(tmp_path, "::1", 81).address == "http://[::1]:81"


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(CannotServe, match=rf"(?s){port}.*in use.*--port"),
            CacheServer(tmp_path, port=port),
        ):
            pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotServe, match="--dir"), CacheServer(tmp_path / "file"):
        pass


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/thesis.tex").write_text("all of it")
    with pytest.raises(CannotServe, match="other things"), CacheServer(tmp_path):
        pass
    assert [*tmp_path.rglob("*")] == [tmp_path / "data", tmp_path / "data/thesis.tex"]


def test_an_empty_folder_and_an_earlier_cache_are_taken(tmp_path: Path) -> None:
    for _ in range(2):
        with CacheServer(tmp_path) as server:
            assert _put(f"{server.address}/cas/{DIGEST}", b"contents") in (201, 204)


def test_a_folder_is_served_by_one(server: CacheServer) -> None:
    with pytest.raises(CannotServe, match="served already"), CacheServer(server.folder):
        pass
    assert _put(f"{server.address}/cas/{DIGEST}", b"contents") == 201


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--limit", "nan"], "nan is no number of gigabytes above 0"),
        (["--limit", "inf"], "inf is no number"),
        (["--limit", "0"], "0 is no number"),
        (["--limit=-1"], "-1 is no number"),
        (["--limit", "abc"], "abc is no number"),
        (["--dir", ""], "name a folder"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parse(arguments)
    assert told in capsys.readouterr().err


def test_a_tilde_is_the_user_s_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    assert parse(["--dir=~/cache", "--limit=0.5"]).dir == Path("/h/cache")


def test_a_machine_without_nginx_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_a, **_k: None)
    with pytest.raises(CannotServe, match="apt-get install nginx-light"):
        program()


def test_the_cache_lies_in_the_user_s_folder_of_caches() -> None:
    assert default_folder({"HOME": "/h"}) == Path("/h/.cache/satyrn-build-cache")
    assert default_folder({"HOME": "/h", "XDG_CACHE_HOME": "/c"}) == Path("/c/satyrn-build-cache")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_says_how_it_is_used_and_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "tools.cache.serve", "--dir", str(tmp_path / "mine")]
    command += ["--port", "0"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "Ctrl-C" in line:
                break
        text = "".join(said)
        use = "--config=remote-cache --remote_upload_local_results"
        found = re.search(rf"{use} --remote_cache=(http://127\.0\.0\.1:\d+)\n", text)
        assert found, text
        assert f"common --remote_cache={found[1]}\n" in text
        assert str(tmp_path / "mine") in text
        assert _put(f"{found[1]}/cas/{DIGEST}", b"contents") == 201
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(30) == 0
        watchdog.cancel()
    assert "stays for the next time" in rest
    with pytest.raises(urllib.error.URLError):
        _get(found[1])
    assert (tmp_path / "mine/data/cas" / DIGEST).read_bytes() == b"contents"
