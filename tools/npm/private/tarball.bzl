"""`npm pack` as an action: the tarball of a package and the same files as a folder."""

load(":npm_cli.bzl", "find_npm_cli")

def _npm_tarball_impl(ctx):
    nodeinfo = ctx.toolchains["@rules_nodejs//nodejs:toolchain_type"].nodeinfo
    tarball = ctx.actions.declare_file(ctx.label.name + ".tgz")
    folder = ctx.actions.declare_directory(ctx.label.name + ".dir")
    args = ctx.actions.args()
    args.add("--node", nodeinfo.node)
    args.add("--npm", find_npm_cli(nodeinfo))
    args.add("--tarball", tarball)
    args.add("--folder", folder.path)
    for src in ctx.files.srcs:
        # The license of the whole project lies at the root; all else keeps its place in the package.
        inside = src.short_path.removeprefix(ctx.label.package + "/")
        args.add("--file", "%s=%s" % (inside, src.path))
    ctx.actions.run(
        executable = ctx.executable._pack,
        arguments = [args],
        inputs = depset(ctx.files.srcs, transitive = [nodeinfo.npm_sources]),
        tools = [nodeinfo.node],
        outputs = [tarball, folder],
        mnemonic = "NpmPack",
        progress_message = "Packing %{label}",
    )
    return [
        DefaultInfo(files = depset([tarball]), runfiles = ctx.runfiles([tarball])),
        OutputGroupInfo(folder = depset([folder])),
    ]

npm_tarball = rule(
    implementation = _npm_tarball_impl,
    doc = "Packs `srcs` with the npm of the toolchain; output group `folder` holds them unpacked.",
    attrs = {
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "_pack": attr.label(default = "//tools/npm:pack", executable = True, cfg = "exec"),
    },
    toolchains = ["@rules_nodejs//nodejs:toolchain_type"],
)
