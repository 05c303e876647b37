"""Download the wheel of one requirement with pip and lay it out for Bazel, where this runs.

Called with the folder that holds pip and the name of the hub; requirement.txt is beside. The
wheel's modules come into site-packages/, its scripts into bin/, and BUILD.bazel makes a library
of them whose dependencies are the hub's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from pathlib import Path

# Of pip's own variables: a network's mirror, its certificates, and the cache of downloads. What
# else the caller sets for pip does not concern this build.
_KEPT = ("PIP_CACHE_DIR", "PIP_CERT", "PIP_INDEX_URL")

_BUILD = """\
load("@rules_python//python:py_library.bzl", "py_library")

package(default_visibility = ["//visibility:public"])

filegroup(
    name = "data",
    srcs = glob(
        ["bin/**", "data/**", "include/**"],
        allow_empty = True,
    ),
)

py_library(
    name = "pkg",
    srcs = glob(
        ["site-packages/**/*.py"],
        allow_empty = True,
    ),
    data = [":data"] + glob(
        ["site-packages/**"],
        exclude = ["**/*.py", "**/*.pyc"],
        allow_empty = True,
    ),
    imports = ["site-packages"],
    deps = {deps},
)
"""


def main(pip: str, hub: str) -> None:
    """Make the repository in the working directory."""
    wheel = _download(pip)
    _unpack(wheel)
    shutil.rmtree("wheel")
    sys.path.insert(0, pip)
    deps = [f"@{hub}//{name}:pkg" for name in _dependencies()]
    Path("BUILD.bazel").write_text(_BUILD.format(deps=json.dumps(deps)), encoding="utf-8")


def _download(pip: str) -> Path:
    environ = {k: v for k, v in os.environ.items() if k in _KEPT or not k.startswith("PIP_")}
    subprocess.run(
        [
            *(sys.executable, f"{pip}/pip", "--quiet", "--disable-pip-version-check", "download"),
            *("--no-deps", "--require-hashes", "--only-binary=:all:", "--dest=wheel"),
            "--requirement=requirement.txt",
        ],
        env={**environ, "PIP_CONFIG_FILE": os.devnull},
        check=True,
        stdout=sys.stderr,
    )
    [wheel] = Path("wheel").glob("*.whl")
    return wheel


def _unpack(wheel: Path) -> None:
    site = Path("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = Path(archive.extract(member, site))
            if member.external_attr >> 16 & 0o111 and path.is_file():
                path.chmod(0o755)
    folders = {
        "data": Path("data"),
        "headers": Path("include"),
        "platlib": site,
        "purelib": site,
        "scripts": Path("bin"),
    }
    for data in site.glob("*.data"):
        for scheme in data.iterdir():
            shutil.copytree(scheme, folders[scheme.name], dirs_exist_ok=True)
        shutil.rmtree(data)
    for script in Path("bin").glob("*"):
        script.chmod(0o755)


def _dependencies() -> list[str]:
    from pip._vendor.packaging.requirements import Requirement
    from pip._vendor.packaging.utils import canonicalize_name

    asked = Requirement(re.sub(r"--hash=\S+", "", Path("requirement.txt").read_text()).strip())
    own = canonicalize_name(asked.name)
    [metadata] = Path("site-packages").glob("*.dist-info/METADATA")
    headers = HeaderParser().parsestr(metadata.read_text(encoding="utf-8"))
    needs = [Requirement(text) for text in headers.get_all("Requires-Dist", [])]
    extras = {"", *asked.extras}
    found: set[str] = set()
    while True:
        holds = [
            need
            for need in needs
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras)
        ]
        # An extra may be made of others of the same distribution.
        more = {e for need in holds if canonicalize_name(need.name) == own for e in need.extras}
        found = {canonicalize_name(need.name).replace("-", "_") for need in holds}
        if more <= extras:
            return sorted(found - {own.replace("-", "_")})
        extras |= more


if __name__ == "__main__":
    main(*sys.argv[1:])
