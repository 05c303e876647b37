"""The two renovations: what they resolve, how they call their tools, and what a failure leaves."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from tools.supply import update_npm, update_python

SRI = "sha512-" + "A" * 86 + "=="
HASH = "--hash=sha256:" + "0" * 64
FILES = [
    *("package.json", "package-lock.json", "deep/package.json", "deep/package-lock.json"),
    *("engine/package.json", "stray/package-lock.json"),
    *("requirements.in", "requirements_lock.txt", "lonely.in", "tools/requirements.in"),
    *("tools/requirements_lock.txt", "notes.md"),
]


def test_every_lock_beside_a_package_json_is_resolved_and_nothing_else() -> None:
    assert update_npm.locks_in(FILES) == ["package-lock.json", "deep/package-lock.json"]


def test_every_file_of_wishes_with_a_lock_is_resolved_and_nothing_else() -> None:
    assert update_python.wishes_in(FILES) == ["requirements.in", "tools/requirements.in"]


def test_versions_are_kept_unless_they_are_asked_to_rise() -> None:
    assert update_python.upgrades([], everything=False) == []
    assert update_python.upgrades(["a", "b"], everything=False) == [
        "--upgrade-package=a",
        "--upgrade-package=b",
    ]
    assert update_python.upgrades(["a"], everything=True) == ["--upgrade"]
    assert [step[0] for step in update_npm.commands([], everything=False)] == ["install"]
    assert [step[0] for step in update_npm.commands([], everything=True)] == ["install", "update"]
    assert update_npm.commands(["a"], everything=False)[1][-1] == "a"
    assert "a" not in update_npm.commands(["a"], everything=True)[1]


def test_npm_runs_no_script_and_fetches_no_package() -> None:
    for step in update_npm.commands(["a"], everything=False):
        assert {"--ignore-scripts", "--package-lock-only"} <= set(step)


def test_the_lock_of_python_is_for_the_python_of_the_build() -> None:
    tree = ast.parse(Path("MODULE.bazel").read_text(encoding="utf-8"))
    named = {
        ast.literal_eval(keyword.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "python_version"
    }
    assert named == {update_python.PYTHON}
    assert f"--python-version={update_python.PYTHON}" in update_python.command(
        Path("uv"), "requirements.in", "requirements_lock.txt", []
    )


def test_addresses_are_taken_out_of_npms_lock_and_links_stay() -> None:
    packages = {
        "": {"name": "it"},
        "node_modules/a": {"version": "1", "resolved": "https://host.example/ä.tgz"},
        "node_modules/b": {"resolved": "b", "link": True},
    }
    text = json.dumps({"lockfileVersion": 3, "packages": packages})
    assert json.loads(update_npm.without_addresses(text))["packages"] == {
        "": {"name": "it"},
        "node_modules/a": {"version": "1"},
        "node_modules/b": {"resolved": "b", "link": True},
    }


def test_a_lock_without_addresses_stays_as_npm_wrote_it() -> None:
    text = json.dumps({"lockfileVersion": 3, "author": "Jürgen"}, indent=2, ensure_ascii=False)
    assert update_npm.without_addresses(text + "\n") == text + "\n"


def test_npm_sees_of_the_environment_only_what_the_network_asks(tmp_path: Path) -> None:
    caller = {
        "HTTPS_PROXY": "p",
        "NPM_CONFIG_REGISTRY": "m",
        "npm_config_cache": "/c",
        "TOKEN": "t",
    }
    seen = update_npm.environment(caller, Path("/n/node"), tmp_path)
    assert seen["HTTPS_PROXY"] == "p"
    assert seen["NPM_CONFIG_REGISTRY"] == "m"
    assert seen["HOME"] == str(tmp_path)
    assert seen["npm_config_cache"] == str(tmp_path / "cache")
    assert "TOKEN" not in seen
    assert seen["PATH"].startswith("/n:")


class Checkout:
    """A checkout with locks, and tools that are made up."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "checkout"
        self.folder.mkdir()
        self.files = folder / "files"
        self._patch = monkeypatch
        monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(self.folder))

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.folder / name.replace("__", ".")).write_text(text)
        self.files.write_text("\n".join(file.name for file in self.folder.iterdir()))

    def tool(self, name: str, code: str) -> Path:
        tool = self.folder.parent / name
        tool.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{code}")
        tool.chmod(0o755)
        return tool

    def run(self, program: object, *arguments: str) -> int:
        self._patch.setattr(sys, "argv", ["it", f"--files={self.files}", *arguments])
        main = program.main  # type: ignore[attr-defined]
        code = main()
        assert isinstance(code, int)
        return code


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    return Checkout(tmp_path, monkeypatch)


