"""Checks a contract: what `satyrn-engine check` and `satyrn-engine protocol` share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import yaml

#: A contract is a few paragraphs; a larger file is another kind of file.
MAX_CONTRACT = 1 << 20
#: What a contract must have, as texts that are not empty.
FIELDS = ("id", "task")


class Code(IntEnum):
    """The outcome of a check, which is also its exit code.

    1 is never used on purpose, so that a crash is not a refusal.
    """

    OK = 0
    USAGE = 2
    CONTRACT_UNREADABLE = 3
    CONTRACT_INVALID_YAML = 4
    CONTRACT_MISSING_FIELD = 5
    REPO_UNAVAILABLE = 6
    INVALID_REQUEST = 7


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found.

    Attributes:
        code: the outcome.
        message: a sentence for the person who wrote the contract.
    """

    code: Code
    message: str

    @property
    def ok(self) -> bool:
        """Whether the contract can be worked on."""
        return self.code is Code.OK


def check_contract(repo: Path, contract: Path) -> CheckResult:
    """Check that there is a repo, and a contract for it that names what is to be done.

    Args:
        repo: the folder that the contract is about.
        contract: a YAML file; a relative path is looked up in the current folder.
    """
    if not repo.is_dir():
        return CheckResult(Code.REPO_UNAVAILABLE, f"{repo}: is no folder; check the path")
    try:
        with contract.open("rb") as file:
            data = file.read(MAX_CONTRACT + 1)
    except OSError as error:
        why = f"{contract}: cannot be read ({error.strerror}); check the path"
        return CheckResult(Code.CONTRACT_UNREADABLE, why)
    if len(data) > MAX_CONTRACT:
        why = f"{contract}: is larger than 1 MiB; name a contract"
        return CheckResult(Code.CONTRACT_UNREADABLE, why)
    return _check_text(contract, data)


def _check_text(contract: Path, data: bytes) -> CheckResult:
    try:
        # The safe loader builds plain values only. A date that does not exist is a ValueError.
        document = yaml.safe_load(data.decode("utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        why = f"{contract}: is not YAML ({_one_line(error)}); correct it"
        return CheckResult(Code.CONTRACT_INVALID_YAML, why)
    if not isinstance(document, dict):
        why = f"{contract}: is not a mapping; give it the fields {' and '.join(FIELDS)}"
        return CheckResult(Code.CONTRACT_INVALID_YAML, why)
    for field in FIELDS:
        value = document.get(field)
        if not isinstance(value, str) or not value.strip():
            wrong = "is missing" if field not in document else "must be a text that is not empty"
            why = f"{contract}: the field {field} {wrong}"
            return CheckResult(Code.CONTRACT_MISSING_FIELD, why)
    return CheckResult(Code.OK, f"{contract}: contract {document['id'].strip()} can be worked on")


def _one_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return " ".join(str(error).split())
