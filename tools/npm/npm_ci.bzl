"""Repository rule: `npm ci` from a lock file with integrity hashes.

Runs the npm that belongs to the pinned Node.js toolchain, so that the same node and npm serve the
developer, CI and the tests. Install scripts never run. npm sees nothing of the caller's own
configuration and cache: only proxies, certificates, and NPM_CONFIG_REGISTRY, a network's own
mirror, whose packages are held to the hashes of the lock like any other's.
"""

# Where systems keep the certificates that they trust; Node.js brings a list of its own instead,
# which lacks that of a proxy.
_BUNDLES = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
]

_BUILD = """\
# A directory, not a glob: sixteen thousand files would each become a symlink in the runfiles tree
# of every test.
exports_files(
    ["node_modules"],
    visibility = ["//visibility:public"],
)
"""

def _host(rctx):
    os = "darwin" if rctx.os.name.startswith("mac") else "linux"
    arch = {"aarch64": "arm64", "amd64": "amd64", "arm64": "arm64", "x86_64": "amd64"}[rctx.os.arch]
    return struct(
        repository = "@nodejs_{}_{}".format(os, arch),
        # As npm names them.
        os = os,
        cpu = {"amd64": "x64"}.get(arch, arch),
    )

def _checked(rctx):
    """The lock's packages, or a failure that says what to do."""
    text = rctx.read(rctx.attr.package_lock)
    lock = json.decode(text, None)
    if type(lock) != "dict" or lock.get("lockfileVersion") != 3:
        fail("{} is no lock of npm 7 or later; what to do: make it again with `npm install --package-lock-only`".format(rctx.attr.package_lock))
    for path, package in lock["packages"].items():
        if not path or package.get("link"):
            continue
        if "://" in package.get("resolved", ""):
            fail("{} names the host of a registry for {}; what to do: set omit-lockfile-registry-resolved=true in {} and make the lock again".format(rctx.attr.package_lock, path, rctx.attr.npmrc))
        if "integrity" not in package and not package.get("inBundle"):
            fail("{} has no integrity for {}; what to do: make the lock again".format(rctx.attr.package_lock, path))
    return text, lock["packages"]

def _environment(rctx, node):
    """Everything that npm sees of the environment."""
    environ = rctx.os.environ
    kept = {
        name: value
        for name, value in environ.items()
        if name.lower().endswith("_proxy") or name.lower() in ["npm_config_registry", "ssl_cert_file"]
    }
    for bundle in [environ.get("NODE_EXTRA_CA_CERTS", "")] + _BUNDLES:
        if bundle and rctx.path(bundle).exists:
            kept["NODE_EXTRA_CA_CERTS"] = bundle
            break
    kept |= {
        "HOME": str(rctx.path("home")),
        "PATH": "{}:/usr/bin:/bin".format(node.dirname),
        # The launcher of a restricted network shares one cache of verified packages.
        "npm_config_cache": environ.get("BAZEL_NPM_CACHE", str(rctx.path("home/cache"))),
        "npm_config_globalconfig": str(rctx.path("home/globalrc")),
        "npm_config_userconfig": str(rctx.path("home/userrc")),
    }
    return ["{}={}".format(name, value) for name, value in kept.items()]

def _require_native(rctx, packages, host):
    """npm leaves out an optional package without a word when anything goes wrong with it."""
    for path, package in packages.items():
        native = host.os in package.get("os", []) and host.cpu in package.get("cpu", [])
        glibc = "libc" not in package or "glibc" in package["libc"]
        if native and glibc and not rctx.path(path).exists:
            fail("npm ci did not install {}, which this machine needs; what to do: see that the registry can be reached, and `bazel sync`".format(path))

def _npm_ci_impl(rctx):
    host = _host(rctx)
    node = rctx.path(Label(host.repository + "//:bin/nodejs/bin/node"))
    npm = rctx.path(Label(host.repository + "//:bin/nodejs/lib/node_modules/npm/bin/npm-cli.js"))
    lock, packages = _checked(rctx)
    rctx.file("package.json", rctx.read(rctx.attr.package_json), executable = False)
    rctx.file("package-lock.json", lock, executable = False)
    rctx.file(".npmrc", rctx.read(rctx.attr.npmrc), executable = False)
    rctx.file("home/userrc", "", executable = False)
    rctx.report_progress("npm ci")
    result = rctx.execute(
        ["/usr/bin/env", "-i"] + _environment(rctx, node) +
        [node, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
        timeout = 900,
    )
    if result.return_code:
        fail("npm ci of {} failed:\n{}{}".format(rctx.attr.package_lock, result.stdout, result.stderr))
    _require_native(rctx, packages, host)
    rctx.delete("home")
    rctx.delete("node_modules/.package-lock.json")
    rctx.file("BUILD.bazel", _BUILD, executable = False)

npm_ci = repository_rule(
    implementation = _npm_ci_impl,
    doc = "Makes `@NAME//:node_modules`, one directory, from a package.json and its lock.",
    attrs = {
        "npmrc": attr.label(
            doc = "The project's own configuration of npm.",
            allow_single_file = True,
            mandatory = True,
        ),
        "package_json": attr.label(
            doc = "Beside its lock, in any package.",
            allow_single_file = True,
            mandatory = True,
        ),
        "package_lock": attr.label(
            doc = "Without addresses, and with the integrity of each package.",
            allow_single_file = True,
            mandatory = True,
        ),
    },
)
