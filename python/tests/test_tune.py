"""Tuning: labels, variants, what counts as caught, and what is shown of it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine import tune_sessions
from satyrn_engine._labels import Label, assign, read_labels
from satyrn_engine._tune import Sweep, base_settings, mark_best, outcome
from satyrn_engine._tune_page import page
from satyrn_engine._variants import DEFAULT_KEYS, Variant, parse_keys, variants
from satyrn_engine.cli import main
from satyrn_engine.errors import ConfigError
from satyrn_engine.reports import SessionReport
from satyrn_engine.tuning import TuneReport, VariantResult
from tests.sessions import Entry, chain, header, repeated, turn, user, write

BASE = Variant("base", {}, {})


# Labels


def _labels(folder: Path, text: str) -> list[Label]:
    file = folder / "labels.tsv"
    file.write_text(text)
    return read_labels(file)


@pytest.mark.parametrize(
    "text",
    [
        "session\tlabel\na.jsonl\tloop\nb\tlegitimate\n",
        "session,label\r\na.jsonl,loop\r\n\r\nb,legitimate\r\n",
        "why,label,session\nx,loop,a.jsonl\ny,legitimate,b\n",
        "\ufeffsession\tlabel\n a.jsonl \t loop \nb\tlegitimate",
    ],
)
def test_a_table_of_labels_is_read_with_tabs_or_commas(tmp_path: Path, text: str) -> None:
    found = [(each.session, each.label) for each in _labels(tmp_path, text)]
    assert found == [("a.jsonl", "loop"), ("b", "legitimate")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "labels.tsv:1: has no column 'session'"),
        ("session\tlable\na\tloop\n", "labels.tsv:1: has no column 'label'"),
        ("session\tlabel\na\tloop\nb\tlop\n", "labels.tsv:3: 'lop' is no label; write loop or"),
        ("session\tlabel\n\nb\n", "labels.tsv:3: gives no session or no label"),
        ("session\tlabel\n\tloop\n", "labels.tsv:2: gives no session or no label"),
        ("session\tlabel\n", "labels no session"),
    ],
)
def test_a_wrong_line_is_named_with_file_and_number(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        _labels(tmp_path, text)


def test_labels_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="check the path"):
        read_labels(tmp_path / "no.tsv")
    (tmp_path / "latin.tsv").write_bytes(b"session\tlabel\n\xe9\tloop\n")
    with pytest.raises(ConfigError, match="save it as UTF-8"):
        read_labels(tmp_path / "latin.tsv")


REPORTS = [SessionReport("/s/one/a.jsonl", "id-a"), SessionReport("/s/two/a.jsonl", "id-b")]


@pytest.mark.parametrize("name", ["id-a", "one/a.jsonl", "/s/one/a.jsonl", "s/one/a.jsonl"])
def test_a_session_is_found_by_its_id_or_the_end_of_its_path(name: str) -> None:
    found, lost = assign([Label("f:2", name, "loop")], REPORTS)
    assert found == {("/s/one/a.jsonl", "id-a"): "loop"}
    assert lost == []


def test_a_part_of_a_name_is_no_name() -> None:
    missing = Label("f:2", "e/a.jsonl", "loop")
    assert assign([missing], REPORTS) == ({}, [missing])


def test_a_name_of_two_sessions_and_two_labels_of_one_are_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"f:2: a\.jsonl is 2 sessions .*; write more of the path"
    ):
        assign([Label("f:2", "a.jsonl", "loop")], REPORTS)
    two = [Label("f:2", "id-a", "loop"), Label("f:9", "one/a.jsonl", "legitimate")]
    with pytest.raises(
        ConfigError, match=r"f:9: .* is legitimate here and loop in f:2; correct one"
    ):
        assign(two, REPORTS)
    twice = [Label("f:2", "id-a", "loop"), Label("f:9", "one/a.jsonl", "loop")]
    assert len(assign(twice, REPORTS)[0]) == 1


# Variants


def test_one_key_is_changed_at_a_time_and_the_base_comes_first() -> None:
    found = variants({"PROFILE": "classic", "A": 1}, {"A": [1, 2], "B": [3]}, grid=False)
    assert [each.name for each in found] == ["base", "A=2", "B=3"]
    assert found[2].settings == {"PROFILE": "classic", "A": 1, "B": 3}


def test_a_grid_has_every_combination_once() -> None:
    found = variants({"A": 1}, {"A": [1, 2], "B": [3, 4]}, grid=True)
    assert [each.name for each in found] == ["base", "B=3", "B=4", "A=2 B=3", "A=2 B=4"]


def test_too_many_variants_are_refused() -> None:
    with pytest.raises(ConfigError, match="10,000 variants are too many"):
        variants({}, {"A": list(range(100)), "B": list(range(100))}, grid=True)
    assert len(variants({}, {"A": list(range(100)), "B": list(range(100))}, grid=False)) == 201


def test_keys_are_read_as_numbers_where_they_are_some() -> None:
    assert parse_keys(["A=1,2.5, x", "A=-3", "B=.5"]) == {"A": [1, 2.5, "x", -3], "B": [0.5]}


@pytest.mark.parametrize("text", ["A", "A=", "=1", "A=,", ""])
def test_a_key_without_a_value_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="write a setting and its values"):
        parse_keys([text])


def test_a_key_that_acts_outside_of_the_replay_is_refused() -> None:
    with pytest.raises(ConfigError, match="HOOK_CMD"):
        parse_keys(["HOOK_CMD=rm"])


# What counts


def _report(source: str, told: int | None, enforced: int | None) -> SessionReport:
    return SessionReport(source, first_detection=told, first_enforcement=enforced)


def test_a_loop_is_caught_by_what_was_kept_from_happening_and_told_by_anything() -> None:
    labelled = [
        ("loop", _report("a", 3, 7)),
        ("loop", _report("b", 4, None)),
        ("loop", _report("c", None, None)),
        ("loop", _report("d", 9, 10)),
        ("legitimate", _report("e", 1, None)),
        ("legitimate", _report("f", 1, 2)),
        ("legitimate", _report("g", None, None)),
    ]
    found = outcome(BASE, labelled)
    assert (found.caught, found.told, found.missed) == (2, 3, 2)
    assert (found.false_alarms, found.false_alarms_told) == (1, 2)
    assert found.median_calls == 8.5
    assert found.missed_sessions == ["b", "c"]
    assert found.false_alarm_sessions == ["f"]


def test_nothing_caught_has_no_median() -> None:
    assert outcome(BASE, [("loop", _report("a", 1, None))]).median_calls is None


def _rows(*goals: tuple[int, int, float | None]) -> list[VariantResult]:
    return [
        VariantResult(str(goal), {}, caught=goal[0], false_alarms=goal[1], median_calls=goal[2])
        for goal in goals
    ]


def test_the_best_are_those_that_no_other_beats() -> None:
    rows = _rows((8, 5, 4), (8, 1, 9), (8, 5, 5), (7, 1, 9), (9, 9, 9), (0, 0, None), (8, 5, 4))
    mark_best(rows)
    assert [row.best for row in rows] == [True, True, False, False, True, True, False]


# With the shipped police


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two loops, honest work, a session without a label, and a table of labels."""

    def session(name: str, messages: list[Entry]) -> None:
        write(tmp_path / "recorded" / name, [header(id=name), *chain([user(), *messages])])

    session("loop.jsonl", repeated(8))
    session("reads.jsonl", [each for n in range(9) for each in turn("read", path="a", offset=n)])
    session("honest.jsonl", [each for n in range(9) for each in turn("bash", command=f"job {n}")])
    session("unlabelled.jsonl", repeated(3))
    table = "session\tlabel\nloop.jsonl\tloop\nreads.jsonl\tloop\nhonest.jsonl\tlegitimate\n"
    (tmp_path / "labels.tsv").write_text(table)
    return tmp_path


