"""The documentation as HTML, strictly: a warning is an error."""

load("@bazel_skylib//rules:build_test.bzl", "build_test")

def _sphinx_html_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    args.add_all("--source", ctx.files.srcs, expand_directories = False)
    args.add("--package", ctx.label.package)
    args.add("--output", out.path)
    ctx.actions.run(
        executable = ctx.executable.sphinx,
        inputs = ctx.files.srcs,
        outputs = [out],
        mnemonic = "Sphinx",
        progress_message = "Building %{label}",
        arguments = [args],
        env = {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "315532800"},
    )
    return [DefaultInfo(files = depset([out]))]

_sphinx_html_rule = rule(
    implementation = _sphinx_html_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "sphinx": attr.label(cfg = "exec", executable = True, mandatory = True),
    },
)

def sphinx_html(name, srcs, sphinx = "//tools/python:sphinx_build", **kwargs):
    """Builds HTML with Sphinx; `NAME_test` holds it in the gate.

    Args:
      name: of the target, a folder.
      srcs: the pages, `conf.py`, and generated pages, which join those of the same package.
      sphinx: the program, with what `conf.py` and its extensions import.
      **kwargs: passed on to the rule.
    """
    _sphinx_html_rule(name = name, srcs = srcs, sphinx = sphinx, **kwargs)
    build_test(name = name + "_test", targets = [name])
