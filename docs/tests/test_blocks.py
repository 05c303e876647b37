"""Every block of code in the documentation can be read by what it is for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from docs.tests.pages import Block, blocks, pages, parsed
from tools.staging import link_node_modules

READERS: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
}
#: What a block may be; `text` is for what no program reads.
LANGUAGES = {*READERS, "console", "python", "ts", "text"}


def named(found: list[Block]) -> list[object]:
    """Return the blocks as parameters that are named by their places."""
    return [pytest.param(block, id=block.place) for block in found]


def test_every_page_is_found() -> None:
    expected = {"README.md", "engine/README.md", "police/README.md", "replay/README.md"}
    assert expected <= set(pages())
    assert {"docs/index.md", "docs/tutorial/first-loop.md"} <= set(pages())


@pytest.mark.parametrize("block", named(blocks()))
def test_a_block_names_its_language(block: Block) -> None:
    assert block.language in LANGUAGES, f"{block.place}: {block.language!r}"


@pytest.mark.parametrize("block", named(blocks(*READERS)))
def test_data_can_be_read(block: Block) -> None:
    assert READERS[block.language](block.text) is not None


@pytest.mark.parametrize("block", named(blocks("python")))
def test_python_compiles(block: Block) -> None:
    compile(block.text, block.place, "exec")


def test_typescript_type_checks(tmp_path: Path) -> None:
    found = blocks("ts")
    assert found
    modules = os.environ["DOCS_NODE_MODULES"].split()
    link_node_modules(modules, tmp_path)
    config = json.loads(Path("tsconfig.json").read_text("utf-8"))
    (tmp_path / "tsconfig.json").write_text(json.dumps({**config, "include": ["*.ts"]}))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    names = {}
    for number, block in enumerate(found):
        names[f"block{number}.ts"] = block.place
        (tmp_path / f"block{number}.ts").write_text(block.text, encoding="utf-8")
    node = str(Path(os.environ["SATYRN_NODE"]).absolute())
    compiler = "node_modules/typescript/bin/tsc"
    command = [node, compiler, "--noEmit", "--project", "tsconfig.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{names}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", pages())
def test_no_comment_begins_a_line_of_a_sentence_and_so_ends_its_paragraph(page: str) -> None:
    html = [token.content for token in parsed(page) if token.type == "html_block"]
    assert not [text for text in html if re.search(r"^\s*<!--.*-->[^\S\n]*[^\s<]", text)]


@pytest.mark.parametrize("block", named(blocks("console")))
def test_a_command_stands_behind_a_prompt(block: Block) -> None:
    assert block.text.startswith("$ "), f"{block.place}: begin each command with `$ `"


@pytest.mark.parametrize("block", named([block for block in blocks() if block.not_run is not None]))
def test_what_is_not_run_says_why(block: Block) -> None:
    assert block.language in {"console", "python"}
    assert len((block.not_run or "").split()) >= 2, block.place
