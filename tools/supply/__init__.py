"""What the build fetches: what pins it, the renovation of its locks, and the licences of it.

Arrows run one way: `update_python`, `update_npm` -> `renovation` -> `locks`; `licenses` ->
`rules` -> `shipped`, `expressions`. `module_file` and `downloads` need none of them.
"""
