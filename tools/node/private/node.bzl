"""The Node.js executable of the toolchain, as a file that `$(rootpath ...)` can name."""

def _node_impl(ctx):
    node = ctx.toolchains["@rules_nodejs//nodejs:runtime_toolchain_type"].nodeinfo.node
    return [DefaultInfo(files = depset([node]), runfiles = ctx.runfiles([node]))]

node = rule(
    implementation = _node_impl,
    doc = "Exposes the Node.js executable of the registered toolchain.",
    toolchains = ["@rules_nodejs//nodejs:runtime_toolchain_type"],
)
