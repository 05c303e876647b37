"""The workflows of GitHub: pinned, with least permissions, and the gate is that of `.ci/run`."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FILES = Path(os.environ["FILE_LIST"]).read_text(encoding="utf-8").splitlines()
WORKFLOWS = [file for file in FILES if file.startswith(".github/workflows/")]
CI = ".github/workflows/ci.yml"
# An action by the whole commit, an image by its digest.
ACTION = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
IMAGE = re.compile(r"[\w./:-]+@sha256:[0-9a-f]{64}")
VERSION = re.compile(r"# v\d+(\.\d+)+$")
DOCKER = "docker://"


def workflow(file: str) -> dict[Any, Any]:
    content: dict[Any, Any] = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    return content


def jobs(file: str) -> list[dict[str, Any]]:
    return list(workflow(file)["jobs"].values())


def steps(file: str) -> Iterator[dict[str, Any]]:
    for job in jobs(file):
        yield from job["steps"]


def values(node: object, key: str) -> Iterator[Any]:
    """Everything that has this key, wherever it is below a node of YAML."""
    below: Iterable[object] = ()
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == key)
        below = node.values()
    elif isinstance(node, list):
        below = node
    for each in below:
        yield from values(each, key)


def used(content: object) -> list[str]:
    """The actions and workflows that a workflow uses; an image used as an action is none."""
    return [str(each) for each in values(content, "uses") if not str(each).startswith(DOCKER)]


def images(content: object) -> list[str]:
    """The images that a workflow runs: as containers of jobs, as services and as actions."""
    actions = [each for each in map(str, values(content, "uses")) if each.startswith(DOCKER)]
    # A container is an image, or has one.
    containers = [each for each in values(content, "container") if not isinstance(each, dict)]
    found = [*actions, *containers, *values(content, "image")]
    return [str(each).removeprefix(DOCKER) for each in found]


def names_version(text: str, action: str) -> bool:
    """Whether each line that names an action says which version its commit is."""
    lines = [line.rstrip() for line in text.splitlines() if action in line]
    return bool(lines) and all(VERSION.search(line) for line in lines)


def unpinned(text: str) -> list[str]:
    """What a workflow uses and no commit or digest pins, or whose version it does not name."""
    content = yaml.safe_load(text)
    return [
        *(each for each in images(content) if not IMAGE.fullmatch(each)),
        *(
            each
            for each in used(content)
            if not (ACTION.fullmatch(each) and names_version(text, each))
        ),
    ]


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
    assert used(workflow(file))
    assert unpinned(Path(file).read_text(encoding="utf-8")) == []


COMMIT, DIGEST = "0a" * 20, "sha256:" + "0a" * 32


@pytest.mark.parametrize(
    ("step", "pinned"),
    [
        (f"- uses: a/b@{COMMIT} # v1.2", True),
        (f"- uses: a/b/c@{COMMIT} # v1.2.3", True),
        (f'- "uses": "a/b@{COMMIT}" # v1.2', True),
        (f"- {{ uses: a/b@{COMMIT} }} # v1.2", True),
        (f"- uses: docker://image:1.2@{DIGEST}", True),
        ("- uses: a/b@v1", False),
        ("- { uses: a/b@v1 }", False),
        ("- { name: it, uses: a/b@v1 } # v1.2", False),
        ('- {"uses":"a/b@v1"}', False),
        ("-\n        ? uses\n        : a/b@v1", False),
        ("- uses: >-\n          a/b@v1", False),
        (f"- uses: a/b@{COMMIT[:-1]} # v1.2", False),
        (f"- uses: a/b@{COMMIT}", False),
        (f"- {{ uses: a/b@{COMMIT} }}", False),
        (f"- uses: a/b@{COMMIT} # main", False),
        (f"- uses: a/b@{COMMIT} # v1.2\n      - uses: a/b@{COMMIT}", False),
        (f"- uses: >-\n          a/b@{COMMIT}\n        # v1.2", False),
        (f'- "uses": a/b@{COMMIT}', False),
        # The action is nowhere as it is, so that no version is beside it.
        (f'- uses: "a/b\\x40{COMMIT}" # v1.2', False),
        ("- uses: docker://image:latest", False),
        (f"- uses: docker://image@{DIGEST[:-1]}", False),
        ("- uses: ./local", False),
    ],
)
def test_an_action_without_a_whole_commit_is_found_out(step: str, *, pinned: bool) -> None:
    text = f"jobs:\n  it:\n    steps:\n      {step}\n"
    assert (unpinned(text) == []) is pinned


@pytest.mark.parametrize(
    ("job", "pinned"),
    [
        (f"uses: a/b/.github/workflows/c.yml@{COMMIT} # v1.2", True),
        ("uses: a/b/.github/workflows/c.yml@v1", False),
        ("uses: ./.github/workflows/c.yml", False),
        (f"container: image:1.2@{DIGEST}", True),
        ("container: image:1.2", False),
        ("container: ${{ matrix.image }}", False),
        (f"container: {{ image: host.example/image@{DIGEST} }}", True),
        ("container: { image: host.example/image:latest }", False),
        (f"services: {{ one: {{ image: image@{DIGEST} }} }}", True),
        (f"services: {{ one: {{ image: image@{DIGEST} }}, two: {{ image: image }} }}", False),
    ],
)
def test_a_workflow_or_image_that_is_not_pinned_is_found_out(job: str, *, pinned: bool) -> None:
    assert (unpinned(f"jobs:\n  it:\n    {job}\n") == []) is pinned


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
    [gate] = [step for step in job["steps"] if step.get("run") == ".ci/run"]
    assert "if" not in gate
    assert "continue-on-error" not in gate
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
    cache, _ = _caching()
    order = list(steps(CI))
    [trimmed] = [step for step in order if "tools.cache.trim" in step.get("run", "")]
    assert order.index(cache) < order.index(trimmed)
    assert trimmed["run"].split()[3].strip('"').replace("$HOME", "~") in cache["with"]["path"]


def _caching() -> list[dict[str, Any]]:
    return [step for step in steps(CI) if step.get("uses", "").startswith("actions/cache")]


def test_what_main_built_is_kept_whether_or_not_all_passed() -> None:
    restore, save = _caching()
    assert restore["uses"].startswith("actions/cache/restore@")
    assert save["uses"].startswith("actions/cache/save@")
    assert restore["with"]["key"] == save["with"]["key"]
    assert restore["with"]["path"] == save["with"]["path"]
    assert save["if"] == "${{ !cancelled() && github.ref == 'refs/heads/main' }}"
    order = [step.get("run") for step in steps(CI)]
    assert list(steps(CI)).index(save) > order.index(".ci/run")


def test_the_folders_that_are_kept_are_those_that_bazel_uses() -> None:
    cache, _ = _caching()
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
