"""Branch: records to sessions, as a stream of steps.

A session is told as its branches, each from its root on, because a guard meets a branch's calls in
that order. What branches share is told in each and counted in the first. Steps are handed on as
they are read: a session that is one line is told while it is read, and nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec
from msgspec import Raw

from satyrn_engine._outcome import Outcome, outcome_of
from satyrn_engine._records import (
    Block,
    Broken,
    Line,
    Message,
    Record,
    Usage,
    decode_entry,
    read_lines,
)
from satyrn_engine._sources import Source
from satyrn_engine._tree import Tree


class SessionBegun(msgspec.Struct):
    """A session begins.

    Attributes:
        id: as its header names it; empty if the header is missing.
        version: 1, 2 or 3; 0 if the header is missing.
        cwd: the folder that Pi worked in.
        started: ISO 8601, as in the file.
        parent: the session that this one was forked from.
    """

    id: str = ""
    version: int = 0
    cwd: str = ""
    started: str = ""
    parent: str | None = None


class Call(msgspec.Struct, gc=False):
    """A tool call of the model.

    Attributes:
        id: pairs it with its result.
        tool: the tool's name.
        arguments: JSON text of the arguments, as the model gave them.
        outcome: what became of it.
    """

    id: str | int | None
    tool: str
    arguments: Raw
    outcome: Outcome


class Turn(msgspec.Struct):
    """An answer of the model, with its calls and their results.

    Attributes:
        counted: false when an earlier branch told it already.
        model: `provider/model`.
        time: of the answer; ISO 8601, or milliseconds, as in the file.
        tokens: that the answer used, input included.
        cost: in US dollars, as Pi reckoned it.
        calls: in the order in which the model made them.
        line: the JSON line that holds the answer.
        results: the JSON lines that hold the results.
    """

    counted: bool
    model: str
    time: str | float | None
    tokens: int
    cost: float
    calls: list[Call]
    line: bytes
    results: list[bytes]


class Prompt(msgspec.Struct):
    """The user spoke.

    Attributes:
        counted: false when an earlier branch told it already.
        line: the JSON line that holds what was said.
    """

    counted: bool
    line: bytes


class Spent(msgspec.Struct):
    """A model was used for something else than an answer: a summary, or to keep a cache warm."""

    counted: bool
    model: str
    tokens: int
    cost: float


class Compacted(msgspec.Struct):
    """The context was cut down to a summary."""


class ToolsDeclared(msgspec.Struct):
    """The model was given tools: a JSON array of `{name, description, parameters}`."""

    tools: Raw


class Fired(msgspec.Struct):
    """A guard had fired while the session ran.

    Attributes:
        counted: false when an earlier branch told it already.
        kind: the type of the entry or message that it left, such as `loop_broken`.
    """

    counted: bool
    kind: str


class GuardsRestarted(msgspec.Struct):
    """Where a fork's own entries begin: Pi gave it guards that had seen nothing."""


Step = Turn | Prompt | Spent | Compacted | ToolsDeclared | Fired | GuardsRestarted


class Listener(Protocol):
    """What is told a source's sessions."""

    def session(self, begun: SessionBegun) -> None:
        """A session begins."""

    def branch(self) -> None:
        """A branch begins, at its root: the guards start anew."""

    def step(self, step: Step) -> None:
        """The branch goes on."""

    def branch_end(self) -> None:
        """The branch is complete."""

    def restart(self) -> None:
        """The session has branches after all: forget its steps so far; its branches follow."""

    def session_end(self) -> None:
        """The session is complete."""

    def broken(self, line: Broken) -> None:
        """A line was skipped."""

    def damaged(self, reason: str) -> None:
        """The source cannot be read any further; what stood before was told, or will be."""


#: The entries that this project's guards leave in a session.
GUARD_ENTRIES = frozenset({"loop_broken", "loop-police"})

_MESSAGES = frozenset({"message", "message_end"})
_WEIGHTY = frozenset(
    {"compaction", "compaction_end", "branch_summary", "usage", "entry_appended"},
)
_ENTRIES = frozenset({"loop_broken", "loop-police"})

