"""What can go wrong when a real Pi is driven, each as a sentence with its remedy."""

from __future__ import annotations


class PiError(Exception):
    """Anything that keeps a real Pi from being driven; its text is meant for a person."""


class PiNotFoundError(PiError):
    """No Pi, no Node, or a Node that is too old for this Pi; the text says what to set."""


class PiFailedError(PiError):
    """Pi ended with an exit code that the caller did not allow, or the script broke."""


class PiTimeoutError(PiError):
    """Pi did not do in time what was waited for; its processes have been ended."""


class PackageError(PiError):
    """A folder is not a Pi package, or its manifest promises what is not there."""


class SessionFormatError(PiError):
    """A file is not a Pi session."""
