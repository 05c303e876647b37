"""What the caller's environment says inside the private root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Configuration of the caller's own tools: it names folders that are not there, or would make the
# build depend on who runs it.
_DROPPED_PREFIXES = ("CONDA_", "LD_", "NODE_", "NPM_", "PIP_", "PYENV_", "PYTHON", "UV_")
_DROPPED = frozenset(
    [
        *("BASH_ENV", "CLASSPATH", "CPATH", "ENV", "JAVA_HOME", "JAVA_TOOL_OPTIONS"),
        *("JDK_JAVA_OPTIONS", "LIBRARY_PATH", "OLDPWD", "PERL5LIB", "REQUESTS_CA_BUNDLE"),
        *("SSL_CERT_DIR", "VIRTUAL_ENV", "_JAVA_OPTIONS"),
    ]
)
# A network's own mirror of a registry; what comes from it is held to the digests of the locks.
_KEPT = frozenset(("NPM_CONFIG_REGISTRY", "PIP_INDEX_URL"))

# Where everything in the root, which is Debian, looks for certificates.
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def inside(environ: Mapping[str, str], cache: Path) -> dict[str, str]:
    """The environment for a program in the private root.

    TERM, NO_COLOR, LANG, HOME, proxies and all else that concerns no tool of the build passes,
    so that `bazel run` reaches its target with it. Node.js and pip trust lists of their own
    until they are told of the system's, which may hold the certificate of a proxy.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name.upper() in _KEPT
        or not (name in _DROPPED or name.upper().startswith(_DROPPED_PREFIXES))
    }
    kept.update(
        PATH="/usr/bin:/bin",
        # What was downloaded once serves every checkout; the digests of the locks are checked.
        BAZEL_NPM_CACHE=str(cache / "npm"),
        PIP_CACHE_DIR=str(cache / "pip"),
        NODE_EXTRA_CA_CERTS=BUNDLE,
        PIP_CERT=BUNDLE,
        SSL_CERT_FILE=BUNDLE,
    )
    return kept


def certificates(environ: Mapping[str, str]) -> Path | None:
    """The machine's bundle of trusted certificates, or None to trust the private root's own."""
    for name in (environ.get("SSL_CERT_FILE", ""), BUNDLE):
        if name and Path(name).is_file():
            return Path(name)
    return None
