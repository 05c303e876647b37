"""The police's package in a real Pi: installed from the folder and from the tarball."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from satyrn_engine.testing import PiHome, PiProgram, RealPi, bash, say, source_of_tarball
from tests.police.watched import Watched, listen

pytestmark = pytest.mark.integration

NAME = "satyrn-police"
LOOP = [bash("echo ran >> runs.txt")] * 2 + [say("Done.")]


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "tarball"])
def test_it_installs_works_and_goes_away_again(
    program: PiProgram, police: Path, police_tarball: Path, packed: bool
) -> None:
    source = source_of_tarball(NAME, police_tarball) if packed else str(police)
    with PiHome(program) as home:
        pi = RealPi(home)
        pi.install(source)
        listen(home)
        watched = Watched(home)
        outcome = watched.run(LOOP)
        assert outcome.events == ["tool_loop"]
        assert watched.runs() == 1
        assert "loop-police-postmortem" in outcome.request(1), "the model knows the skills"
        (package,) = pi.list()
        manifest = json.loads((package.folder / "package.json").read_text())
        assert manifest["name"] == NAME
        for entry in [*manifest["pi"]["extensions"], *manifest["pi"]["skills"]]:
            assert (package.folder / entry).exists(), entry
        assert not (package.folder / "test").exists() or not packed
        pi.remove(package.source)
        assert pi.list() == ()
        assert (home.agent_dir / "loop-police.json").exists(), "the user's settings stay"


def test_the_settings_of_the_package_that_it_replaces_are_taken_over(
    program: PiProgram, police: Path
) -> None:
    with PiHome(program) as home:
        RealPi(home).install(police)
        old = home.agent_dir / "npm" / "node_modules" / "pi-loop-police" / "extensions"
        old.mkdir(parents=True)
        (old / "loop-police.json").write_text(json.dumps({"TOOL_LOOP_BAN": 1, "CHECK_STRIDE": 25}))
        listen(home)
        watched = Watched(home)
        script = [*LOOP[:2], bash("echo other"), LOOP[0], say("Done.")]
        outcome = watched.run_as_configured(script)
        assert watched.runs() == 1, "the old scale's 1 is a ban, which is 2 now"
        assert "warning" not in outcome.stderr.lower()
        stored = json.loads((home.agent_dir / "loop-police.json").read_text())
        assert (stored["TOOL_LOOP_BAN"], stored["STRIDE"]) == (2, 25)
