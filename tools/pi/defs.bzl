"""Public rules for Pi packages: what each of them must pass, and tests that run a real Pi."""

load("//tools/node:defs.bzl", "node_test", "ts_check_test")
load("//tools/npm:defs.bzl", "node_modules", "npm_package")
load("//tools/python:defs.bzl", "pytest_test")

# The newest Pi, whose types the packages are checked with, and the oldest in which they work.
_NEWEST = "//tools/pi/newest:node_modules"
_PROGRAMS = {
    "newest": (_NEWEST, "@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
    "oldest": ("//tools/pi/oldest:node_modules", "@mariozechner/pi-coding-agent/dist/cli.js"),
}

PI_TYPES = [_NEWEST]

def locked_pi(name, src):
    """All that a folder with the lock of one Pi declares: its manifest, its lock and its tree.

    Args:
      name: of the tree, `node_modules`.
      src: what was fetched by the lock.
    """
    native.exports_files(["package.json", "package-lock.json"])
    node_modules(name = name, src = src, visibility = ["//visibility:public"])
    native.filegroup(
        name = "lint_files",
        srcs = native.glob(["**"], exclude = [name + "/**"]),
        visibility = ["//visibility:public"],
    )

def pi_package(name, npm_name, version, sources, tests, support = [], files = [], cover = None):
    """A Pi package and the checks that each one passes.

    Targets besides NAME, which is for `bazel run`: `NAME_tarball`, `NAME_folder`,
    `NAME_contents_test`, and `types_test`, `behaviour_test`, `srcs`, `type_checked`.

    Args:
      name: of the package's own target.
      npm_name: of the package.
      version: of the package.
      sources: the TypeScript that is shipped.
      tests: test files of node's test runner.
      support: what tests, benches and their helpers are made of, and evidence that they read.
      files: what is shipped besides `sources`, package.json, README.md and the license.
      cover: what the tests must reach entirely; the default is all of `sources`.
    """
    own = [f for f in support if not f.startswith("//")]
    shipped = sources + files + ["README.md", "package.json"]
    native.exports_files(["README.md"])
    native.filegroup(name = "srcs", srcs = sources + ["package.json"], visibility = ["//visibility:public"])
    native.filegroup(
        name = "type_checked",
        srcs = [f for f in shipped + tests + own if f.endswith(".ts")],
        visibility = ["//tools/lint:__pkg__"],
    )
    npm_package(
        name = name,
        npm_name = npm_name,
        version = version,
        srcs = shipped + ["//:LICENSE"],
        contents = shipped + ["LICENSE"],
        visibility = ["//visibility:public"],
    )
    ts_check_test(
        name = "types_test",
        size = "small",
        srcs = [":type_checked", ":srcs"] + [f for f in support if f not in own],
        node_modules = PI_TYPES,
    )
    node_test(
        name = "behaviour_test",
        srcs = shipped + tests + support,
        cover = cover or sources,
        node_modules = PI_TYPES,
        tests = tests,
    )

def real_pi_env(pi, package = None):
    """The environment that tells `satyrn_engine.testing` which Pi and which package to use.

    Args:
      pi: "newest" or "oldest".
      package: the package of a Pi package, e.g. `//engine`.

    Returns:
      `env` and `data` for a test or a program.
    """
    tree, program = _PROGRAMS[pi]
    env = {
        "SATYRN_NODE": "$(rootpath //tools/node:node)",
        "SATYRN_PI": "$(rootpath %s)/%s" % (tree, program),
    }

    # Pi installs packages by npm.
    data = [tree, "//tools/node:node", "//tools/node:npm"]
    if package:
        env["SATYRN_ENGINE_DIR"] = "$(rootpath %s:package_folder)" % package
        env["SATYRN_ENGINE_TGZ"] = "$(rootpath %s:package_tarball)" % package
        data += [package + ":package_folder", package + ":package_tarball"]
    return struct(env = env, data = data)

def real_pi_test(
        name,
        srcs,
        package,
        pis = ["newest", "oldest"],
        data = [],
        env = {},
        deps = [],
        size = "large",
        timeout = "moderate",
        shard_count = 4,
        **kwargs):
    """Runs pytest modules against real Pis, a target each: `NAME_newest`, `NAME_oldest`.

    Args:
      name: of the tests together, a test suite.
      srcs: test modules and their conftest.py.
      package: the package of the Pi package under test.
      pis: which Pis.
      data: further inputs.
      env: further variables, which may name inputs.
      deps: libraries.
      size: what each part needs of the machine: Pi is large.
      timeout: of each part; even with other work on two cores, one takes less than half of it.
      shard_count: how many parts each test is split into, which run side by side.
      **kwargs: passed on to the tests.
    """
    for pi in pis:
        real = real_pi_env(pi, package)
        pytest_test(
            name = "%s_%s" % (name, pi),
            size = size,
            timeout = timeout,
            srcs = srcs,
            data = data + real.data,
            env = real.env | env,
            # Pi, its model and the scripted server are processes that talk over loopback.
            tags = ["block-network"],
            deps = deps,
            shard_count = shard_count,
            **kwargs
        )
    native.test_suite(name = name, tests = ["%s_%s" % (name, pi) for pi in pis])
