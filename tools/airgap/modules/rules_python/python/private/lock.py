"""Print a hash-pinned lock as JSON: normalised name to the requirement, where it holds here.

Called with the folder that holds pip, whose vendored `packaging` reads the requirements, and the
lock. What does not hold on this machine, by its marker, is left out; the rest keeps its extras
and hashes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path


def main(pip: str, lock: str) -> None:
    """Print the requirements of the lock.

    Raises:
        SystemExit: with a sentence, for a lock that is not as `uv pip compile --generate-hashes`
            or pip-tools write it.
    """
    sys.path.insert(0, pip)
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
    from pip._vendor.packaging.utils import canonicalize_name

    found: dict[str, str] = {}
    text = Path(lock).read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        bare = re.sub(r"(^|\s)#.*", "", line).strip()
        if not bare:
            continue
        if bare.startswith("-"):
            sys.exit(f"{bare.split()[0]} is not supported; what to do: lock without it")
        hashes = re.findall(r"--hash=\S+", bare)
        try:
            requirement = Requirement(re.sub(r"--hash=\S+", "", bare).strip())
        except InvalidRequirement as error:
            sys.exit(f"{bare!r} is no requirement: {error}")
        if not hashes:
            sys.exit(f"{requirement} has no hash; what to do: lock with --generate-hashes")
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        requirement.marker = None
        name = canonicalize_name(requirement.name).replace("-", "_")
        if name in found:
            sys.exit(f"{name} is locked twice for this machine; what to do: lock it again")
        found[name] = " ".join([str(requirement).replace(" ", ""), *hashes])
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