UV = """
lock = pathlib.Path(sys.argv[sys.argv.index("--output-file") + 1])
assert lock.read_text().startswith("a==1"), "the old lock says which versions to keep"
assert pathlib.Path("requirements.in").read_text() == "a"
lock.write_text("a==%s --hash=sha256:" + "0" * 64 + chr(10))
"""


def test_the_lock_of_python_is_resolved_in_the_checkout(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.write(requirements__in="a", requirements_lock__txt=f"a==1 {HASH}\n")
    tool = f"--tool={checkout.tool('uvx', '')} {checkout.tool('uv', UV % 2)}"
    assert checkout.run(update_python, tool) == 0
    assert (checkout.folder / "requirements_lock.txt").read_text() == f"a==2 {HASH}\n"
    assert capsys.readouterr().out == "requirements_lock.txt:\n  a 1 -> 2\n"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(UV % 2 + "sys.exit('no such version')", id="it fails after it wrote"),
        pytest.param(UV.replace("--hash=sha256:", "--hash=md5:") % 2, id="it pins badly"),
    ],
)
def test_a_resolution_of_python_that_fails_leaves_the_lock(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    checkout.write(requirements__in="a", requirements_lock__txt=f"a==1 {HASH}\n")
    assert checkout.run(update_python, f"--tool={checkout.tool('uv', code)}") == 1
    assert (checkout.folder / "requirements_lock.txt").read_text() == f"a==1 {HASH}\n"
    assert capsys.readouterr().err.splitlines()[-1].startswith("What to do: ")


def test_a_misspelt_name_is_told_before_anything_is_resolved(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.write(requirements__in="a", requirements_lock__txt=f"a==1 {HASH}\n")
    tool = f"--tool={checkout.tool('uv', 'sys.exit(9)')}"
    assert checkout.run(update_python, tool, "aa") == 1
    assert "has aa." in capsys.readouterr().err


def test_a_name_may_be_spelt_as_python_allows_and_be_wanted_for_the_first_time(
    checkout: Checkout,
) -> None:
    checkout.write(requirements__in="a", requirements_lock__txt=f"a==1 {HASH}\nb-c==1 {HASH}\n")
    tool = f"--tool={checkout.tool('uv', UV % 2)}"
    assert checkout.run(update_python, tool, "B_c", "A") == 0


NODE = """
lock = pathlib.Path("package-lock.json")
assert sys.argv[2] == "install"
assert pathlib.Path(".npmrc").exists()
lock.write_text(lock.read_text().replace('"1"', '"2", "resolved": "https://host.example"'))
"""


def npm_lock(version: str) -> str:
    entry = {"version": version, "integrity": SRI}
    lock = {"lockfileVersion": 3, "packages": {"": {}, "node_modules/a": entry}}
    return json.dumps(lock, indent=2) + "\n"


def test_the_lock_of_npm_is_resolved_in_the_checkout_and_loses_its_addresses(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout.write(package__json="{}", __npmrc="", **{"package-lock__json": npm_lock("1")})
    node = checkout.tool("node", NODE)
    assert checkout.run(update_npm, f"--node={node}", "--npm=npm-cli.js") == 0
    assert (checkout.folder / "package-lock.json").read_text() == npm_lock("2")
    assert capsys.readouterr().out == "package-lock.json:\n  a 1 -> 2\n"


def test_a_misspelt_name_of_npm_is_told_too(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = '{"devDependencies": {"new": "1"}}'
    checkout.write(package__json=manifest, __npmrc="", **{"package-lock__json": npm_lock("1")})
    node = f"--node={checkout.tool('node', 'sys.exit(9)')}"
    assert checkout.run(update_npm, node, "--npm=npm-cli.js", "nosuchname") == 1
    assert "has nosuchname." in capsys.readouterr().err
    assert checkout.run(update_npm, node, "--npm=npm-cli.js", "a", "new") == 1
    assert "node ended with exit code 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(NODE + "sys.exit('no such version')", id="it fails after it wrote"),
        pytest.param(
            NODE + "pathlib.Path('package.json').write_text('{ }')", id="it changes package.json"
        ),
        pytest.param(
            NODE + "lock.write_text(lock.read_text().replace('sha512', 'md5'))", id="it pins badly"
        ),
    ],
)
def test_a_resolution_of_npm_that_fails_leaves_the_lock(
    checkout: Checkout, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    checkout.write(package__json="{}", __npmrc="", **{"package-lock__json": npm_lock("1")})
    node = checkout.tool("node", code)
    assert checkout.run(update_npm, f"--node={node}", "--npm=npm-cli.js") == 1
    assert (checkout.folder / "package-lock.json").read_text() == npm_lock("1")
    assert capsys.readouterr().err.splitlines()[-1].startswith("What to do: ")
