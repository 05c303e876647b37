"""Drive a real Pi with a scripted model: no account, no network, no trace.

For tests of Pi extensions, and for this project's own. Standard library only::

    from satyrn_engine.testing import bash, real_pi, say

    def test_the_sixth_identical_command_is_refused() -> None:
        with real_pi([bash("ls")] * 6 + [say("Done.")], install="./my-package") as (pi, model):
            results = pi.run("List the files.").session.results
            assert [result.is_error for result in results] == [False] * 5 + [True]

Pi and Node are found as `SATYRN_PI` (its cli.js) and `SATYRN_NODE`, else on `PATH`.
"""

from satyrn_engine.testing.errors import (
    PackageError,
    PiError,
    PiFailedError,
    PiNotFoundError,
    PiTimeoutError,
    SessionFormatError,
)
from satyrn_engine.testing.home import PROVIDER, PiHome
from satyrn_engine.testing.jsonl import JsonObject, LineCutter, parse_jsonl, parse_line
from satyrn_engine.testing.model import Exchange, Request, Script, ScriptedModel, SeenResult
from satyrn_engine.testing.package import Package, read_package
from satyrn_engine.testing.pi import InstalledPackage, PiRun, RealPi, real_pi, source_of_tarball
from satyrn_engine.testing.program import NODE_VARIABLE, PI_VARIABLE, PiProgram, find_pi
from satyrn_engine.testing.replies import (
    Failure,
    Reply,
    Text,
    Thinking,
    ToolCall,
    bash,
    call,
    calls,
    say,
)
from satyrn_engine.testing.rpc import RpcSession
from satyrn_engine.testing.session import (
    CalledTool,
    CustomEntry,
    Entry,
    Session,
    ToolResult,
    read_session,
)
from satyrn_engine.testing.trees import tree_digest, tree_listing

__all__ = [
    "NODE_VARIABLE",
    "PI_VARIABLE",
    "PROVIDER",
    "CalledTool",
    "CustomEntry",
    "Entry",
    "Exchange",
    "Failure",
    "InstalledPackage",
    "JsonObject",
    "LineCutter",
    "Package",
    "PackageError",
    "PiError",
    "PiFailedError",
    "PiHome",
    "PiNotFoundError",
    "PiProgram",
    "PiRun",
    "PiTimeoutError",
    "RealPi",
    "Reply",
    "Request",
    "RpcSession",
    "Script",
    "ScriptedModel",
    "SeenResult",
    "Session",
    "SessionFormatError",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "bash",
    "call",
    "calls",
    "find_pi",
    "parse_jsonl",
    "parse_line",
    "read_package",
    "read_session",
    "real_pi",
    "say",
    "source_of_tarball",
    "tree_digest",
    "tree_listing",
]
