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

_LETTERS = {Outcome.REACHED: ".", Outcome.REJECTED: "x", Outcome.UNCLEAR: "?"}


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
        self._counts: dict[tuple[str, str], CallCount] = {}
        self._models: dict[str, ModelUse] = {}
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
                branch.counts[branch.call_of[call]].refusals += 1
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
        report.counts = sorted(self._counts.values(), key=lambda each: (each.model, each.tool))
        report.models = sorted(self._models.values(), key=lambda each: each.model)
        report.broken, report.broken_lines = self._broken_count, self._broken
        return report

    def _turn(self, turn: Turn) -> None:
        branch = self._branch
        branch.turn_counted.append(turn.counted)
        branch.turn_starts.append(len(branch.call_of))
        if turn.counted:
            self._report.turns += 1
            self._use(turn.model).turns += 1
        for call in turn.calls:
            count = self._count(turn.model, call.tool)
            branch.call_of.append(branch.number(count))
            branch.call_counted.append(turn.counted)
            branch.letters.append(ord(_LETTERS[call.outcome]))
            if not turn.counted:
                continue
            self._report.calls += 1
            count.calls += 1
            if call.outcome is Outcome.REJECTED:
                self._report.rejected += 1
                count.rejected += 1
            elif call.outcome is Outcome.UNCLEAR:
                self._report.unclear += 1
                count.unclear += 1
        self._spend(turn.model, turn.tokens, turn.cost, counted=turn.counted)

    def _spend(self, model: str, tokens: int, cost: float, *, counted: bool) -> None:
        """Count what was used, and note it beside the call that comes next."""
        branch, use = self._branch, self._use(model)
        branch.spent_at.append(len(branch.call_of))
        branch.spent_model.append(branch.model(use))
        branch.spent_tokens.append(tokens if counted else 0)
        branch.spent_cost.append(cost if counted else 0.0)
        if counted:
            self._report.tokens += tokens
            self._report.cost += cost
            use.tokens += tokens
            use.cost += cost

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
            use = branch.models[branch.spent_model[place]]
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
        names = [branch.counts[number].tool for number in branch.call_of[:TIMELINE]]
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

    def _count(self, model: str, tool: str) -> CallCount:
        found = self._counts.get((model, tool))
        if found is None:
            found = self._counts[model, tool] = CallCount(model, tool)
        return found

    def _use(self, model: str) -> ModelUse:
        found = self._models.get(model)
        if found is None:
            found = self._models[model] = ModelUse(model)
        return found


def _earlier(one: int | None, other: int | None) -> int | None:
    known = [each for each in (one, other) if each is not None]
    return min(known, default=None)


class _Branch:
    """One branch in columns: a few bytes a call."""

    def __init__(self) -> None:
        self.counts: list[CallCount] = []
        self.models: list[ModelUse] = []
        self._numbers: dict[int, int] = {}
        self.call_of = array("l")
        self.call_counted = bytearray()
        self.letters = bytearray()
        self.turn_starts = array("q")
        self.turn_counted = bytearray()
        self.spent_at = array("q")
        self.spent_model = array("l")
        self.spent_tokens = array("q")
        self.spent_cost = array("d")

    def number(self, count: CallCount) -> int:
        number = self._numbers.get(id(count))
        if number is None:
            number = self._numbers[id(count)] = len(self.counts)
            self.counts.append(count)
        return number

    def model(self, use: ModelUse) -> int:
        number = self._numbers.get(id(use))
        if number is None:
            number = self._numbers[id(use)] = len(self.models)
            self.models.append(use)
        return number