_MESSAGES = frozenset({"message", "message_end"})
_WEIGHTY = _MESSAGES | {
    "compaction",
    "compaction_end",
    "branch_summary",
    "usage",
    "entry_appended",
}
_ENTRIES = _WEIGHTY | _MESSAGES | {"custom", "custom_message"}


def read_steps(source: Source, known: set[int], listener: Listener) -> None:
    """Tell the sessions that stand in a source, one after the other.

    Args:
        source: a session file, a `--mode json` stream, or several of either in one.
        known: keys of the entries that were counted elsewhere; those of this source are added.
        listener: is told.

    Raises:
        SourceError: if the source cannot be opened.
    """
    session: _Session | None = None
    damages: list[str] = []
    with source.open() as stream:
        for line in _until_damage(read_lines(stream), damages):
            if isinstance(line, Broken):
                listener.broken(line)
                continue
            record = line.record
            if record.type == "session":
                if session is not None:
                    session.end()
                session = _Session(source, line, known, listener)
            elif record.id is not None or record.type in _ENTRIES:
                if session is None:
                    session = _Session(source, line, known, listener)
                session.add(line)
        if session is not None:
            session.end()
    for reason in damages:
        listener.damaged(reason)


def _until_damage(lines: Iterator[Line | Broken], damages: list[str]) -> Iterator[Line | Broken]:
    """End the lines where reading fails, for whatever reason a file system or decompressor has."""
    try:
        yield from lines
    except Exception as error:  # noqa: BLE001
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        damages.append(f"cannot be read to its end ({reason})")


class _Session:
    """Tells one session: at once as long as it is one line, else branch by branch at its end."""

    def __init__(self, source: Source, first: Line, known: set[int], listener: Listener) -> None:
        self._source = source
        self._first = first
        self._listener = listener
        self._known = known
        self._tree = Tree(known)
        self._fork: str | None = None
        self._begin(first.record)

    def _begin(self, header: Record) -> None:
        begun = SessionBegun()
        if header.type == "session":
            parent = header.parent_session or header.branched_from
            started = header.timestamp if isinstance(header.timestamp, str) else ""
            begun = SessionBegun(
                header.id or "", header.version or 1, header.cwd or "", started, parent
            )
            self._fork = None if parent is None else started
        self._listener.session(begun)
        self._listener.branch()
        self._branch = _Branch(self._listener, self._fork)

    def add(self, line: Line) -> None:
        tree = self._tree
        was_linear = tree.linear
        record = line.record
        if record.type in _MESSAGES:
            # One that holds nothing is no branch of its own.
            weighty = record.message is not None
        else:
            weighty = record.type in _WEIGHTY or record.custom_type in GUARD_ENTRIES
        fresh = tree.add(record, weighty=weighty)
        if tree.linear:
            if fresh:
                self._branch.add(line, counted=True)
        elif was_linear:
            self._listener.restart()

    def end(self) -> None:
        if self._tree.linear:
            self._branch.end()
            self._listener.branch_end()
        else:
            for way in self._tree.paths():
                self._listener.branch()
                branch = _Branch(self._listener, self._fork)
                for line, counted in self._along(way):
                    branch.add(line, counted=counted)
                branch.end()
                self._listener.branch_end()
        self._listener.session_end()
        self._known.update(self._tree.keys)

    def _along(self, way: list[bool | None]) -> Iterator[tuple[Line, bool]]:
        """Read the session again, and yield what stands on that way."""
        place = 0
        with self._source.open() as stream:
            stream.seek(self._first.offset)
            again = read_lines(stream, self._first.number, self._first.offset)
            for line in _until_damage(again, []):
                if place == len(way):
                    return
                if type(line) is not Line or line.record.type == "session":
                    continue
                if line.record.type in _ENTRIES or line.record.id is not None:
                    counted = way[place]
                    place += 1
                    if counted is not None:
                        yield line, counted


