"""The files that a task gives, as a workspace takes them."""

from __future__ import annotations

from collections.abc import Mapping

from forge_chaos.errors import Misuse
from forge_chaos.worlds._paths import parents, relative


def files(where: str, given: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """{normalised path: content}. `where` is the place that a complaint names.

    Raises Misuse for a path that is no file inside the workspace, and for two that exclude each other.
    """
    found: dict[str, bytes] = {}
    for path, content in given.items():
        try:
            plain = relative(path)
            data = content.encode() if isinstance(content, str) else bytes(content)
        except (OSError, ValueError):
            raise Misuse(f"{where}: {path!r} is no path of a text file inside the workspace.") from None
        if plain == "." or path.endswith("/") or plain in found:
            what = "stands there twice" if plain in found else "names a folder, no file"
            raise Misuse(f"{where}: {path!r} {what}.")
        found[plain] = data
    for path in found:
        for folder in parents(path):
            if folder in found:
                raise Misuse(f"{where}: {folder!r} is a file, and {path!r} needs it to be a folder.")
    return found
