"""The version of the package, which BUILD.bazel holds to the npm packages' version."""

VERSION = "0.1.0"
