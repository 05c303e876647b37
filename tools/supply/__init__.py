"""What the build fetches: the locks that pin it, their renovation, and the licences of it.

Arrows run one way: `update_python`, `update_npm` -> `renovation` -> `locks`; `licenses` ->
`rules` -> `shipped`, `expressions`.
"""
