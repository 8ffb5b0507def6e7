"""What a user's own tool is for: roles and target, read from its name, schema and docstring.

Inference is shown by `forge-chaos inspect` and can be corrected by declaring
`tool.chaos = {"roles": [...], "target": "..."}` on the function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from forge_chaos.errors import Misuse, unknown
from forge_chaos.nouns import ROLES, Role, ToolSpec

# First match wins: a verb says more than a noun, and an effect more than a write.
_VERBS: tuple[tuple[str, tuple[Role, ...]], ...] = (
    (
        "charge|pay|refund|send|mail|email|notify|post|publish|buy|order|book|transfer|submit|append|log",
        ("effect",),
    ),
    (
        "write|save|create|update|edit|set|put|delete|remove|move|rename|copy|replace|patch|insert|modify|make|mkdir",
        ("write",),
    ),
    ("run|exec|execute|shell|bash|command|cmd|python|terminal|eval", ("execute",)),
    ("fetch|download|http|request|browse|crawl|url|web|api", ("network", "read")),
    ("list|ls|dir|glob|tree|files", ("list",)),
    (
        "read|get|load|open|show|view|cat|find|search|grep|lookup|query|count|status|check|poll|describe",
        ("read",),
    ),
)
_TARGETS = [
    "path",
    "file_path",
    "filepath",
    "file",
    "filename",
    "file_name",
    "source",
    "src",
    "url",
    "uri",
    "command",
    "cmd",
    "id",
    "key",
    "name",
    "query",
    "table",
    "order",
    "order_id",
    "to",
    "recipient",
    "folder",
    "directory",
    "dir",
]
_FILE = re.compile(r"\b(file|path|folder|director)", re.I)
_POLL = {"poll", "wait"}


def spec(
    name: str, description: str, parameters: Mapping[str, Any], declared: Mapping[str, Any] | None = None
) -> ToolSpec:
    """The tool as the gate sees it. `declared` (keys `roles`, `target`, `limit`, `poll`) overrules what
    is inferred. Raises Misuse for a role that does not exist or a target that the tool does not take."""
    given = dict(declared or {})
    roles = frozenset(given.get("roles", ())) or infer_roles(name, description)
    for role in sorted(roles):
        if role not in ROLES:
            raise unknown("role", role, ROLES, f"tool {name!r}")
    properties = parameters.get("properties", {})
    target = given.get("target", infer_target(properties))
    if target is not None and target not in properties:
        raise unknown("parameter", str(target), properties, f"tool {name!r}, declared target")
    try:
        limit = float(given.get("limit", 30.0))
    except (TypeError, ValueError):
        raise Misuse(f"tool {name!r}: declared limit {given['limit']!r} is no number of seconds.") from None
    poll = bool(given.get("poll", bool(_POLL & set(words(name)))))
    return ToolSpec(name, description, parameters, roles, target, limit, poll)


def infer_roles(name: str, description: str = "") -> frozenset[Role]:
    """The roles of a tool: from the words of its name, else from the first words of its docstring."""
    for spoken in (words(name), words(description.split(".")[0])[:4]):
        for pattern, roles in _VERBS:
            if any(re.fullmatch(f"(?:{pattern})s?", word) for word in spoken):
                if roles == ("effect",) and spoken[0] in ("append", "log"):
                    return frozenset(("effect", "write"))
                return frozenset(roles)
    return frozenset()


def infer_target(properties: Mapping[str, Any]) -> str | None:
    """The argument that names the resource: by its name, else the first that is text."""
    by_name = {name.lower(): name for name in properties}
    for wanted in _TARGETS:
        if wanted in by_name:
            return by_name[wanted]
    for name, schema in properties.items():
        if isinstance(schema, Mapping) and _FILE.search(str(schema.get("description", ""))):
            return name
    for name, schema in properties.items():
        if isinstance(schema, Mapping) and schema.get("type") == "string":
            return name
    return None


def words(text: str) -> list[str]:
    """The words of a name in any of the usual spellings: `readFile`, `read_file`, `read-file`."""
    return [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)]
