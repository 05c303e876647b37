"""What this package raises: each message says what is wrong, where, and what to do."""

from __future__ import annotations


class SatyrnError(Exception):
    """Anything that goes wrong for a reason that its message names."""


class SourceError(SatyrnError):
    """A path, or what lies there, cannot be read."""


class NodeError(SatyrnError):
    """Node.js is missing, too old, or cannot run the guards."""


class WorkerDiedError(SatyrnError):
    """The process that runs the guards ended in the middle of a session."""


class ClusterError(SatyrnError):
    """A cluster cannot be reached, or cannot do the work."""


class ConfigError(SatyrnError):
    """A guard, or its configuration, cannot be used."""
