"""The Node.js executable of the toolchain, as a file that `$(rootpath ...)` can name, and its npm."""

def _node_impl(ctx):
    node = ctx.toolchains["@rules_nodejs//nodejs:runtime_toolchain_type"].nodeinfo.node
    return [DefaultInfo(files = depset([node]), runfiles = ctx.runfiles([node]))]

node = rule(
    implementation = _node_impl,
    doc = "Exposes the Node.js executable of the registered toolchain.",
    toolchains = ["@rules_nodejs//nodejs:runtime_toolchain_type"],
)

def _npm_impl(ctx):
    sources = ctx.toolchains["@rules_nodejs//nodejs:runtime_toolchain_type"].nodeinfo.npm_sources
    return [DefaultInfo(runfiles = ctx.runfiles(transitive_files = sources))]

npm = rule(
    implementation = _npm_impl,
    doc = "Puts npm where Node.js has it, beside itself, for programs that start npm.",
    toolchains = ["@rules_nodejs//nodejs:runtime_toolchain_type"],
)
