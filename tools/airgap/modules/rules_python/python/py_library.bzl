"""Bazel 7's own py_library under the name that rules_python gives it."""

def py_library(**kwargs):
    native.py_library(**kwargs)  # buildifier: disable=native-py
