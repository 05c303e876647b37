"""Bazel 7's own py_test under the name that rules_python gives it."""

def py_test(**kwargs):
    native.py_test(**kwargs)  # buildifier: disable=native-py
