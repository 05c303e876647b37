"""Finds what Bazel's files download without a digest."""

from __future__ import annotations

import ast
import re

# The methods of a repository's or an extension's context, and what pins what they fetch.
_DOWNLOADS = ("download", "download_and_extract")
_DIGESTS = ("sha256", "integrity")
# Bazel's own rules for archives, files and repositories of Git.
_RULES = re.compile(r"@+bazel_tools//tools/build_defs/repo:.*")


def faults(path: str, text: str) -> list[str]:
    """A sentence for each download in a Starlark file without a digest.

    What is not a literal counts as a digest: whether it is one, Bazel finds out. Programs that a
    file runs to fetch something are not looked at.
    """
    nodes = list(ast.walk(ast.parse(text)))
    pinned = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _is_pinned(node)}
    sentences = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in _DOWNLOADS and id(node) not in pinned:
            sentences.append(
                f"{path}:{node.lineno}: {ast.unparse(node)} is given no digest; "
                f"give it {' or '.join(_DIGESTS)}"
            )
        elif isinstance(node, ast.Constant) and _RULES.fullmatch(label := str(node.value)):
            sentences.append(
                f"{path}:{node.lineno}: it loads {label}, and nothing here checks what that "
                "fetches; do without it"
            )
    return sentences


def _is_pinned(call: ast.Call) -> bool:
    return any(
        keyword.arg in _DIGESTS
        and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in call.keywords
    )
