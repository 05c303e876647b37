"""Public rules for Python: pytest as a test, Sphinx as a build."""

load("@rules_python//python:py_test.bzl", "py_test")
load("//tools/python/private:sphinx.bzl", _sphinx_html = "sphinx_html")

sphinx_html = _sphinx_html

def pytest_test(name, srcs, data = [], deps = [], args = [], **kwargs):
    """Runs test modules with pytest; a skipped test fails the run.

    Args:
      name: of the target.
      srcs: the test modules; a `conftest.py` among them is loaded and not collected.
      data: further inputs.
      deps: libraries.
      args: of pytest.
      **kwargs: passed on to the test rule.
    """
    tests = [s for s in srcs if not s.endswith("conftest.py")]
    py_test(
        name = name,
        srcs = srcs + ["//tools/python:pytest_main.py"],
        main = "//tools/python:pytest_main.py",
        args = args + ["--config-file=$(rootpath //:pyproject.toml)"] + ["$(rootpath %s)" % s for s in tests],
        data = data + ["//:pyproject.toml"],
        deps = deps + ["@pip//pytest"],
        # Two tests may share a conftest.py, which each would compile to the same file.
        precompile = "disabled",
        **kwargs
    )
