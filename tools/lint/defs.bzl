"""One test a linter, over all files that the packages list for it."""

load("@rules_python//python:py_test.bzl", "py_test")

def lint_test(name, linter, files, tool = [], data = [], deps = [], size = "small", **kwargs):
    """Runs one linter over the files that it reads (see kinds.py).

    Args:
      name: of the target.
      linter: its name in kinds.py and lint.py.
      files: a `file_list`.
      tool: the linter's command, if it is a program of its own.
      data: what the command needs.
      deps: what the linter needs of Python.
      size: of the test.
      **kwargs: passed on to the test rule.
    """
    py_test(
        name = name,
        size = size,
        srcs = ["//tools/lint:lint.py"],
        main = "//tools/lint:lint.py",
        args = [linter, "$(rootpath %s)" % files] + tool,
        data = data + [files],
        deps = ["//tools/lint:library"] + deps,
        **kwargs
    )