class _Branch:
    """Turns the entries of a branch into steps; holds one answer until its results are there."""

    def __init__(self, listener: Listener, fork: str | None) -> None:
        """`fork` is the time of the fork, if the session is one."""
        self._step = listener.step
        self._fork = fork
        self._copied = False
        self._open: _OpenTurn | None = None
        #: A compaction does not say which model made it: that of the conversation.
        self._model = "unknown"

    def add(self, line: Line, *, counted: bool) -> None:
        record = line.record
        if self._fork is not None:
            self._look_for_own(record)
        kind = record.type
        if kind == "entry_appended":
            try:
                record = decode_entry(record.entry)
            except msgspec.DecodeError:
                return
            kind = record.type
        if kind in _MESSAGES:
            if record.message is not None:
                self._message(line, record, record.message, counted)
        elif kind in ("custom", "custom_message"):
            self._fired(record, counted)
        else:
            self._other(record, counted)

    def end(self) -> None:
        """Tell the answer that is still open."""
        if self._open is not None:
            turn, self._open = self._open, None
            self._step(turn.close())

    def _look_for_own(self, record: Record) -> None:
        """Find where a fork's own entries begin: those before are older than the fork."""
        if self._fork is None or not isinstance(record.timestamp, str):
            return
        if record.timestamp < self._fork:
            self._copied = True
        else:
            self._fork = None
            if self._copied:
                self.end()
                self._step(GuardsRestarted())

    def _message(self, line: Line, record: Record, message: Message, counted: bool) -> None:
        role = message.role
        if role == "toolResult":
            if self._open is not None and self._open.take(line.data, message):
                self.end()
        elif role == "assistant":
            self.end()
            turn = _OpenTurn(line.data, record, message, counted)
            self._model = turn.model
            if turn.missing:
                self._open = turn
            else:
                self._step(turn.close())
        elif role == "user":
            self.end()
            self._step(Prompt(counted, line.data))
        elif role == "system" and len(message.tools_added) > len("null"):
            self._step(ToolsDeclared(message.tools_added))
        elif role in ("custom", "hookMessage"):
            self._fired(record, counted)

    def _fired(self, record: Record, counted: bool) -> None:
        kind = record.custom_type or (record.message.custom_type if record.message else None)
        if kind in GUARD_ENTRIES:
            self._step(Fired(counted, kind))

    def _other(self, record: Record, counted: bool) -> None:
        usage = record.usage or (record.result.usage if record.result is not None else None)
        if usage is not None:
            self.end()
            model = self._model
            if record.model is not None:
                model = _model_name(record.provider, record.model)
            self._step(Spent(counted, model, usage.tokens, usage.cost.total))
        if record.type in ("compaction", "compaction_end"):
            self.end()
            self._step(Compacted())


class _OpenTurn:
    """An answer whose results are being collected."""

    __slots__ = (
        "_blocks",
        "_counted",
        "_line",
        "_lines",
        "_results",
        "_time",
        "_usage",
        "missing",
        "model",
    )

    def __init__(self, line: bytes, record: Record, message: Message, counted: bool) -> None:
        self._line = line
        self._usage = message.usage or _NO_USAGE
        self.model = _model_name(message.provider, message.model)
        self._counted = counted
        self._time = record.timestamp
        self._blocks = _calls(message.content)
        self._results: list[Message | None] = [None] * len(self._blocks)
        self._lines: list[bytes] = []
        self.missing = len(self._blocks)

    def take(self, line: bytes, result: Message) -> bool:
        """Take a result; return whether it was the last one missing."""
        results = self._results
        wanted = result.tool_call_id
        for place, block in enumerate(self._blocks):
            if block.id == wanted and results[place] is None:
                results[place] = result
                self._lines.append(line)
                self.missing -= 1
                break
        return self.missing == 0

    def close(self) -> Turn:
        return Turn(
            self._counted,
            self.model,
            self._time,
            self._usage.tokens,
            self._usage.cost.total,
            [
                Call(block.id, block.name, block.arguments, outcome_of(block.name, result))
                for block, result in zip(self._blocks, self._results, strict=True)
            ],
            self._line,
            self._lines,
        )


def _calls(content: list[Block] | str | None) -> list[Block]:
    if type(content) is not list:
        return []
    return [block for block in content if block.type == "toolCall"]


_NO_USAGE = Usage()


def _model_name(provider: str | None, model: str | None) -> str:
    if provider and model:
        return f"{provider}/{model}"
    return provider or model or "unknown"
