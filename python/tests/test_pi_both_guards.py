"""A real Pi writes a session under both guards; a replay finds all that it can know of it.

What police find in calls, and what the engine does, stands in the session: a replay must find it
exactly. What police find in thinking and answers they take out of the session as well, so that a
replay cannot find it again; that they were there is told by the messages that they leave. An old
Pi lets nothing be taken out, and then a replay finds that too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from satyrn_engine import read_session, replay, scan_sessions
from satyrn_engine.reports import SessionReport
from satyrn_engine.testing import (
    Package,
    PiHome,
    PiProgram,
    RealPi,
    Reply,
    ScriptedModel,
    Session,
    Text,
    Thinking,
    ToolCall,
    bash,
    call,
    calls,
    parse_jsonl,
    say,
)
from satyrn_engine.testing import read_session as read_written

pytestmark = pytest.mark.integration

#: An extension that writes down what police tell on Pi's event bus.
WITNESS = """
import { appendFileSync } from "node:fs";
export default function (pi) {
  pi.events.on("loop-police:detection", ({ event }) => {
    appendFileSync(%s, JSON.stringify({ event }) + "\\n");
  });
}
"""

#: Pi's change log: from then on an extension can replace a message that ended.
FIRST_TO_REPLACE_MESSAGES = (0, 71, 0)

#: What police find in a message they take out of it, and leave a word in its place.
LEFT = "by loop-police"
TAKEN_OUT = {
    "thinking_loop",
    "semantic_loop",
    "output_loop",
    "output_semantic_loop",
    "stagnation",
    "rederived_reasoning",
}

TOOLS = "read,bash,grep"

SENTENCE = (
    "alder birch cedar dogwood elm fir ginkgo hazel ivy juniper larch maple oak pine rowan spruce "
    "teak willow yew acacia beech chestnut ebony hickory linden mahogany olive poplar sequoia. "
)

SAME = "The parser must be wrong, so I look at its next file."


def spaced(command: str, times: int) -> list[Reply]:
    """Return the command again and again with others in between, which only the engine minds."""
    return [step for n in range(times) for step in (bash(command), bash(f"echo {n}"))]


def reads(offsets: Sequence[int]) -> list[Reply]:
    return [call("read", {"path": "notes.txt", "offset": offset}) for offset in offsets]


def thinks(thought: str, command: str) -> Reply:
    return Reply((Thinking(thought), ToolCall("bash", {"command": command})))


#: What the model does, and what the guards find in it whichever of them is asked first.
SHAPES: dict[str, tuple[list[Reply], set[str]]] = {
    "the same call in a row": ([*[bash("echo a")] * 9, say("Done.")], {"tool_loop"}),
    "the same call with others between": (
        [*spaced("echo a", 8), say("Done.")],
        {"loop_broken"},
    ),
    "a model that goes on after a refusal": (
        [
            *spaced("echo a", 7),
            *[bash("echo b")] * 3,
            bash("echo c"),
            bash("echo a"),
            *spaced("echo d", 6),
            say("Done."),
        ],
        {"loop_broken", "tool_loop"},
    ),
    "a refusal that is ignored": (
        [*spaced("echo a", 5), *[bash("echo a")] * 8, say("Done.")],
        {"loop_broken", "refusal_ignored"},
    ),
    "parallel calls": (
        [
            calls([ToolCall("bash", {"command": f"echo {name}"}) for name in "abcabc"]),
            calls([ToolCall("bash", {"command": "echo a"})] * 3),
            calls([ToolCall("bash", {"command": f"echo {name}"}) for name in "adaeafa"]),
            say("Done."),
        ],
        {"loop_broken", "tool_loop"},
    ),
    "calls that Pi rejects": (
        [
            bash("echo a"),
            *[call("bash", {"wrong": True})] * 6,
            call("no_such_tool", {}),
            call("bash", '{"command": '),
            bash("echo a"),
            bash("echo b"),
            say("Done."),
        ],
        {"rejected_call_loop"},
    ),
    "arguments that Pi converts": (
        [
            step
            for n in range(7)
            for step in (
                call("bash", {"command": "echo a", "timeout": (5, "5")[n % 2]}),
                bash(f"echo {n}"),
            )
        ],
        {"loop_broken"},
    ),
    "files read over and over": (
        [*reads([1, 2, 3, 1, 4, 3, 5, 2, 3, 1, 2, 6, 4]), say("Done.")],
        {"redundant_reread"},
    ),
    "a search that spreads": (
        [
            *[call("grep", {"pattern": "needle", "path": place}) for place in ("a", "b", "c", "d")],
            say("Done."),
        ],
        {"search_spiral"},
    ),
    "an answer that repeats itself": (
        [
            *[bash("echo a")] * 3,
            Reply((Text(SENTENCE, times=60),), piece=40, delay=0.001),
            bash("echo b"),
            say("Done."),
        ],
        {"output_loop", "tool_loop"},
    ),
    "thinking that repeats itself": (
        [
            Reply((Thinking(SENTENCE, times=60),), piece=40, delay=0.001),
            *[bash("echo a")] * 2,
            say("Done."),
        ],
        {"thinking_loop"},
    ),
    "thinking that stagnates": (
        [*[thinks(SAME, f"echo {n}") for n in "abcd"], *spaced("echo e", 6), say("Done.")],
        {"stagnation", "loop_broken"},
    ),
    "reasoning that leads back": (
        [*[thinks(SAME, "echo a")] * 3, say("Done.")],
        {"rederived_reasoning", "tool_loop"},
    ),
    "honest work": ([*[bash(f"make {n}") for n in range(12)], *reads([1, 5]), say("Done.")], set()),
}

BOTH = [("engine", "police"), ("police", "engine")]
ALONE = ["a model that goes on after a refusal", "parallel calls"]


@dataclass(frozen=True)
class Live:
    """What happened in a run.

    Attributes:
        session: what Pi stored.
        refused: the refused calls, from 0, and by which guard.
        found: how often what was found.
    """

    session: Session
    refused: list[tuple[int, str]]
    found: Counter[str]


class Homes:
    """A home for each set of guards, with a witness beside them."""

    def __init__(self, program: PiProgram, packages: dict[str, Package]) -> None:
        self._program = program
        self._packages = packages
        self._open = ExitStack()
        self._homes: dict[tuple[str, ...], PiHome] = {}

    def having(self, order: tuple[str, ...]) -> PiHome:
        """Return the home in which these guards are installed in this order."""
        if order not in self._homes:
            home = self._homes[order] = self._open.enter_context(PiHome(self._program))
            for name in order:
                RealPi(home).install(self._packages[name].folder)
            witness = home.agent_dir / "extensions" / "witness.ts"
            witness.parent.mkdir()
            heard = json.dumps(str(home.root / "heard.jsonl"))
            witness.write_text(WITNESS % heard, encoding="utf-8")
        return self._homes[order]

    def close(self) -> None:
        self._open.close()


@pytest.fixture(scope="module")
def homes(program: PiProgram, engine: Package, police: Package) -> Iterator[Homes]:
    homes = Homes(program, {"engine": engine, "police": police})
    yield homes
    homes.close()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", BOTH, ids="+".join)
def test_a_replay_finds_what_both_guards_did(
    homes: Homes, order: tuple[str, ...], shape: str
) -> None:
    script, kinds = SHAPES[shape]
    live = compare(homes.having(order), order, script)
    assert kinds <= set(live.found) if kinds else not live.found


@pytest.mark.parametrize("shape", ALONE)
@pytest.mark.parametrize("guard", ["engine", "police"])
def test_a_replay_finds_what_one_guard_did(homes: Homes, guard: str, shape: str) -> None:
    live = compare(homes.having((guard,)), (guard,), SHAPES[shape][0])
    assert {by for _, by in live.refused} == {guard}


def test_the_user_s_word_counts_in_a_replay_as_it_did(homes: Homes) -> None:
    order = ("engine", "police")
    home = homes.having(order)
    prepare(home)
    asked = [bash("echo a"), bash("echo a"), say("One."), bash("echo a"), bash("echo b")]
    with ScriptedModel([*asked, bash("echo b"), say("Two.")]) as model:
        home.use_model(model)
        with RealPi(home).rpc("--tools", TOOLS) as rpc:
            rpc.prompt("Go on.")
            rpc.prompt("And now?")
    live = hold(home, order)
    assert live.refused == [(1, "police"), (4, "police")]


def compare(home: PiHome, order: tuple[str, ...], script: list[Reply]) -> Live:
    """Let a model follow the script, and hold a replay to what happened."""
    prepare(home)
    with ScriptedModel(script) as model:
        home.use_model(model)
        RealPi(home).run("Go on.", "--tools", TOOLS, check=False)
        assert model.errors == ()
    return hold(home, order)


def prepare(home: PiHome) -> None:
    """Forget earlier runs, and give the model something to read."""
    home.clear()
    (home.project / "notes.txt").write_text("line\n" * 100)
    (home.root / "heard.jsonl").unlink(missing_ok=True)


def hold(home: PiHome, order: tuple[str, ...]) -> Live:
    """Replay the one session that was written and hold it to what happened."""
    (path,) = home.session_files()
    live = what_happened(home, read_written(path))
    (recorded,) = read_session(path)
    (branch,) = replay(recorded, order)
    assert [(refusal.call, refusal.guard) for refusal in branch.refusals] == live.refused
    in_messages = sum(times for kind, times in live.found.items() if kind in TAKEN_OUT)
    replaces = home.program.release >= FIRST_TO_REPLACE_MESSAGES
    assert (LEFT in path.read_text()) == (replaces and in_messages > 0)
    knowable = dict(live.found)
    if replaces:
        knowable = {kind: times for kind, times in knowable.items() if kind not in TAKEN_OUT}
    assert branch.detections == knowable
    (report,) = scan_sessions([path], guards=order, jobs=1)
    assert isinstance(report, SessionReport)
    assert (report.faults, report.broken, report.branches) == ([], 0, 1)
    assert (report.refusals, report.detections) == (len(live.refused), knowable)
    assert report.calls == len(live.session.calls)
    assert report.first_refusal == (live.refused[0][0] + 1 if live.refused else None)
    # What had fired is counted beside what the replay finds.
    assert report.fired == fired(live.session)
    assert report.fired.get("loop_broken", 0) == live.found["loop_broken"]
    if replaces:
        assert report.fired.get("loop-police", 0) >= in_messages
    return live


def what_happened(home: PiHome, session: Session) -> Live:
    """Read from Pi's own file and from the witness what the guards did."""
    said = {result.call_id: result.text for result in session.results}
    refused = [
        (number, guard)
        for number, asked in enumerate(session.calls)
        if (guard := refuser(said.get(asked.id, ""))) is not None
    ]
    heard = home.root / "heard.jsonl"
    events = parse_jsonl(heard.read_bytes())[0] if heard.exists() else ()
    found = Counter(str(event["event"]) for event in events)
    found["loop_broken"] += len(session.custom("loop_broken"))
    return Live(session, refused, +found)


def refuser(text: str) -> str | None:
    """Tell from a result's text which guard refused the call."""
    if text.startswith("Refused: "):
        return "engine"
    return "police" if text.startswith("⚠️") else None


def fired(session: Session) -> dict[str, int]:
    """Return how many entries and messages guards left in a session."""
    kinds = [str(entry.raw.get("customType", "")) for entry in session.entries]
    return {kind: kinds.count(kind) for kind in ("loop_broken", "loop-police") if kind in kinds}
