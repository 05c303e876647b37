"""What a scan finds out: documented dataclasses, one for each session, and their sum."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that was skipped.

    Attributes:
        line: its number in the file, 1 for the first.
        reason: what is wrong with it.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could not be scanned.

    Attributes:
        source: the file or address, and where in it.
        reason: a sentence.
    """

    source: str
    reason: str


@dataclass(slots=True)
class CallCount:
    """Calls of one model to one tool.

    Attributes:
        model: `provider/model`.
        tool: the tool's name.
        calls: that the model made.
        rejected: by Pi, before the guards: unknown tool, or arguments that do not fit.
        unclear: aborted, or without a result.
        refusals: by the replayed guards, among the calls that reached them.
    """

    model: str
    tool: str
    calls: int = 0
    rejected: int = 0
    unclear: int = 0
    refusals: int = 0


@dataclass(slots=True)
class ModelUse:
    """What one model was used for.

    Attributes:
        model: `provider/model`.
        turns: its answers.
        tokens: input and output, cache included.
        cost: in US dollars, as Pi reckoned it.
        tokens_after: tokens of the answers after the first refused call.
        cost_after: their cost. What the guards would have saved, at most: what the model would have
            answered to a refusal is not known.
    """

    model: str
    turns: int = 0
    tokens: int = 0
    cost: float = 0.0
    tokens_after: int = 0
    cost_after: float = 0.0


@dataclass(slots=True)
class SessionReport:
    """What the guards would have done in one session.

    Attributes:
        source: the file or address.
        session: the session's id; empty if its header is missing.
        version: of the session's format, 1 to 3; 0 if its header is missing.
        cwd: the folder that Pi worked in.
        started: ISO 8601; empty if its header is missing.
        parent: the session from which this one was forked, if it was.
        branches: ways through the session, each replayed from its root on.
        prompts: of the user.
        turns: answers of models.
        calls: that models made; each is counted once, whatever the number of branches and forks.
        rejected: calls that Pi refused before any guard could see them.
        unclear: calls that were aborted or have no result; the guards are not shown them.
        refusals: calls that the replayed guards refused.
        first_refusal: number of the first refused call in its branch, 1 for the first call there.
        longest_run: the most identical calls in direct succession that reached the guards.
        strongest_repeat: the most identical calls among any twenty in succession, likewise.
        detections: how often the guards found what, by kind: `loop_broken` is the engine's, the
            others are police's.
        first_detection: how many calls the model had made, in its branch, when a guard first found
            something.
        first_enforcement: the same for what a guard first kept from happening: it refused a call,
            or stopped an answer.
        fired: entries that guards left in the session while it ran, by their type.
        tokens: of all answers and summaries.
        cost: in US dollars, as Pi reckoned it.
        tokens_after: tokens after the first refusal in each branch.
        cost_after: their cost: an upper bound of what the guards would have saved.
        counts: calls by model and tool.
        models: use by model.
        timeline: one letter for each call of the branch with the first refusal, or else of the
            first one in which anything was found: `.` ran, `R` refused, `x` rejected, `?` unclear;
            empty if nothing was. At most 2,000.
        timeline_tools: the tools of those calls, by their place in `tool_names`.
        tool_names: names for `timeline_tools`.
        timeline_found: what was found along those calls: by kind, each time the number of the
            answer's first call, 1 for the first of the branch; of an answer without a call, that of
            the call that came next, or would have come.
        broken: how many lines of the file were skipped.
        broken_lines: the first of them.
        faults: what the guards did wrong while they were replayed.
    """

    source: str
    session: str = ""
    version: int = 0
    cwd: str = ""
    started: str = ""
    parent: str | None = None
    branches: int = 0
    prompts: int = 0
    turns: int = 0
    calls: int = 0
    rejected: int = 0
    unclear: int = 0
    refusals: int = 0
    first_refusal: int | None = None
    longest_run: int = 0
    strongest_repeat: int = 0
    detections: dict[str, int] = field(default_factory=dict)
    first_detection: int | None = None
    first_enforcement: int | None = None
    fired: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    cost: float = 0.0
    tokens_after: int = 0
    cost_after: float = 0.0
    counts: list[CallCount] = field(default_factory=list)
    models: list[ModelUse] = field(default_factory=list)
    timeline: str = ""
    timeline_tools: list[int] = field(default_factory=list)
    tool_names: list[str] = field(default_factory=list)
    timeline_found: dict[str, list[int]] = field(default_factory=dict)
    broken: int = 0
    broken_lines: list[BrokenLine] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def loops(self) -> bool:
        """Whether a guard refused a call or found anything."""
        return self.refusals > 0 or bool(self.detections)
