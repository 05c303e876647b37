"""Bazel where only Debian's packages, PyPI and npm can be reached.

Debian's own build of Bazel lives in a private root of its own below the user's cache; mmdebstrap
makes it once, bubblewrap enters it at every call. Standard library and Python 3.9 only, so that
whatever Debian has runs it. Arrows run one way: `cli` -> `doctor`, `provision` -> `enter` ->
`settings` -> `words`.
"""