Tune = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tune(folder: Path, capsys: pytest.CaptureFixture[str]) -> Tune:
    """Run the command in that folder."""

    def run(*more: str) -> tuple[int, str, str]:
        given = ["tune", str(folder / "recorded"), "--labels", str(folder / "labels.tsv"), *more]
        code = main(given)
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def test_a_sweep_shows_what_a_setting_catches_and_what_it_costs(tune: Tune) -> None:
    code, out, _ = tune(
        "--key", "TOOL_LOOP_BAN=0", "--key", "FILE_SCAN_LIMIT=4", "--format", "json"
    )
    assert code == 0
    report = json.loads(out)
    counts = {key: report[key] for key in ("loops", "legitimate", "unlabelled", "lost_labels")}
    assert counts == {"loops": 2, "legitimate": 1, "unlabelled": 1, "lost_labels": []}
    base, unbanned, scans = report["variants"]
    assert (base["name"], base["caught"], base["missed"]) == ("base", 1, 1)
    assert [Path(each).name for each in base["missed_sessions"]] == ["reads.jsonl"]
    assert (unbanned["changes"], unbanned["caught"]) == ({"TOOL_LOOP_BAN": 0}, 0)
    assert unbanned["median_calls"] is None
    assert (scans["changes"], scans["caught"]) == ({"FILE_SCAN_LIMIT": 4}, 2)
    # The second identical call, and the fifth read.
    assert (base["median_calls"], scans["median_calls"]) == (2, 3.5)
    assert (base["best"], unbanned["best"], scans["best"]) == (True, False, True)
    assert all(each["false_alarms"] == 0 for each in report["variants"])


def test_the_table_says_what_it_is_about(tune: Tune) -> None:
    code, out, err = tune("--key", "TOOL_LOOP_BAN=0")
    assert (code, err) == (0, "")
    assert "2 loops and 1 legitimate session, police classic" in out
    assert re.search(r"TOOL_LOOP_BAN=0 .* 0 .* 2 ", out)
    assert "1 session without a label did not count." in out


def test_csv_has_a_row_for_each_variant_and_standard_error_the_rest(tune: Tune) -> None:
    _, out, err = tune("--key", "TOOL_LOOP_BAN=0", "--format", "csv", "--profile", "evidence")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["name"] for row in rows] == ["base", "TOOL_LOOP_BAN=0"]
    assert rows[0]["false_alarms"] == "0"
    assert "1 session without a label" in err


