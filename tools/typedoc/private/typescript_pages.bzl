"""Markdown pages of a TypeScript API, from its types and comments."""

def _typescript_pages_impl(ctx):
    out = ctx.actions.declare_directory(ctx.attr.out)
    node = ctx.file._node
    modules = ctx.file._modules
    args = ctx.actions.args()
    args.add("--node", node)
    args.add("--modules", modules.path)
    args.add("--output", out.path)
    args.add_all(ctx.attr.entries, before_each = "--entry")
    args.add_all(ctx.files.srcs + [ctx.file._tsconfig])
    ctx.actions.run(
        executable = ctx.executable._typedoc,
        inputs = ctx.files.srcs + [ctx.file._tsconfig, node, modules],
        outputs = [out],
        mnemonic = "TypeDoc",
        progress_message = "Reading the types for %{label}",
        arguments = [args],
        env = {"LC_ALL": "C.UTF-8"},
    )
    return [DefaultInfo(files = depset([out]))]

typescript_pages = rule(
    implementation = _typescript_pages_impl,
    doc = "A folder of Markdown pages, one for each entry, laid out like the sources.",
    attrs = {
        "entries": attr.string_list(
            doc = "The modules that are documented, as paths in the checkout.",
            mandatory = True,
        ),
        "out": attr.string(doc = "The folder, relative to the package.", mandatory = True),
        "srcs": attr.label_list(
            allow_files = True,
            doc = "The entries, and what they import.",
            mandatory = True,
        ),
        "_modules": attr.label(allow_single_file = True, default = "//tools/typedoc:node_modules"),
        "_node": attr.label(allow_single_file = True, default = "//tools/node:node"),
        "_tsconfig": attr.label(allow_single_file = True, default = "//:tsconfig.json"),
        "_typedoc": attr.label(cfg = "exec", default = "//tools/typedoc", executable = True),
    },
)
