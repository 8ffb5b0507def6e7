"""What stands behind the pytest plugin; nothing here is loaded until a test asks for it.

`forge_chaos.pytest_plugin` holds the hooks. `door` is the `chaos` fixture, `marking` the marker, `files` the
items of `*.chaos.toml`; `trying` runs trials in seats that `seating` provides, `ends` turns what came of
them into passed, failed, skipped or error, and `saying` puts it into words.
"""
