"""Progress and problems, as a person reads them."""

from __future__ import annotations

import io

import pytest

from tools.airgap.launcher.narration import Narration
from tools.airgap.launcher.words import Problem, Progress, size


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_stage_is_said_once_with_the_time_since_the_first() -> None:
    out, clock = io.StringIO(), _Clock()
    progress = Progress(out, clock)
    progress.stage("one")
    clock.now = 75
    progress.stage("two")
    progress.stage("two")
    assert out.getvalue() == "  [0:00] one\n  [1:15] two\n"


def test_a_long_stage_says_that_it_still_goes_on_and_how_far_it_is() -> None:
    out, clock = io.StringIO(), _Clock()
    progress = Progress(out, clock, patience=10)
    progress.tick()
    progress.stage("downloading")
    progress.detail = "3 so far"
    for second in range(15):
        clock.now = second
        progress.tick()
    assert out.getvalue().splitlines()[1:] == ["  [0:10] still downloading (3 so far)"]


def test_the_packages_are_counted_while_they_come() -> None:
    out = io.StringIO()
    progress = Progress(out, _Clock())
    narration = Narration(progress)
    narration.hear("Get:1 http://m.example forky InRelease [1 kB]")
    narration.hear("I: installing remaining packages inside the chroot...")
    narration.hear("0 upgraded, 2 newly installed, 0 to remove and 0 not upgraded.")
    for package in ("a", "b"):
        narration.hear(f"Get:1 http://m.example {package} [1 kB]")
    narration.hear("Unpacking a (1) ...")
    narration.hear("Setting up a (1) ...")
    narration.hear("Unpacking b (1) ...")
    narration.hear("Setting up b (1) ...")
    narration.hear("I: main() received signal PIPE: waiting for setup...")
    assert [line.split("] ")[1] for line in out.getvalue().splitlines()] == [
        "installing remaining packages inside the chroot",
        "downloading 2 packages",
        "unpacking 2 packages",
        "setting up 2 packages",
    ]


def test_the_last_line_of_a_problem_says_what_to_do() -> None:
    assert str(Problem("It is broken.", "mend it.")).splitlines()[-1] == "What to do: mend it."


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (2_500_000_000, "2.5 GB")],
)
def test_sizes_are_rounded_to_the_unit(count: int, text: str) -> None:
    assert size(count) == text
