"""Which packages make up a framework: those that its extra asks for."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import metadata

US = "forge-chaos"
SHARED = {"fastmcp": "mcp"}  # an adapter whose package is part of another one's extra


@lru_cache(maxsize=64)
def installed(adapter: str) -> tuple[tuple[str, str], ...]:
    """(package, version) of what the extra of an adapter asks for and this environment has, sorted; empty for an
    adapter of no framework, and where our own package is not installed."""
    name = adapter.replace("_", "-")
    found: dict[str, str] = {}
    for package in _asked(SHARED.get(name, name)):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return tuple(sorted(found.items()))


def _asked(extra: str) -> list[str]:
    try:
        lines = metadata.requires(US) or []
    except metadata.PackageNotFoundError:
        return []
    mine = [line for line in lines if re.search(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]", line)]
    return [found[0] for line in mine if (found := re.match(r"[\w.-]+", line)) is not None]


__all__ = ["installed"]
