"""The options that the command line and the library share, checked and resolved."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from satyrn_engine._node import Guards
from satyrn_engine.errors import ConfigError


def resolve_guards(names: Sequence[str] = ("engine",), config: Path | None = None) -> Guards:
    """Return the guards to replay.

    Args:
        names: `engine`, `police` or both, in the order in which Pi would load them.
        config: a `loop-police.json`.

    Raises:
        ConfigError: if a name is unknown, or the file is no JSON object.
    """
    unique = tuple(dict.fromkeys(names)) or ("engine",)
    if config is None:
        guards = Guards(unique)
    elif "police" not in unique:
        raise ConfigError("--config is police's; add --guard police")
    else:
        guards = Guards(unique, _police_config(config))
    guards.files()
    return guards


def _police_config(file: Path) -> str:
    try:
        values = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ConfigError(
            f"{file}: not JSON ({error}); `/loop-police save` in Pi writes one"
        ) from error
    if not isinstance(values, dict):
        raise ConfigError(f"{file}: must hold a JSON object of settings")
    # A scan must run nobody's command and write no log.
    return json.dumps({**values, "HOOK_CMD": "", "HOOK_LOG": ""})


def default_jobs() -> int:
    """Return how many processes there should be: one for each core that this one may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
