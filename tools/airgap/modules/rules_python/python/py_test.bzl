"""Bazel 7's own py_test under the name that rules_python gives it."""

def py_test(precompile = None, **kwargs):  # buildifier: disable=unused-variable
    """Runs a test; there is no precompiling here that `precompile` could turn off."""
    native.py_test(**kwargs)  # buildifier: disable=native-py
