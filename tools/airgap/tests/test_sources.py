"""Which mirrors the machine's apt sources name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.airgap.launcher import sources


def _apt(folder: Path, **files: str) -> Path:
    (folder / "sources.list.d").mkdir()
    for name, text in files.items():
        stem, kind = name.rsplit("_", 1)
        target = "sources.list" if stem == "main" else f"sources.list.d/{stem}.{kind}"
        (folder / target).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deb http://d.example/debian bookworm main", ["http://d.example/debian"]),
        ("deb http://d.example/debian/ trixie-updates main contrib", ["http://d.example/debian"]),
        ("deb [arch=amd64 signed-by=/k.gpg] https://d.example/debian sid main # x", None),
        ("deb http://d.example/debian-security bookworm-security main", []),
        ("deb-src http://d.example/debian bookworm main", []),
        ("# deb http://d.example/debian bookworm main", []),
        ("deb https://third.example/node_20.x nodistro main", []),
        ("deb https://third.example/apt bookworm-pgdg main", []),
        ("deb https://third.example/linux/debian bookworm stable", []),
        ("deb cdrom:[Debian]/ bookworm main", []),
        ("deb http://d.example/debian", []),
    ],
)
def test_a_one_line_source_names_a_mirror_only_for_debian_itself(
    tmp_path: Path, line: str, expected: list[str] | None
) -> None:
    found = sources.mirrors(_apt(tmp_path, main_list=line + "\n"))
    assert found == (["https://d.example/debian"] if expected is None else expected)


def test_a_deb822_source_may_name_several_addresses_on_several_lines(tmp_path: Path) -> None:
    text = """\
# http://old.example/debian
Types: deb deb-src
URIs: http://a.example/debian/
# between
 http://b.example/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
URIs: http://a.example/debian-security
Suites: bookworm-security
Components: main
"""
    expected = ["http://a.example/debian", "http://b.example/debian"]
    assert sources.mirrors(_apt(tmp_path, debian_sources=text)) == expected


@pytest.mark.parametrize(("enabled", "count"), [("Enabled: no\n", 0), ("Enabled: yes\n", 1)])
def test_a_disabled_deb822_source_names_none(tmp_path: Path, enabled: str, count: int) -> None:
    text = f"Types: deb\nURIs: http://a.example/d\nSuites: sid\nComponents: main\n{enabled}"
    assert len(sources.mirrors(_apt(tmp_path, debian_sources=text))) == count


def test_a_list_of_mirrors_stands_for_the_addresses_in_it(tmp_path: Path) -> None:
    listed = tmp_path / "mirrors.list"
    listed.write_text("# ours\nhttps://m1.example/debian priority:1\n\nhttps://m2.example/debian\n")
    text = f"Types: deb\nURIs: mirror+file:{listed}\nSuites: trixie\nComponents: main\n"
    expected = ["https://m1.example/debian", "https://m2.example/debian"]
    assert sources.mirrors(_apt(tmp_path, debian_sources=text)) == expected


def test_the_same_address_is_asked_once_and_the_order_is_that_of_apt(tmp_path: Path) -> None:
    apt = _apt(
        tmp_path,
        main_list="deb http://b.example/debian sid main\n",
        other_list="deb http://a.example/debian sid main\ndeb http://b.example/debian/ sid main\n",
    )
    assert sources.mirrors(apt) == ["http://b.example/debian", "http://a.example/debian"]


def test_a_machine_without_apt_has_no_mirror(tmp_path: Path) -> None:
    assert sources.mirrors(tmp_path / "missing") == []
