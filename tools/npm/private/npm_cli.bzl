"""npm's own JavaScript, for actions and as a file that `$(rootpath ...)` can name."""

def find_npm_cli(nodeinfo):
    """Finds npm-cli.js among npm's files; what the toolchain calls `npm` is a shell script.

    Args:
      nodeinfo: of the toolchain.

    Returns:
      the file.
    """
    for file in nodeinfo.npm_sources.to_list():
        if file.path.endswith("/node_modules/npm/bin/npm-cli.js"):
            return file
    fail("the Node.js toolchain brings no npm-cli.js")

def _npm_cli_impl(ctx):
    nodeinfo = ctx.toolchains["@rules_nodejs//nodejs:toolchain_type"].nodeinfo
    return [DefaultInfo(
        files = depset([find_npm_cli(nodeinfo)]),
        runfiles = ctx.runfiles(transitive_files = nodeinfo.npm_sources),
    )]

npm_cli = rule(
    implementation = _npm_cli_impl,
    doc = "Exposes the npm of the registered toolchain.",
    toolchains = ["@rules_nodejs//nodejs:toolchain_type"],
)
