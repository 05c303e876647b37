"""A file that lists the runfiles paths of other files, one a line: for long argument lists."""

def _file_list_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".txt")

    # Python leaves its caches beside the sources of whoever runs it by hand.
    paths = {
        f.short_path: None
        for f in ctx.files.srcs
        if not f.short_path.startswith("../") and "/__pycache__/" not in f.short_path
    }
    ctx.actions.write(out, "".join([p + "\n" for p in sorted(paths)]))
    return [DefaultInfo(
        files = depset([out]),
        runfiles = ctx.runfiles([out], transitive_files = depset(ctx.files.srcs)),
    )]

file_list = rule(
    implementation = _file_list_impl,
    doc = "Lists the paths of `srcs`, relative to the runfiles root, and carries the files along.",
    attrs = {"srcs": attr.label_list(allow_files = True, mandatory = True)},
)
