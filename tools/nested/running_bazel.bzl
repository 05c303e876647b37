"""The Bazel that runs this build, for tests that start another one."""

# With Debian's Bazel, modules come from tools/airgap and nothing is fetched by resolving them.
_DEBIAN = "/usr/share/bazel/build-label.txt"

def _running_bazel_impl(rctx):
    # Bazelisk gives tools/bazel the path of the one that it chose.
    real = rctx.getenv("BAZEL_REAL")
    found = rctx.path(real) if real else rctx.which("bazel")
    if not found:
        fail("the running Bazel can't be found; what to do: start it through tools/bazel")
    rctx.symlink(found, "bazel")
    rctx.file("BUILD.bazel", 'exports_files(["bazel"], visibility = ["//visibility:public"])\n')
    offline = rctx.path(_DEBIAN).exists
    rctx.file("defs.bzl", "NESTED_TAGS = {}\n".format([] if offline else ["requires-network"]))

running_bazel = repository_rule(
    implementation = _running_bazel_impl,
    doc = "Makes `@NAME//:bazel`, and NESTED_TAGS for the tests that start it: a nested Bazel " +
          "that resolves modules in their registry needs the network.",
)
