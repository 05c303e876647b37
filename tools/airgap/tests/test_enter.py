"""What bubblewrap is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.airgap.launcher import enter
from tools.airgap.launcher.settings import Settings
from tools.airgap.launcher.words import Problem

ROOT = Path("/home/u/.cache/b/root")
FOLDERS = (("home", None), ("link", "home/x"), ("srv", None), ("tmp", None))


def _command(workspace: str = "/home/u/my ws", uid: int = 1000, cwd: str = "/srv/x") -> list[str]:
    settings = Settings(Path(workspace), Path("/home/u/.cache/b"), "amd64")
    host = enter.Host(FOLDERS, uid)
    return enter.command(settings, host, ["inner"], bwrap="bwrap", cwd=Path(cwd), root=ROOT)


def _binds(command: list[str], option: str) -> dict[str, str]:
    return {command[i + 2]: command[i + 1] for i, word in enumerate(command) if word == option}


def test_the_system_is_the_private_roots_and_cannot_be_written() -> None:
    command = _command()
    assert _binds(command, "--ro-bind") | {"/usr": f"{ROOT}/usr", "/etc": f"{ROOT}/etc"} == (
        _binds(command, "--ro-bind")
    )
    writable = {*_binds(command, "--bind"), *_binds(command, "--bind-try")}
    assert writable == {"/proc", "/home", "/srv", "/tmp", "/var/tmp"}


def test_the_users_own_folders_are_seen_under_their_own_names() -> None:
    command = _command()
    assert _binds(command, "--bind")["/home"] == "/home"
    assert _binds(command, "--symlink")["/link"] == "home/x"


@pytest.mark.parametrize(
    ("uid", "expected"), [(1000, []), (0, ["CAP_SETFCAP", "CAP_DAC_OVERRIDE"])]
)
def test_root_keeps_two_capabilities_and_a_user_none(uid: int, expected: list[str]) -> None:
    command = _command(uid=uid)
    assert command[command.index("--cap-drop") + 1] == "ALL"
    assert [command[i + 1] for i, word in enumerate(command) if word == "--cap-add"] == expected


@pytest.mark.parametrize("workspace", ["/var/lib/ci/ws", "/run/ws"])
def test_a_checkout_below_var_or_run_is_seen_though_they_are_not(workspace: str) -> None:
    binds = _binds(_command(workspace), "--bind")
    assert binds[workspace] == workspace
    assert "/var" not in binds


@pytest.mark.parametrize("workspace", ["/usr/src/ws", "/etc/ws", "/usr"])
def test_a_checkout_inside_the_system_is_refused(workspace: str) -> None:
    with pytest.raises(Problem, match="folder of the system"):
        _command(workspace)


def test_it_starts_where_the_caller_is() -> None:
    command = _command(cwd="/srv/a b")
    assert command[-4:] == ["--chdir", "/srv/a b", "--", "inner"]


def test_bazel_reads_the_rc_of_the_checkout_and_keeps_its_outputs_in_the_cache() -> None:
    settings = Settings(Path("/w"), Path("/c"), "amd64")
    assert enter.bazel(settings, ["test", "//..."]) == [
        "/usr/bin/bazel",
        "--bazelrc=/w/tools/airgap/airgap.bazelrc",
        "--output_user_root=/c/out",
        f"--host_jvm_args=-Dairgap.root={settings.root.name}",
        "test",
        "//...",
    ]


def test_another_root_asks_for_another_server() -> None:
    one = Settings(Path("/w"), Path("/c"), "amd64")
    other = Settings(Path("/w"), Path("/c"), "amd64", packages=("bazel-bootstrap",))
    assert enter.bazel(one, []) != enter.bazel(other, [])
