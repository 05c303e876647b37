"""`python`: the interpreter that the distribution provides."""

def _pythons_hub_impl(rctx):
    version = rctx.attr.python_version
    interpreter = rctx.which("python" + version)
    if not interpreter:
        fail("python{} is not on PATH; the air-gapped root must provide the version that MODULE.bazel asks for".format(version))
    rctx.file("BUILD.bazel", """\
load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")

py_runtime(
    name = "runtime",
    interpreter_path = "{path}",
    python_version = "PY3",
    stub_shebang = "#!/usr/bin/env -S {path} -I",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@bazel_tools//tools/python:toolchain_type",
)
""".format(path = interpreter), executable = False)

_pythons_hub = repository_rule(
    implementation = _pythons_hub_impl,
    attrs = {"python_version": attr.string(mandatory = True)},
)

def _python_impl(mctx):
    for mod in mctx.modules:
        if mod.is_root:
            for tag in mod.tags.toolchain:
                _pythons_hub(name = "pythons_hub", python_version = tag.python_version)
                return
    fail("the root module must call python.toolchain")

python = module_extension(
    implementation = _python_impl,
    tag_classes = {
        "defaults": tag_class(attrs = {"python_version": attr.string()}),
        "toolchain": tag_class(attrs = {
            "python_version": attr.string(mandatory = True),
        }),
    },
)
