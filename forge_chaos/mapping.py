"""A scenario's solution played over an agent's own tools: which tool stands for which, and how its
arguments are called there.

The solution speaks of `read_file(path=...)`; the agent may call it `read_text(file_path=...)`. Tools are
matched by name, else by the verb of the name; arguments by name, else by meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import CodeType
from typing import Any

from forge_chaos.inference import words
from forge_chaos.nouns import Scenario, ToolSpec, Verify

VERBS = (
    frozenset(("read", "get", "load", "open", "cat", "show", "view", "fetch")),
    frozenset(("list", "ls", "dir")),
    frozenset(("write", "save", "create", "put", "store")),
    frozenset(("append", "add")),
    frozenset(("edit", "replace", "patch", "update", "modify")),
    frozenset(("move", "rename", "mv")),
    frozenset(("delete", "remove", "rm")),
    frozenset(("search", "grep", "find")),
    frozenset(("run", "exec", "execute", "bash", "shell", "command")),
)
MEANINGS = (
    frozenset(
        (
            "path",
            "file_path",
            "filepath",
            "file",
            "filename",
            "file_name",
            "name",
            "folder",
            "directory",
            "dir",
        )
    ),
    frozenset(("text", "content", "contents", "data", "body")),
    frozenset(("old", "old_text", "old_string", "old_str", "search", "find")),
    frozenset(("new", "new_text", "new_string", "new_str", "replacement", "replace")),
    frozenset(("source", "src", "from_path", "old_path")),
    frozenset(("destination", "dest", "dst", "to", "to_path", "new_path")),
    frozenset(("command", "cmd")),
    frozenset(("pattern", "query", "regex")),
)


def mapped(
    scenario: Scenario, world: Mapping[str, ToolSpec], own: Mapping[str, ToolSpec]
) -> dict[str, ToolSpec]:
    """The agent's tools by the names that the solution uses. A tool that nothing stands for is left out."""
    names = scenario.tools or tuple(world)
    pairs = {name: found for name in names if name in world and (found := _stand_in(world[name], own))}
    renamed = {name: renames(world[name], spec) for name, spec in pairs.items()}
    return {
        name: replace(
            spec,
            renames=renamed[name],
            verify=_verified(world[name].verify, renamed[name], pairs),
            settle=world[name].settle,
        )
        for name, spec in pairs.items()
    }


def missing(scenario: Scenario, found: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Tools of the scenario that nothing of the agent's stands for: those that its solution speaks of,
    all of them where there is none."""
    used = set(scenario.tools) if scenario.solve is None else set(_names(scenario.solve, set()))
    return tuple(name for name in scenario.tools if name in used and name not in found)


def renames(tool: ToolSpec, own: ToolSpec, loosely: bool = True) -> dict[str, str]:
    """How the arguments of a scenario's tool are called in the agent's; equal names are left out.

    `loosely`: the targets of both stand for each other, however they are called.
    """
    theirs = list(own.parameters.get("properties", {}))
    found: dict[str, str] = {}
    for name in tool.parameters.get("properties", {}):
        if name in theirs:
            continue
        alike = next((group for group in MEANINGS if name in group), frozenset())
        match = next(
            (other for other in theirs if other.lower() in alike and other not in found.values()), None
        )
        if match is None and loosely and name == tool.target and own.target is not None:
            match = own.target
        if match is not None:
            found[name] = match
    return found


def _stand_in(tool: ToolSpec, own: Mapping[str, ToolSpec]) -> ToolSpec | None:
    """The one tool of the agent's that does the same; None where several might."""
    if tool.name in own:
        return own[tool.name]
    ours = words(tool.name)
    verb = next((group for group in VERBS if ours[0] in group), frozenset())
    alike = [spec for spec in own.values() if words(spec.name) and words(spec.name)[0] in verb]
    for loosely in (False, True):
        fitting = [spec for spec in alike if _fits(tool, spec, loosely)]
        if fitting:
            shared = [len(set(words(spec.name)) & set(ours)) for spec in fitting]
            best = [
                spec
                for spec, words_in_common in zip(fitting, shared, strict=True)
                if words_in_common == max(shared)
            ]
            return best[0] if len(best) == 1 else None
    return None


def _fits(tool: ToolSpec, own: ToolSpec, loosely: bool) -> bool:
    """Can every argument that the agent's tool requires be filled, and every one that ours requires be said?"""
    known = renames(tool, own, loosely)
    ours = {known.get(name, name) for name in tool.parameters.get("properties", {})}
    needed = {known.get(name, name) for name in tool.parameters.get("required", ())}
    theirs = set(own.parameters.get("properties", {}))
    return set(own.parameters.get("required", ())) <= ours and needed <= theirs


def _verified(
    verify: Verify | None, names: Mapping[str, str], pairs: Mapping[str, ToolSpec]
) -> Verify | None:
    if verify is None or verify.tool not in pairs:
        return None
    back = {theirs: ours for ours, theirs in names.items()}

    def ours(args: Mapping[str, Any]) -> dict[str, Any]:
        return {back.get(name, name): value for name, value in args.items()}

    def translated(
        source: str | Callable[[Mapping[str, Any]], Any],
    ) -> str | Callable[[Mapping[str, Any]], Any]:
        if callable(source):
            return lambda args: source(ours(args))
        return source if source.startswith("=") else names.get(source, source)

    arguments = {name: translated(source) for name, source in verify.arguments.items()}
    return Verify(verify.tool, arguments, lambda args, text: verify.holds(ours(args), text), verify.whole)


def _names(function: Any, seen: set[int]) -> Iterator[str]:
    """The names that a function speaks of, and those of the functions beside it that it calls."""
    code = getattr(function, "__code__", None)
    stack: list[CodeType] = [code] if code is not None and id(function) not in seen else []
    seen.add(id(function))
    while stack:
        here = stack.pop()
        yield from here.co_names
        for other in map(function.__globals__.get, here.co_names):
            if getattr(other, "__globals__", None) is function.__globals__:
                yield from _names(other, seen)
        stack += [const for const in here.co_consts if isinstance(const, CodeType)]
