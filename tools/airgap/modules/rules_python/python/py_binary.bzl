"""Bazel 7's own py_binary under the name that rules_python gives it."""

def py_binary(**kwargs):
    native.py_binary(**kwargs)  # buildifier: disable=native-py
