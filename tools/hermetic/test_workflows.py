"""The workflows of GitHub: pinned, with least permissions, and the gate is that of `.ci/run`."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FILES = Path(os.environ["FILE_LIST"]).read_text(encoding="utf-8").splitlines()
WORKFLOWS = [file for file in FILES if file.startswith(".github/workflows/")]
CI = ".github/workflows/ci.yml"
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+")


def workflow(file: str) -> dict[Any, Any]:
    content: dict[Any, Any] = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    return content


def jobs(file: str) -> list[dict[str, Any]]:
    return list(workflow(file)["jobs"].values())


def steps(file: str) -> Iterator[dict[str, Any]]:
    for job in jobs(file):
        yield from job["steps"]


def unpinned(text: str) -> list[str]:
    """The lines that use an action which no commit pins, or that do not name its version."""
    lines = [line.strip().removeprefix("- ") for line in text.splitlines()]
    used = [line for line in lines if re.match(r"[\"']?uses[\"']?\s*:", line)]
    return [line for line in used if not PINNED.fullmatch(line)]


def written(permissions: object) -> list[str]:
    """What a job may change with these permissions; None means whatever the repository allows."""
    if not isinstance(permissions, dict):
        return [str(permissions)]
    return [
        f"{name}: {level}" for name, level in permissions.items() if level not in ("read", "none")
    ]


def test_there_is_the_workflow() -> None:
    assert CI in WORKFLOWS


@pytest.mark.parametrize("file", WORKFLOWS)
def test_the_workflow_is_one_by_githubs_own_schema(file: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema"]
        + ["--builtin-schema", "vendor.github-workflows", file],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", WORKFLOWS)
def test_every_action_is_pinned_by_a_commit_beside_its_version(file: str) -> None:
    text = Path(file).read_text(encoding="utf-8")
    assert "uses:" in text
    assert unpinned(text) == []


@pytest.mark.parametrize(
    ("line", "pinned"),
    [
        (f"- uses: a/b@{'0' * 40} # v1.2", True),
        (f"  uses: a/b/c@{'0a' * 20} # v1.2.3", True),
        ("- uses: a/b@v1", False),
        (f"- uses: a/b@{'0' * 39} # v1.2", False),
        (f"- uses: a/b@{'0' * 40}", False),
        (f"- uses: a/b@{'0' * 40} # main", False),
        (f'- "uses": a/b@{"0" * 40} # v1.2', False),
        ("- uses: docker://image:latest", False),
        ("- uses: ./local", False),
    ],
)
def test_an_action_without_a_whole_commit_is_found_out(line: str, *, pinned: bool) -> None:
    assert (unpinned(f"    steps:\n      {line}\n") == []) is pinned


@pytest.mark.parametrize("file", WORKFLOWS)
def test_permissions_are_least_and_no_job_has_more(file: str) -> None:
    assert workflow(file)["permissions"] == {"contents": "read"}
    for job in jobs(file):
        assert written(job.get("permissions", {})) == []


@pytest.mark.parametrize(
    ("permissions", "changes"),
    [
        ({}, []),
        ({"contents": "read", "issues": "none"}, []),
        ({"contents": "write"}, ["contents: write"]),
        ("write-all", ["write-all"]),
        (None, ["None"]),
    ],
)
def test_a_permission_to_write_is_found_out(permissions: object, changes: list[str]) -> None:
    assert written(permissions) == changes


@pytest.mark.parametrize("file", WORKFLOWS)
def test_forks_get_no_secret_and_no_credential_stays_in_the_checkout(file: str) -> None:
    # Unlike pull_request, this one runs a fork's code with the repository's secrets.
    assert "pull_request_target" not in Path(file).read_text(encoding="utf-8")
    for step in steps(file):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("file", WORKFLOWS)
def test_no_run_lasts_for_ever_and_none_reads_a_text_as_code(file: str) -> None:
    assert workflow(file)["concurrency"]["group"]
    for job in jobs(file):
        assert 0 < job["timeout-minutes"] <= 90
    # A value between braces would be pasted into the script before the shell reads it.
    assert [step["run"] for step in steps(file) if "${{" in step.get("run", "")] == []


def test_the_gate_is_ci_run_on_each_kind_of_machine() -> None:
    [job] = jobs(CI)
    assert job["steps"][-1]["run"] == ".ci/run"
    assert "if" not in job["steps"][-1]
    assert [each["runner"] for each in job["strategy"]["matrix"]["include"]] == [
        "ubuntu-24.04",
        "ubuntu-24.04-arm",
        "macos-15",
    ]
    assert job["runs-on"] == "${{ matrix.runner }}"


def test_ci_run_runs_the_command_of_the_readme() -> None:
    last = Path(".ci/run").read_text(encoding="utf-8").splitlines()[-1]
    assert last == "exec tools/bazel test //..."
    assert "$ tools/bazel test //...\n" in Path("README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("variables", "lines"),
    [
        ({}, []),
        ({"READS_ONLY": "false"}, []),
        ({"READS_ONLY": "true"}, ["common --noremote_upload_local_results"]),
        ({"CACHE": "grpc://c:1"}, ["common --remote_cache=grpc://c:1"]),
        ({"HEADER": "A=b $(c) #d"}, ['common "--remote_header=A=b $(c) #d"']),
        ({"HEADER": r'k="a\b"'}, [r'common "--remote_header=k=\"a\\b\""']),
        ({"WITHOUT": "browser"}, ["test --test_tag_filters=-browser"]),
    ],
)
def test_the_settings_of_the_machine_follow_what_the_repository_says(
    tmp_path: Path, variables: dict[str, str], lines: list[str]
) -> None:
    [step] = [step for step in steps(CI) if step.get("name") == "Settings of this machine"]
    given = dict.fromkeys(step["env"], "")
    assert set(variables) <= set(given)
    subprocess.run(
        ["bash", "-e", "-u", "-c", step["run"]],
        cwd=tmp_path,
        env={**given, **variables, "HOME": "/h", "PATH": os.defpath},
        check=True,
    )
    written_lines = (tmp_path / "user.bazelrc").read_text().splitlines()
    assert written_lines[:3] == [
        "common --config=ci",
        "common --disk_cache=/h/.cache/satyrn-disk",
        "common --repository_cache=/h/.cache/satyrn-repositories",
    ]
    assert written_lines[3:] == lines


def test_the_shared_cache_is_written_by_main_alone() -> None:
    [step] = [step for step in steps(CI) if step.get("name") == "Settings of this machine"]
    elsewhere = "github.event_name == 'pull_request' || github.ref != 'refs/heads/main'"
    assert step["env"]["READS_ONLY"] == f"${{{{ {elsewhere} }}}}"


def test_only_pull_requests_share_a_group_of_which_github_drops_runs() -> None:
    group = workflow(CI)["concurrency"]["group"]
    assert "github.event_name == 'pull_request' && github.ref || github.run_id" in group


def test_the_restored_disk_cache_is_trimmed_before_it_is_used() -> None:
    [cache] = [step for step in steps(CI) if step.get("uses", "").startswith("actions/cache@")]
    order = list(steps(CI))
    [trimmed] = [step for step in order if "tools.cache.trim" in step.get("run", "")]
    assert order.index(cache) < order.index(trimmed)
    assert trimmed["run"].split()[3].strip('"').replace("$HOME", "~") in cache["with"]["path"]


def test_the_folders_that_are_kept_are_those_that_bazel_uses() -> None:
    [cache] = [step for step in steps(CI) if step.get("uses", "").startswith("actions/cache@")]
    [settings] = [step for step in steps(CI) if step.get("name") == "Settings of this machine"]
    for folder in cache["with"]["path"].split():
        assert f'=$HOME/{folder.removeprefix("~/")}"' in settings["run"]


# What a test that starts a browser depends on, as it is named elsewhere and in its own package.
BROWSERS = {
    "": {"//tools/browser", "//tools/browser:browser"},
    "tools/browser/BUILD.bazel": {":browser"},
}


def _strings(node: ast.AST) -> set[str]:
    constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return {value for value in constants if isinstance(value, str)}


def test_every_test_that_starts_a_browser_can_be_left_out() -> None:
    found = [
        call
        for file in FILES
        if file.endswith("BUILD.bazel")
        for call in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith("_test")
        and _strings(call) & BROWSERS.get(file, BROWSERS[""])
    ]
    assert found
    for call in found:
        assert "browser" in _strings(call) - BROWSERS[""], (
            f"{ast.unparse(call)} lacks the tag `browser`"
        )
