"""A download in a .bzl file has a digest."""

from __future__ import annotations

import pytest

from tools.supply.downloads import faults

SHA256 = "0a" * 32


@pytest.mark.parametrize(
    "line",
    [
        f'rctx.download(url = "u", output = "o", sha256 = "{SHA256}")',
        f'rctx.download_and_extract("u", integrity = "sha256-{"A" * 43}=")',
        'mctx.download("u", sha256 = known["u"])',
        'rctx.report_progress("download")',
        "download = 1",
        'load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")',
    ],
)
def test_a_download_with_a_digest_and_what_is_none_are_in_order(line: str) -> None:
    assert faults("a.bzl", f"{line}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        'rctx.download("u", "o")',
        'rctx.download_and_extract(url = "u")',
        'mctx.download("u", sha256 = "")',
        'mctx.download("u", integrity = None)',
        'mctx.download("u", canonical_id = "c")',
        "fetch = rctx.download",
        f'fetch(rctx.download, sha256 = "{SHA256}")',
    ],
)
def test_a_download_without_a_digest_is_a_fault(line: str) -> None:
    [sentence] = faults("a.bzl", f"\n{line}\n")
    assert sentence.startswith("a.bzl:2: ")
    assert sentence.endswith(" is given no digest; give it sha256 or integrity")


@pytest.mark.parametrize(
    "line",
    [
        'load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")',
        'git = use_repo_rule("@@bazel_tools//tools/build_defs/repo:git.bzl", "git_repository")',
    ],
)
def test_a_rule_of_bazel_that_fetches_is_a_fault(line: str) -> None:
    [sentence] = faults("a.bzl", f"{line}\n")
    assert sentence.startswith("a.bzl:1: it loads @")
