"""The version of everything that is released together; //python:versions_test compares it."""

VERSION = "0.1.0"
