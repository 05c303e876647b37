"""Summarise: the steps and verdicts of one session to its report."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from satyrn_engine._outcome import Outcome
from satyrn_engine._records import Broken
from satyrn_engine._steps import Fired, Prompt, SessionBegun, Spent, Step, Turn
from satyrn_engine._worker import Verdict
from satyrn_engine.reports import BrokenLine, CallCount, ModelUse, SessionReport

#: Calls that a timeline shows at most.
TIMELINE = 2000
#: Broken lines that are named; all are counted.
NAMED_LINES = 20

_REACHED, _REJECTED = Outcome.REACHED, Outcome.REJECTED
#: What stands for a call in a timeline.
_DOT, _CROSS, _QUESTION = b".x?"


class Account:
    """Adds up one session, branch by branch, in memory that a few numbers a call take."""

    def __init__(self, source: str, begun: SessionBegun) -> None:
        self._source = source
        self._begun = begun
        self._broken: list[BrokenLine] = []
        self._broken_count = 0
        self.restart()

    def restart(self) -> None:
        """Forget the branches so far."""
        begun = self._begun
        self._report = SessionReport(
            self._source, begun.id, begun.version, begun.cwd, begun.started, begun.parent
        )
        #: In the order in which they were met; the columns of a branch hold their numbers.
        self._counts: list[CallCount] = []
        self._count_numbers: dict[tuple[str, str], int] = {}
        self._models: list[ModelUse] = []
        self._model_numbers: dict[str, int] = {}
        self._branch = _Branch()

    def begin_branch(self) -> None:
        """Begin the next branch."""
        self._branch = _Branch()
        self._report.branches += 1

    def broken(self, line: Broken) -> None:
        """Count a line that could not be read."""
        self._broken_count += 1
        if len(self._broken) < NAMED_LINES:
            self._broken.append(BrokenLine(line.line, line.reason))

    def take(self, step: Step) -> None:
        """Count a step of the branch."""
        report = self._report
        match step:
            case Turn():
                self._turn(step)
            case Spent():
                self._spend(step.model, step.tokens, step.cost, counted=step.counted)
            case Prompt(counted=True):
                report.prompts += 1
            case Fired(counted=True):
                report.fired[step.kind] = report.fired.get(step.kind, 0) + 1
            case _:
                pass

    def end_branch(self, verdict: Verdict) -> None:
        """Count what the guards did with the branch."""
        report, branch = self._report, self._branch
        report.longest_run = max(report.longest_run, verdict.longest_run)
        report.strongest_repeat = max(report.strongest_repeat, verdict.strongest_repeat)
        report.faults.extend(fault for fault in verdict.faults if fault not in report.faults)
        report.first_detection = _earlier(report.first_detection, verdict.first_detection)
        report.first_enforcement = _earlier(report.first_enforcement, verdict.first_enforcement)
        for turn, kind in verdict.detections:
            if branch.turn_counted[turn] if turn < len(branch.turn_counted) else True:
                report.detections[kind] = report.detections.get(kind, 0) + 1
        refused = [call for call, _ in verdict.refusals]
        for call in refused:
            if branch.call_counted[call]:
                report.refusals += 1
                self._counts[branch.call_of[call]].refusals += 1
        if not refused:
            if verdict.detections and not report.timeline:
                self._draw(refused, verdict.detections)
            return
        first = refused[0] + 1
        if report.first_refusal is None or first < report.first_refusal:
            report.first_refusal = first
            self._draw(refused, verdict.detections)
        self._add_later_costs(refused[0])

    def finish(self) -> SessionReport:
        """Return the report."""
        report = self._report
        report.counts = sorted(self._counts, key=lambda each: (each.model, each.tool))
        report.models = sorted(self._models, key=lambda each: each.model)
        report.broken, report.broken_lines = self._broken_count, self._broken
        return report

    def _turn(self, turn: Turn) -> None:
        branch, counted, model = self._branch, turn.counted, turn.model
        branch.turn_counted.append(counted)
        branch.turn_starts.append(len(branch.call_of))
        report = self._report
        for call in turn.calls:
            number = self._count_number(model, call.tool)
            branch.call_of.append(number)
            branch.call_counted.append(counted)
            reached = call.outcome is _REACHED
            letter = _DOT if reached else _CROSS if call.outcome is _REJECTED else _QUESTION
            branch.letters.append(letter)
            if counted:
                report.calls += 1
                count = self._counts[number]
                count.calls += 1
                if not reached:
                    self._count_odd(count, letter)
        use = self._spend(model, turn.tokens, turn.cost, counted=counted)
        if counted:
            report.turns += 1
            use.turns += 1

    def _count_odd(self, count: CallCount, letter: int) -> None:
        """Count a call that did not reach the hook, or may not have."""
        if letter == _CROSS:
            self._report.rejected += 1
            count.rejected += 1
        else:
            self._report.unclear += 1
            count.unclear += 1

    def _spend(self, model: str, tokens: int, cost: float, *, counted: bool) -> ModelUse:
        """Count what was used, and note it beside the call that comes next."""
        branch = self._branch
        number = self._model_number(model)
        use = self._models[number]
        branch.spent_at.append(len(branch.call_of))
        branch.spent_model.append(number)
        branch.spent_tokens.append(tokens if counted else 0)
        branch.spent_cost.append(cost if counted else 0.0)
        if counted:
            self._report.tokens += tokens
            self._report.cost += cost
            use.tokens += tokens
            use.cost += cost
        return use

    def _add_later_costs(self, refused: int) -> None:
        """Add what came after the answer that made the refused call."""
        branch, report = self._branch, self._report
        turn = bisect_right(branch.turn_starts, refused) - 1
        last_call = (
            branch.turn_starts[turn + 1]
            if turn + 1 < len(branch.turn_starts)
            else len(branch.call_of)
        )
        # An answer stands behind its own calls, so its own use is the last at this place.
        own = branch.spent_at.index(last_call)
        for place in range(own + 1, len(branch.spent_at)):
            use = self._models[branch.spent_model[place]]
            tokens, cost = branch.spent_tokens[place], branch.spent_cost[place]
            use.tokens_after += tokens
            use.cost_after += cost
            report.tokens_after += tokens
            report.cost_after += cost

    def _draw(self, refused: list[int], detections: list[tuple[int, str]]) -> None:
        report, branch = self._report, self._branch
        letters = branch.letters[:TIMELINE]
        for call in refused:
            if call < TIMELINE:
                letters[call] = ord("R")
        names = [self._counts[number].tool for number in branch.call_of[:TIMELINE]]
        report.timeline = letters.decode("ascii")
        report.tool_names = sorted(set(names))
        places = {name: place for place, name in enumerate(report.tool_names)}
        report.timeline_tools = [places[name] for name in names]
        report.timeline_found = {}
        for turn, kind in sorted(detections, key=lambda found: (found[1], found[0])):
            known = turn < len(branch.turn_starts)
            call = branch.turn_starts[turn] if known else len(branch.call_of)
            if call < TIMELINE:
                report.timeline_found.setdefault(kind, []).append(call + 1)

    def _count_number(self, model: str, tool: str) -> int:
        number = self._count_numbers.get((model, tool))
        if number is None:
            number = self._count_numbers[model, tool] = len(self._counts)
            self._counts.append(CallCount(model, tool))
        return number

    def _model_number(self, model: str) -> int:
        number = self._model_numbers.get(model)
        if number is None:
            number = self._model_numbers[model] = len(self._models)
            self._models.append(ModelUse(model))
        return number


def _earlier(one: int | None, other: int | None) -> int | None:
    known = [each for each in (one, other) if each is not None]
    return min(known, default=None)


class _Branch:
    """One branch in columns: a few bytes a call."""

    __slots__ = (
        "call_counted",
        "call_of",
        "letters",
        "spent_at",
        "spent_cost",
        "spent_model",
        "spent_tokens",
        "turn_counted",
        "turn_starts",
    )

    def __init__(self) -> None:
        self.call_of = array("l")
        self.call_counted = bytearray()
        self.letters = bytearray()
        self.turn_starts = array("q")
        self.turn_counted = bytearray()
        self.spent_at = array("q")
        self.spent_model = array("l")
        self.spent_tokens = array("q")
        self.spent_cost = array("d")
