"""pip itself, which has to be there before a lock can be read."""

def _pip_tool_impl(rctx):
    # The wheel that Debian ships for venv, unpacked: pip starts twice as fast as from the wheel.
    wheels = [f for f in rctx.path("/usr/share/python-wheels").readdir() if f.basename.startswith("pip-")]
    if not wheels:
        fail("there is no wheel of pip in /usr/share/python-wheels; what to do: install python3-venv")
    rctx.symlink(wheels[0], "pip.zip")
    rctx.extract("pip.zip")
    rctx.delete("pip.zip")
    rctx.file("BUILD.bazel", "", executable = False)

_pip_tool = repository_rule(implementation = _pip_tool_impl)

def _pip_wheel_impl(_mctx):
    _pip_tool(name = "rules_python_pip")

pip_wheel = module_extension(implementation = _pip_wheel_impl)
