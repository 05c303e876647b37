"""Public rules for npm: a node_modules tree, and a package that can be published."""

load("@rules_python//python:py_binary.bzl", "py_binary")
load("@rules_python//python:py_test.bzl", "py_test")
load("//tools/npm/private:node_modules.bzl", _node_modules = "node_modules")
load("//tools/npm/private:tarball.bzl", "npm_tarball")

node_modules = _node_modules

def npm_package(name, npm_name, version, srcs, contents, visibility = None):
    """A package: `NAME` is for `bazel run`, `NAME.tgz` the tarball, `NAME.dir` the folder.

    Args:
      name: of the target that copies the tarball into dist/ and says how to install it.
      npm_name: of the package.
      version: of the package; package.json must say the same.
      srcs: all files of the package.
      contents: the paths that the tarball must hold, no more and no less.
      visibility: of the targets.
    """
    tarball = name + "_tarball"
    npm_tarball(name = tarball, srcs = srcs, visibility = visibility)
    native.filegroup(name = name + "_folder", srcs = [tarball], output_group = "folder", visibility = visibility)
    py_binary(
        name = name,
        srcs = ["//tools/npm:release.py"],
        main = "//tools/npm:release.py",
        args = ["$(rootpath %s)" % tarball, npm_name, version],
        data = [tarball],
        visibility = visibility,
    )
    py_test(
        name = name + "_contents_test",
        size = "small",
        srcs = ["//tools/npm:check_package.py"],
        main = "//tools/npm:check_package.py",
        args = ["$(rootpath %s)" % tarball, npm_name, version] + contents,
        data = [tarball],
    )
