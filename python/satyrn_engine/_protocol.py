"""One request, one response: how the Pi extension asks this package.

The request is a JSON object on standard input, `{"version": 1, "operation": "check", "repo": ...,
"contract": ...}`; the response is one on standard output, `{"version": 1, "ok": ..., "code": ...,
"message": ...}`. The exit code says the same, for a caller that gets no response.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, Literal

import msgspec

from satyrn_engine._contract import CheckResult, Code, check_contract

VERSION: Literal[1] = 1
#: A request holds two paths.
MAX_REQUEST = 1 << 20


class _Request(msgspec.Struct, frozen=True):
    version: int
    operation: str
    repo: str
    contract: str


class _Response(msgspec.Struct, frozen=True):
    version: Literal[1]
    ok: bool
    code: str
    message: str


def answer(requests: IO[bytes], responses: IO[bytes]) -> Code:
    """Answer the one request, and return the outcome."""
    result = _carry_out(requests.read(MAX_REQUEST + 1))
    response = _Response(VERSION, result.ok, result.code.name, result.message)
    responses.write(msgspec.json.encode(response) + b"\n")
    responses.flush()
    return result.code


def _carry_out(data: bytes) -> CheckResult:
    try:
        request = msgspec.json.decode(data, type=_Request)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return CheckResult(Code.INVALID_REQUEST, f"the request cannot be read: {error}")
    if request.version != VERSION:
        why = f"the request has version {request.version}; this satyrn-engine speaks {VERSION}"
        return CheckResult(Code.INVALID_REQUEST, why)
    if request.operation != "check":
        why = f"the operation {request.operation!r} is not known; the only one is 'check'"
        return CheckResult(Code.INVALID_REQUEST, why)
    if "\0" in request.repo + request.contract:
        return CheckResult(Code.INVALID_REQUEST, "a path of the request holds a null character")
    # A path that is relative is so to the repo.
    return check_contract(Path(request.repo), Path(request.repo, request.contract))
