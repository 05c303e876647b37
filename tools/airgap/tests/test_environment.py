"""What the caller's environment says inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.airgap.launcher import environment

CACHE = Path("/c")


@pytest.mark.parametrize(
    "name", ["TERM", "NO_COLOR", "LANG", "HOME", "https_proxy", "PIP_INDEX_URL", "MY_TOKEN"]
)
def test_what_concerns_no_tool_of_the_build_passes(name: str) -> None:
    assert environment.inside({name: "value"}, CACHE)[name] == "value"


@pytest.mark.parametrize(
    "name",
    [
        *("PIP_FIND_LINKS", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NODE_OPTIONS"),
        *("NPM_CONFIG_CACHE", "npm_config_prefix", "LD_PRELOAD", "JAVA_HOME", "BASH_ENV"),
    ],
)
def test_configuration_of_the_callers_own_tools_stays_outside(name: str) -> None:
    assert name not in environment.inside({name: "value"}, CACHE)


def test_node_and_pip_trust_what_the_system_trusts_even_in_a_bare_environment() -> None:
    inside = environment.inside({}, CACHE)
    assert inside["NODE_EXTRA_CA_CERTS"] == inside["PIP_CERT"] == environment.BUNDLE
    assert inside["PATH"] == "/usr/bin:/bin"


def test_a_bundle_of_the_callers_is_used_only_if_it_is_there(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    missing = environment.certificates({"SSL_CERT_FILE": str(bundle)})
    assert missing != bundle
    bundle.write_text("")
    assert environment.certificates({"SSL_CERT_FILE": str(bundle)}) == bundle
