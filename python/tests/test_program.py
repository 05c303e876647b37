"""Finding Pi and Node, and what a person is told when there is none."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from satyrn_engine.testing import PiNotFoundError, PiProgram, find_pi


class Machine:
    """A folder with a made-up node and Pi, and an environment that knows only these."""

    def __init__(self, folder: Path) -> None:
        """Make the folder for programs, which is all of `PATH`."""
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.environ = {"PATH": str(self.bin)}

    def script(self, path: Path, says: str) -> Path:
        """Write a program that prints one line."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {shlex.quote(says)}\n")
        path.chmod(0o755)
        return path

    def node(self, version: str = "v24.15.0") -> Path:
        """Put a node on `PATH`."""
        return self.script(self.bin / "node", version)

    def pi(
        self, version: str = "1.6.0", engines: str = ">=22.19.0", scope: str = "earendil-works"
    ) -> Path:
        """Install a Pi, as npm does, and return its script."""
        folder = self.folder / "node_modules" / f"@{scope}" / "pi-coding-agent"
        cli = folder / "dist" / "bundle" / "cli.js"
        cli.parent.mkdir(parents=True)
        cli.write_text("// the program\n")
        manifest = {
            "name": f"@{scope}/pi-coding-agent",
            "version": version,
            "engines": {"node": engines},
        }
        (folder / "package.json").write_text(json.dumps(manifest))
        return cli

    def find(self, **variables: str) -> PiProgram:
        """Find Pi with these variables."""
        return find_pi({**self.environ, **variables})


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_pi_and_node_are_found_on_path(machine: Machine) -> None:
    node, cli = machine.node(), machine.pi()
    # npm links the command to the script.
    (machine.bin / "pi").symlink_to(cli)
    cli.chmod(0o755)
    found = machine.find()
    assert found.command == (str(node), str(cli))
    assert (found.version, found.release, found.node_version) == ("1.6.0", (1, 6, 0), "24.15.0")


def test_variables_name_them_and_win_over_path(machine: Machine) -> None:
    machine.node()
    (machine.bin / "pi").symlink_to(machine.script(machine.folder / "other-pi", "0.1.0"))
    node = machine.script(machine.folder / "elsewhere" / "node", "v26.0.0")
    cli = machine.pi()
    found = machine.find(SATYRN_PI=str(cli), SATYRN_NODE=str(node))
    assert found.command == (str(node), str(cli))
    assert found.node_version == "26.0.0"


def test_a_relative_path_starts_at_the_current_directory(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.node()
    cli = machine.pi()
    monkeypatch.chdir(machine.folder)
    found = machine.find(SATYRN_PI=str(cli.relative_to(machine.folder)), SATYRN_NODE="bin/node")
    assert found.command == (str(machine.bin / "node"), str(cli))


def test_the_package_is_known_under_its_older_name_too(machine: Machine) -> None:
    machine.node()
    cli = machine.pi(version="0.65.0", engines=">=20.6.0", scope="mariozechner")
    assert machine.find(SATYRN_PI=str(cli)).version == "0.65.0"


def test_an_executable_that_is_no_script_is_asked_for_its_version(machine: Machine) -> None:
    machine.node()
    program = machine.script(machine.folder / "pi-binary", "1.5.2")
    found = machine.find(SATYRN_PI=str(program))
    assert found.command == (str(program),)
    assert found.version == "1.5.2"


def test_the_npm_that_belongs_to_node_is_preferred(machine: Machine) -> None:
    node, cli = machine.node(), machine.pi()
    machine.script(machine.bin / "npm", "11.0.0")
    assert machine.find(SATYRN_PI=str(cli)).npm == (str(machine.bin / "npm"),)
    own = machine.folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    own.parent.mkdir(parents=True)
    own.touch()
    assert machine.find(SATYRN_PI=str(cli)).npm == (str(node), str(own))


def test_a_machine_without_npm_is_accepted(machine: Machine) -> None:
    machine.node()
    assert machine.find(SATYRN_PI=str(machine.pi())).npm is None


def test_an_npm_that_is_a_link_to_a_script_is_started_with_node(machine: Machine) -> None:
    node, cli = machine.node(), machine.pi()
    script = machine.script(machine.folder / "npm-cli.js", "")
    (machine.bin / "npm").symlink_to(script)
    assert machine.find(SATYRN_PI=str(cli)).npm == (str(node), str(script))


def test_a_node_that_is_a_link_has_the_npm_beside_its_real_place(machine: Machine) -> None:
    real = machine.script(machine.folder / "node-24" / "bin" / "node", "v24.15.0")
    (machine.bin / "node").symlink_to(real)
    own = real.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    own.parent.mkdir(parents=True)
    own.touch()
    assert machine.find(SATYRN_PI=str(machine.pi())).npm == (str(machine.bin / "node"), str(own))


def test_the_manifest_of_another_package_on_the_way_is_passed_over(machine: Machine) -> None:
    machine.node()
    cli = machine.pi()
    (cli.parent / "package.json").write_text('{"name": "bundle", "version": "9.9.9"}')
    (cli.parent.parent / "package.json").write_text("[]")
    assert machine.find(SATYRN_PI=str(cli)).version == "1.6.0"


def test_without_pi_the_remedy_is_named(machine: Machine) -> None:
    machine.node()
    with pytest.raises(PiNotFoundError, match=r"no pi on PATH.*npm install -g.*SATYRN_PI"):
        machine.find()


def test_without_node_the_remedy_is_named(machine: Machine) -> None:
    with pytest.raises(PiNotFoundError, match=r"no node on PATH.*SATYRN_NODE"):
        machine.find(SATYRN_PI=str(machine.pi()))


@pytest.mark.parametrize("variable", ["SATYRN_PI", "SATYRN_NODE"])
def test_a_variable_that_names_nothing_is_an_error_and_no_fallback(
    machine: Machine, variable: str
) -> None:
    machine.node()
    (machine.bin / "pi").symlink_to(machine.script(machine.folder / "other-pi", "1.6.0"))
    assert machine.find().version == "1.6.0"
    with pytest.raises(PiNotFoundError, match=f"{variable} names gone"):
        machine.find(**{variable: "gone"})


@pytest.mark.parametrize("version", ["v20.19.2", "v22.18.9"])
def test_a_node_that_is_too_old_for_this_pi_is_refused_with_both_versions(
    machine: Machine, version: str
) -> None:
    machine.node(version)
    cli = machine.pi(engines=">=22.19.0")
    with pytest.raises(
        PiNotFoundError, match=rf"{version[1:]}.*Pi 1\.6\.0.*22\.19\.0.*SATYRN_NODE"
    ):
        machine.find(SATYRN_PI=str(cli))


@pytest.mark.parametrize("version", ["v22.19.0", "v22.20.1", "v24.0.0"])
def test_a_node_that_is_new_enough_is_accepted(machine: Machine, version: str) -> None:
    machine.node(version)
    assert machine.find(SATYRN_PI=str(machine.pi(engines=">=22.19.0"))).node_version == version[1:]


def test_a_node_that_cannot_be_run_is_an_error_with_a_remedy(machine: Machine) -> None:
    broken = machine.script(machine.folder / "node", "")
    broken.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(PiNotFoundError, match=r"cannot be run.*SATYRN_NODE"):
        machine.find(SATYRN_NODE=str(broken), SATYRN_PI=str(machine.pi()))
