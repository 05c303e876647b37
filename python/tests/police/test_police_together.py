"""Both packages in one Pi, and each installed beside the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from satyrn_engine.testing import PiHome, PiProgram, RealPi, bash, say
from tests.police.watched import Watched, listen

pytestmark = pytest.mark.integration

COMMAND = "echo ran >> runs.txt"


@pytest.mark.parametrize("first", ["police", "engine"])
def test_police_and_engine_work_side_by_side(
    program: PiProgram, police: Path, engine: Path, first: str
) -> None:
    packages = [police, engine] if first == "police" else [engine, police]
    with PiHome(program) as home:
        for package in packages:
            RealPi(home).install(package)
        listen(home)
        watched = Watched(home)
        repeated = [step for n in range(7) for step in (bash(COMMAND), bash(f"echo {n}"))]
        outcome = watched.run([*repeated, bash("echo a"), bash("echo a"), say("Done.")])
        # With another call in between, only the engine's 5 in 20 refuses the command.
        assert watched.runs() == 5
        assert outcome.events == ["tool_loop"], "the repeat at the end is the police's"
        assert len(outcome.session.custom("loop_broken")) == 2
        assert outcome.run.stdout == "Done.\n"
