"""Looking for a thing by listing where it should be, when a reading of it says that it is missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forge_chaos.modelserver.view import ToolCall
from forge_chaos.nouns import ToolSpec


def find(call: ToolCall, specs: Mapping[str, ToolSpec]) -> tuple[ToolCall, str] | None:
    """The listing that would show the call's target, and the name to look for in it.

    A list tool with the same target argument lists the parent folder (`path`); one that needs a part of
    the call's other arguments lists those (`table` of `table`, `id`). None when no tool fits.
    """
    spec = next((spec for spec in specs.values() if spec.name == call.name), None)
    target = call.args.get(spec.target) if spec and spec.target else None
    if spec is None or spec.target is None or not isinstance(target, str) or not target.strip("./"):
        return None
    for lister in specs.values():
        needed = lister.parameters.get("required", ())
        if "list" in lister.roles and lister.target == spec.target:
            folder, _, name = target.rstrip("/").rpartition("/")
            return ToolCall(lister.name, {spec.target: folder or "."}), name
        if lister.roles.isdisjoint(("list", "read")) or not needed or spec.target in needed:
            continue
        if all(name in call.args for name in needed):
            return ToolCall(lister.name, {name: call.args[name] for name in needed}), target
    return None


def holds(text: str, name: str) -> bool | None:
    """Does a listing name it? None when the text is no listing."""
    try:
        found = json.loads(text)
    except ValueError:
        found = text.split("\n")
        if text.lstrip()[:1] in ("{", "[", "<") or any(" " in line.strip() for line in found):
            return None
    if isinstance(found, dict):
        lists = [value for value in found.values() if isinstance(value, list)]
        found = lists[0] if len(lists) == 1 else list(found)
    if not isinstance(found, list):
        return None
    return any(name in _names(entry) for entry in found)


def _names(entry: Any) -> list[str]:
    values = list(entry.values()) if isinstance(entry, dict) else [entry]
    return [str(value).strip().rstrip("/").rpartition("/")[2] for value in values]