def test_the_page_has_the_table_and_a_plot_and_loads_nothing(tune: Tune, folder: Path) -> None:
    assert tune("--key", "TOOL_LOOP_BAN=0", "--html", str(folder / "tune.html"))[0] == 0
    html = (folder / "tune.html").read_text()
    assert re.findall(r"<td>(\S+)</td>", html) == ["base", "TOOL_LOOP_BAN=0"]
    assert html.count("<svg") == 1
    assert ">base</text>" in html
    assert "missed: " in html
    assert not re.findall(r"""(?:src|href)=["'](?!#)|url\((?!#)|@import|<script""", html)


def test_what_is_not_ours_is_shown_as_text() -> None:
    evil = "<script>alert(1)"
    report = TuneReport({"PROFILE": evil}, 1, 0, lost_labels=[evil])
    report.variants = [VariantResult(evil, {}, missed=1, missed_sessions=[evil])]
    assert "<script" not in page(report)


def test_a_label_without_a_session_is_named_and_the_exit_code_says_so(
    tune: Tune, folder: Path
) -> None:
    with (folder / "labels.tsv").open("a") as file:
        file.write("gone.jsonl\tloop\n")
    code, out, _ = tune("--key", "TOOL_LOOP_BAN=0")
    assert code == 1
    assert "labels.tsv:5: gone.jsonl" in out.replace("\n", "")


def test_a_session_that_cannot_be_read_is_named_and_the_exit_code_says_so(
    tune: Tune, folder: Path
) -> None:
    (folder / "recorded" / "x.jsonl").write_text("nothing\n")
    code, out, _ = tune("--key", "TOOL_LOOP_BAN=0", "--format", "json")
    assert code == 1
    (skipped,) = json.loads(out)["skipped"]
    assert skipped["source"].endswith("x.jsonl")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--key", "TOOL_LOOP_BAN"], "write a setting and its values"),
        (["--key", "NO_SUCH_KEY=1"], "NO_SUCH_KEY is not a known setting"),
        (["--key", "REREAD_RATIO=7"], "REREAD_RATIO"),
        (["--jobs", "0"], "--jobs must be 1 or more"),
        (["--html", "/nope/x.html"], "its folder does not exist"),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_read(
    tune: Tune, more: list[str], said: str
) -> None:
    code, out, err = tune(*more)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())


def test_no_label_that_fits_is_a_wrong_command_line(tune: Tune, folder: Path) -> None:
    (folder / "labels.tsv").write_text("session\tlabel\nother.jsonl\tloop\n")
    code, _, err = tune("--key", "TOOL_LOOP_BAN=0")
    assert code == 2
    assert "none of the 4 sessions has a label" in " ".join(err.split())


def test_the_library_does_the_same(folder: Path) -> None:
    labels = {"loop.jsonl": "loop", "honest.jsonl": "legitimate"}
    report = tune_sessions([folder / "recorded"], labels, {"TOOL_LOOP_BAN": [0]}, jobs=1)
    assert [each.caught for each in report.variants] == [1, 0]
    with pytest.raises(ConfigError, match="'odd' is no label"):
        tune_sessions([folder / "recorded"], {"loop.jsonl": "odd"})


def test_settings_of_a_file_are_the_base(folder: Path) -> None:
    config = folder / "loop-police.json"
    config.write_text(json.dumps({"CONFIG_VERSION": 4, "TOOL_LOOP_BAN": 0, "HOOK_CMD": "false"}))
    report = tune_sessions(
        [folder / "recorded"],
        folder / "labels.tsv",
        {"TOOL_LOOP_BAN": [1]},
        police_config=config,
    )
    assert report.base == {"TOOL_LOOP_BAN": 0, "PROFILE": "classic"}
    assert [each.caught for each in report.variants] == [0, 1]


def test_a_file_of_an_older_version_means_what_it_meant(folder: Path) -> None:
    """Before settings were stamped with a version, 0 was what 1 is today."""
    config = folder / "loop-police.json"

    def base(settings: dict[str, int]) -> dict[str, Any]:
        config.write_text(json.dumps(settings))
        return tune_sessions(
            [folder / "recorded"],
            folder / "labels.tsv",
            {"TOOL_LOOP_BAN": [1]},
            police_config=config,
        ).base

    assert base({"TOOL_LOOP_BAN": 0})["TOOL_LOOP_BAN"] == 1
    assert base({"TOOL_LOOP_BAN": 0, "CONFIG_VERSION": 4})["TOOL_LOOP_BAN"] == 0


@pytest.mark.parametrize("profile", DEFAULT_KEYS)
def test_the_settings_that_are_tried_by_default_are_settings_of_police(profile: str) -> None:
    sweep = Sweep(base_settings(profile, None), None, grid=False)
    names = {key for each in sweep.variants for key in each.changes}
    assert names == set(DEFAULT_KEYS[profile])
    assert sweep.variants[0].name == "base"
