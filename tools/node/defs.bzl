"""Public rules for Node.js: run a program, run tests, check types.

All of them run `run_node.py`, which stages copies of `srcs` with one `node_modules` beside them.
"""

load("@rules_python//python:py_binary.bzl", "py_binary")
load("@rules_python//python:py_test.bzl", "py_test")
load("//tools:file_list.bzl", "file_list")

_LAUNCHER = "//tools/node:run_node.py"
_NODE = "//tools/node:node"
_DEV_TOOLS = "//:node_modules"
_STRIP_TYPES = ["--disable-warning=ExperimentalWarning", "--experimental-strip-types"]

def _launch(rule, name, srcs, node_modules, own_args, program_args, **kwargs):
    files = name + ".files"
    file_list(name = files, srcs = srcs, tags = ["manual"], visibility = ["//visibility:private"])
    modules = node_modules + [_DEV_TOOLS]
    args = ["--node=$(rootpath %s)" % _NODE, "--files-from=$(rootpath %s)" % files]
    args += ["--modules=$(rootpath %s)" % m for m in modules]
    rule(
        name = name,
        srcs = [_LAUNCHER],
        main = _LAUNCHER,
        args = args + own_args + ["--"] + program_args,
        data = kwargs.pop("data", []) + modules + [files, _NODE],
        deps = ["//tools:staging"],
        **kwargs
    )

def node_test(name, srcs, tests, cover = [], node_modules = [], **kwargs):
    """Runs test files with node's own test runner.

    Args:
      name: of the target.
      srcs: what is staged: sources, tests, evidence.
      tests: the test files, relative to the package.
      cover: shipped files, relative to the package: 100% of their lines, branches and functions
        must be reached, or the test fails.
      node_modules: further trees beside the development tools, e.g. `//tools/pi/newest:node_modules`.
      **kwargs: passed on to the test rule.
    """
    _launch(
        py_test,
        name,
        srcs,
        node_modules,
        ["--package=" + native.package_name(), "--test"] +
        ["--cover=" + f for f in cover] +
        ["--node-option=" + o for o in _STRIP_TYPES],
        tests,
        **kwargs
    )

def node_binary(name, srcs, entry, args = [], node_modules = [], node_options = [], **kwargs):
    """A program for `bazel run`; relative paths on its command line are its user's.

    Args:
      name: of the target.
      srcs: what is staged.
      entry: the program, relative to the package.
      args: come before what the user gives.
      node_modules: further trees beside the development tools.
      node_options: of Node itself.
      **kwargs: passed on to the binary rule.
    """
    _launch(
        py_binary,
        name,
        srcs,
        node_modules,
        ["--entry=%s/%s" % (native.package_name(), entry)] +
        ["--node-option=" + o for o in _STRIP_TYPES + node_options],
        args,
        **kwargs
    )

def ts_check_test(name, srcs, node_modules = [], **kwargs):
    """Type-checks `srcs` with `//:tsconfig.json`: strict, and only erasable syntax.

    Args:
      name: of the target.
      srcs: the TypeScript files.
      node_modules: further trees, for the types of what `srcs` import.
      **kwargs: passed on to the test rule.
    """
    _launch(
        py_test,
        name,
        srcs + ["//:tsconfig.json"],
        node_modules,
        ["--package=."],
        ["node_modules/typescript/bin/tsc", "--noEmit", "--project", "tsconfig.json"],
        **kwargs
    )
