"""One builds and tests; the other, elsewhere and from nothing, repeats none of it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools.cache.server import free_port
from tools.nested.outputs import differences

from .conftest import SPECIMEN, Team

# Copying what was fetched is the one command that is never cached: it is as fast as a download.
UNCACHED = "CopyNodeModules"


def _only_seconds_more(alone: float) -> float:
    # A machine that is busy with something else may take thrice as long. Waiting for the time limit
    # of each of the requests of a single command after another would take minutes.
    return 3 * alone + 10


def _copies(team: Team) -> int:
    return team.cold.counts.mnemonics.get(UNCACHED, 0)


def test_the_first_build_executes_every_command_and_every_test(team: Team) -> None:
    cold = team.cold.counts
    assert cold.hits == 0
    assert cold.commands > 8
    assert {test.label.rpartition(":")[2] for test in cold.tests} == {
        *("behaviour_test", "package_contents_test", "pages_test", "types_test", "words_test")
    }
    assert all(test.passed and not test.cached for test in cold.tests)


def test_the_second_checkout_gets_every_cacheable_action_from_the_cache(team: Team) -> None:
    warm = team.warm.counts
    assert warm.hits == team.cold.counts.commands - _copies(team)
    assert sum(warm.executed.values()) == _copies(team)


def test_the_second_checkout_gets_every_test_result_from_the_cache(team: Team) -> None:
    assert len(team.warm.counts.tests) == len(team.cold.counts.tests)
    assert [test for test in team.warm.counts.tests if not (test.passed and test.cached)] == []


def test_what_comes_from_the_cache_is_what_was_built(team: Team) -> None:
    assert differences(team.built, team.outputs()) == []


def test_a_change_executes_what_depends_on_it_and_nothing_else(team: Team) -> None:
    ending = team.second.workspace / SPECIMEN / "ending.txt"
    before = ending.read_text(encoding="utf-8")
    ending.write_text("another end\n", encoding="utf-8")
    changed = team.test(*team.cache).counts
    ending.write_text(before, encoding="utf-8")
    assert sum(changed.executed.values()) == _copies(team) + 2
    executed = [test.label for test in changed.tests if not test.cached]
    assert executed == [f"//{SPECIMEN}:words_test"]


def _blob(team: Team, name: str) -> Path:
    path = next(path for path in team.built if path.endswith(f"/{SPECIMEN}/{name}"))
    return team.server.data / "cas" / team.built[path].rstrip("*")


def _damage(blob: Path, how: str) -> bytes:
    whole = blob.read_bytes()
    if how == "missing":
        blob.unlink()
    else:
        wrong = {"changed": whole.swapcase(), "cut": whole[:-1], "emptied": b""}
        blob.write_bytes(wrong[how])
    return whole


@pytest.mark.parametrize("how", ["changed", "cut", "emptied", "missing"])
def test_a_damaged_blob_is_built_again_and_mended(team: Team, how: str) -> None:
    blob = _blob(team, "loud.txt")
    whole = _damage(blob, how)
    mended = team.test(*team.cache)
    assert mended.code == 0, mended.said
    assert differences(team.built, team.outputs()) == []
    assert blob.read_bytes() == whole


@pytest.mark.parametrize("how", ["changed", "missing"])
def test_a_damaged_input_of_a_command_that_must_run_is_built_again(team: Team, how: str) -> None:
    ending = team.second.workspace / SPECIMEN / "ending.txt"
    before = ending.read_text(encoding="utf-8")
    ending.write_text(f"an end that is {how}\n", encoding="utf-8")
    _damage(_blob(team, "loud.txt"), how)
    outcome = team.test(*team.cache, targets=f"//{SPECIMEN}:words_test")
    ending.write_text(before, encoding="utf-8")
    assert outcome.code == 0, outcome.said
    [made] = team.second.outputs().glob(f"*/bin/{SPECIMEN}/twice.txt")
    loud = "THE QUICK BROWN FOX\n"
    assert made.read_text(encoding="utf-8") == f"{loud}{loud}an end that is {how}\n"


def test_damaged_records_of_what_actions_made_are_not_believed(team: Team) -> None:
    records = list((team.server.data / "ac").iterdir())
    for record in records:
        record.write_bytes(hashlib.sha256(record.read_bytes()).digest())
    outcome = team.test(*team.cache)
    assert outcome.code == 0, outcome.said
    assert differences(team.built, team.outputs()) == []


@pytest.fixture(scope="module")
def alone(team: Team) -> float:
    """Return how long the second checkout takes without any cache; what it builds is the same."""
    outcome = team.test()
    assert outcome.code == 0, outcome.said
    assert outcome.counts.hits == 0
    assert differences(team.built, team.outputs()) == []
    return outcome.seconds


def test_two_output_bases_build_the_same_bytes(team: Team, alone: float) -> None:
    assert alone > 0
    assert len(team.built) > 10


def test_a_cache_that_is_down_costs_seconds_and_fails_nothing(team: Team, alone: float) -> None:
    nobody = free_port("127.0.0.1")
    outcome = team.test("--config=ci", f"--remote_cache=http://127.0.0.1:{nobody}")
    assert outcome.code == 0, outcome.said
    assert all(test.passed for test in outcome.counts.tests)
    assert outcome.seconds < _only_seconds_more(alone)


class _Broken(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = 0

    def _answer(self) -> None:
        _Broken.asked += 1
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = _answer  # noqa: N815 - the names that the base class looks for

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def broken() -> Iterator[str]:
    """Return the address of a cache that answers 500 to everything."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Broken) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_cache_that_answers_500_costs_seconds_and_fails_nothing(
    team: Team, alone: float, broken: str
) -> None:
    outcome = team.test("--config=ci", f"--remote_cache={broken}")
    assert outcome.code == 0, outcome.said
    assert _Broken.asked > 0
    assert all(test.passed for test in outcome.counts.tests)
    assert outcome.seconds < _only_seconds_more(alone)
