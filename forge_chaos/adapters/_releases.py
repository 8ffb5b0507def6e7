"""Which releases of a framework an adapter was tried with; any other is refused before a trial could blame
the agent for it."""

from __future__ import annotations

import re
from importlib import metadata

from forge_chaos.errors import Misuse


def supported(adapter: str, package: str, least: str, below: str) -> None:
    """Raises Misuse when the environment has the package in a release before `least`, or from `below` on."""
    try:
        here = metadata.version(package)
    except metadata.PackageNotFoundError:  # not installed as a package: nobody can say which release it is
        return
    if not numbers(least) <= numbers(here) < numbers(below):
        raise Misuse(
            f"adapter {adapter} supports {package} {least} up to, not with, {below}; this environment has {here}. "
            "Install one of those, or write a native agent round the framework: a function that takes some of "
            "(task, tools, model)."
        )


def numbers(version: str) -> tuple[int, ...]:
    """`1.10.0rc1` -> (1, 10, 0): enough to put releases in order."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found is not None else ()


__all__ = ["numbers", "supported"]
