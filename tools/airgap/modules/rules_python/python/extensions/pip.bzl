"""`pip.parse`: a repository for each distribution of a hash-pinned lock, behind a hub of aliases.

As in rules_python, a change of the lock fetches only what changed, `@HUB//NAME` is the library,
and a distribution's dependencies are those of its own metadata, for the extras that the lock
names. Its scripts are in `:data`; entry points are not made into programs here.
"""

def _interpreter(ctx, version):
    found = ctx.which("python" + version)
    if not found:
        fail("python{} is not on PATH; what to do: provide it, or use the Python version of the distribution in MODULE.bazel".format(version))
    return found

def _run(rctx, script, arguments, what):
    result = rctx.execute(
        [_interpreter(rctx, rctx.attr.python_version), "-I", script] + arguments,
        timeout = 900,
    )
    if result.return_code:
        fail("{} failed:\n{}{}".format(what, result.stdout, result.stderr))

def _distribution_impl(rctx):
    rctx.report_progress("pip download " + rctx.attr.requirement.split(" ")[0])
    rctx.file("requirement.txt", rctx.attr.requirement + "\n", executable = False)
    pip = rctx.path(Label("@rules_python_pip//:pip/__init__.py")).dirname.dirname
    _run(rctx, rctx.path(rctx.attr._script), [str(pip), rctx.attr.hub], rctx.attr.requirement.split(" ")[0])

_distribution = repository_rule(
    implementation = _distribution_impl,
    attrs = {
        "hub": attr.string(mandatory = True),
        "python_version": attr.string(mandatory = True),
        "requirement": attr.string(mandatory = True),
        "_script": attr.label(default = "//python/private:distribution.py", allow_single_file = True),
    },
)

_HUB_PACKAGE = """\
package(default_visibility = ["//visibility:public"])

"""

_HUB_ALIAS = """\
alias(
    name = "{name}",
    actual = "@{repository}//:{target}",
)

"""

def _hub_impl(rctx):
    rctx.file("BUILD.bazel", "", executable = False)
    for name, repository in rctx.attr.distributions.items():
        targets = {name: "pkg", "pkg": "pkg", "data": "data"}
        rctx.file(name + "/BUILD.bazel", _HUB_PACKAGE + "".join([
            _HUB_ALIAS.format(name = alias, repository = repository, target = target)
            for alias, target in targets.items()
        ]), executable = False)

_hub = repository_rule(
    implementation = _hub_impl,
    attrs = {"distributions": attr.string_dict(mandatory = True)},
)

def _locked(mctx, tag):
    """The requirements of a lock that hold on this machine, by normalised name."""
    script = mctx.path(Label("//python/private:lock.py"))
    lock = mctx.path(tag.requirements_lock)

    # Reading makes Bazel evaluate this again when the file changes.
    mctx.read(script)
    mctx.read(lock)
    pip = mctx.path(Label("@rules_python_pip//:pip/__init__.py")).dirname.dirname
    result = mctx.execute([_interpreter(mctx, tag.python_version), "-I", script, pip, lock])
    if result.return_code:
        fail("{}: {}{}".format(tag.requirements_lock, result.stdout, result.stderr))
    return json.decode(result.stdout)

def _pip_impl(mctx):
    hubs = {}
    for mod in mctx.modules:
        for tag in mod.tags.parse:
            if tag.hub_name in hubs:
                fail("two pip.parse() have the hub_name {}; what to do: give each its own".format(tag.hub_name))
            distributions = {}
            for name, requirement in _locked(mctx, tag).items():
                repository = "{}_{}_{}".format(tag.hub_name, tag.python_version.replace(".", ""), name)
                distributions[name] = repository
                _distribution(
                    name = repository,
                    hub = tag.hub_name,
                    python_version = tag.python_version,
                    requirement = requirement,
                )
            _hub(name = tag.hub_name, distributions = distributions)
            hubs[tag.hub_name] = None

pip = module_extension(
    implementation = _pip_impl,
    tag_classes = {
        "parse": tag_class(attrs = {
            "hub_name": attr.string(mandatory = True),
            "python_version": attr.string(mandatory = True),
            "requirements_lock": attr.label(mandatory = True),
        }),
    },
)
