"""Summarise: the reports of many sessions to totals, by model and by tool."""

from __future__ import annotations

from dataclasses import dataclass, field

from satyrn_engine.reports import SessionReport, Skipped

#: Whose loops a summary counts in this many parts of a session, from its first call to its last.
PARTS = 10


@dataclass(slots=True)
class ModelRow:
    """What is known of one model, over all sessions.

    Attributes:
        model: `provider/model`.
        sessions: in which it made a call.
        looping: sessions, among those, in which a guard refused one of its calls.
        turns: its answers.
        calls: that it made; `rejected` by Pi, `refusals` by the replayed guards.
        tokens: of its answers; `tokens_after` those after the first refusal of their session.
        cost: in US dollars; `cost_after` likewise.
    """

    model: str
    sessions: int = 0
    looping: int = 0
    turns: int = 0
    calls: int = 0
    rejected: int = 0
    refusals: int = 0
    tokens: int = 0
    cost: float = 0.0
    tokens_after: int = 0
    cost_after: float = 0.0


@dataclass(slots=True)
class ToolRow:
    """What is known of one tool, over all sessions: see `ModelRow`."""

    tool: str
    sessions: int = 0
    looping: int = 0
    calls: int = 0
    rejected: int = 0
    refusals: int = 0


@dataclass(slots=True)
class Totals:
    """The sum of all sessions.

    Attributes:
        sessions: that were read.
        looping: sessions in which a guard refused a call or found anything.
        refusing: sessions in which a guard refused a call.
        longest_run: the longest of any session; `strongest_repeat` likewise.
        broken: lines that were skipped, and `skipped` sources.
    """

    sessions: int = 0
    looping: int = 0
    refusing: int = 0
    prompts: int = 0
    turns: int = 0
    calls: int = 0
    rejected: int = 0
    unclear: int = 0
    refusals: int = 0
    longest_run: int = 0
    strongest_repeat: int = 0
    detections: dict[str, int] = field(default_factory=dict)
    fired: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    cost: float = 0.0
    tokens_after: int = 0
    cost_after: float = 0.0
    broken: int = 0
    skipped: int = 0


class Summary:
    """Adds up reports as they come, in memory that the numbers of models and tools take.

    Attributes:
        totals: of all sessions.
        starts: numbers of the first refused calls, and of the calls in their sessions.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self.totals = Totals()
        self.starts: list[tuple[int, int]] = []
        self._models: dict[str, ModelRow] = {}
        self._tools: dict[str, ToolRow] = {}

    @property
    def models(self) -> list[ModelRow]:
        """The models: those with the most refused calls first."""
        return sorted(self._models.values(), key=lambda row: (-row.refusals, -row.calls, row.model))

    @property
    def tools(self) -> list[ToolRow]:
        """The tools: those with the most refused calls first."""
        return sorted(self._tools.values(), key=lambda row: (-row.refusals, -row.calls, row.tool))

    @property
    def complete(self) -> bool:
        """Whether nothing was skipped."""
        return not self.totals.broken and not self.totals.skipped

    def add(self, found: SessionReport | Skipped) -> None:
        """Add a session, or something that was skipped."""
        totals = self.totals
        if isinstance(found, Skipped):
            totals.skipped += 1
            return
        totals.sessions += 1
        totals.looping += found.loops
        totals.refusing += found.refusals > 0
        for name in _SUMS:
            setattr(totals, name, getattr(totals, name) + getattr(found, name))
        totals.longest_run = max(totals.longest_run, found.longest_run)
        totals.strongest_repeat = max(totals.strongest_repeat, found.strongest_repeat)
        for kind, count in found.detections.items():
            totals.detections[kind] = totals.detections.get(kind, 0) + count
        for kind, count in found.fired.items():
            totals.fired[kind] = totals.fired.get(kind, 0) + count
        if found.first_refusal is not None:
            self.starts.append((found.first_refusal, found.calls))
        self._add_models(found)
        self._add_tools(found)

    def _add_models(self, found: SessionReport) -> None:
        for use in found.models:
            row = self._models.setdefault(use.model, ModelRow(use.model))
            row.turns += use.turns
            row.tokens += use.tokens
            row.cost += use.cost
            row.tokens_after += use.tokens_after
            row.cost_after += use.cost_after
        for model in {count.model for count in found.counts}:
            counts = [count for count in found.counts if count.model == model]
            row = self._models.setdefault(model, ModelRow(model))
            row.sessions += 1
            row.looping += any(count.refusals for count in counts)
            row.calls += sum(count.calls for count in counts)
            row.rejected += sum(count.rejected for count in counts)
            row.refusals += sum(count.refusals for count in counts)

    def _add_tools(self, found: SessionReport) -> None:
        for tool in {count.tool for count in found.counts}:
            counts = [count for count in found.counts if count.tool == tool]
            row = self._tools.setdefault(tool, ToolRow(tool))
            row.sessions += 1
            row.looping += any(count.refusals for count in counts)
            row.calls += sum(count.calls for count in counts)
            row.rejected += sum(count.rejected for count in counts)
            row.refusals += sum(count.refusals for count in counts)


_SUMS = (
    "prompts",
    "turns",
    "calls",
    "rejected",
    "unclear",
    "refusals",
    "tokens",
    "cost",
    "tokens_after",
    "cost_after",
    "broken",
)
