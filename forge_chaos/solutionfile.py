"""`solution.py`: loaded without leaving traces, and linted for what would make it unrepeatable.

It may define `values(rng)`, `solve(task, tools)`, `detour(task, tools)`, `commands` and `setup`; for the
user's further messages `solve_2(task, tools)`, `solve_3`, and so on.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.nouns import Solve

UNREPEATABLE = ("random", "time", "datetime", "uuid", "secrets")
LOOKS = ("read_", "list_", "search_")
LATER = re.compile(r"solve_([2-9]|[1-9]\d+)")


@dataclass(frozen=True, slots=True)
class Solution:
    """What a `solution.py` defines; everything may be absent."""

    path: Path
    draw: Callable[[Random], Mapping[str, Any]] | None = None
    solve: Solve | None = None
    detour: Solve | None = None
    turns: Mapping[int, Solve] = field(default_factory=dict)
    commands: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    setup: Callable[..., Any] | None = None
    names: Mapping[str, Any] = field(default_factory=dict)

    def function(self, name: str) -> Callable[..., Any]:
        """A function by its name here, or as `module:name`. Raises Misuse when there is none."""
        module, _, attribute = name.rpartition(":")
        try:
            found = getattr(import_module(module), attribute) if module else self.names[name]
        except (ImportError, AttributeError, KeyError):
            raise Misuse(
                f"no function {name!r} in {module or self.path}. Write a name of solution.py, or module:name."
            ) from None
        if not callable(found):
            raise Misuse(f"{name!r} in {module or self.path} is no function.")
        return found  # type: ignore[no-any-return]  # a callable of unknown signature

    def values(self, rng: Random) -> dict[str, Any]:
        """The values drawn for a trial. Raises Misuse when `values` fails or gives no mapping."""
        if self.draw is None:
            return {}
        try:
            drawn = self.draw(rng)
        except Exception as error:
            raise _failed(self.path, error) from error
        if not isinstance(drawn, Mapping) or not all(isinstance(name, str) for name in drawn):
            raise Misuse(
                f"{_line(self.path, self.draw)}: values(rng) must return a dict of names to values, "
                f"not {type(drawn).__name__}."
            )
        return dict(drawn)


def solution(path: Path, source: bytes) -> Solution:
    """The solution, run once under a name of its own that enters no `sys.modules` and no cache file.

    Raises Misuse, with file and line, for what Python or the shape of a solution refuses.
    """
    module = ModuleType(f"{path.parent.name}.solution")
    module.__file__ = str(path)
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102 - a scenario is code by design
    except Exception as error:
        raise _failed(path, error) from error
    commands = getattr(module, "commands", {})
    if not isinstance(commands, Mapping) or not all(callable(command) for command in commands.values()):
        raise Misuse(f"{path}: commands must map names to functions.")
    return Solution(
        path=path,
        draw=_function(path, module, "values", "rng", asynchronous=False),
        solve=_function(path, module, "solve", "task, tools", asynchronous=True),
        detour=_function(path, module, "detour", "task, tools", asynchronous=True),
        turns={
            int(name.removeprefix("solve_")): _function(path, module, name, "task, tools", asynchronous=True)
            for name in vars(module)
            if LATER.fullmatch(name)
        },
        commands=dict(commands),
        setup=getattr(module, "setup", None),
        names=module.__dict__,
    )


def _function(path: Path, module: ModuleType, name: str, takes: str, *, asynchronous: bool) -> Any:
    found = getattr(module, name, None)
    if found is None:
        return None
    wanted = f"{'async ' if asynchronous else ''}def {name}({takes})"
    if not callable(found):
        raise Misuse(f"{path}: {name} must be a function: {wanted}.")
    try:
        inspect.signature(found).bind(*takes.split(", "))
    except TypeError:
        raise Misuse(f"{_line(path, found)}: {name}{inspect.signature(found)} must be {wanted}.") from None
    if asyncio.iscoroutinefunction(found) != asynchronous:
        raise Misuse(f"{_line(path, found)}: {name} must be {wanted}.")
    return found


def _line(path: Path, function: Any) -> str:
    code = getattr(function, "__code__", None)
    return f"{path}:{code.co_firstlineno}" if code is not None else str(path)


def _failed(path: Path, error: Exception) -> Misuse:
    """The complaint about an exception, at the last line of the solution that it passed."""
    line: int | None = (
        error.lineno if isinstance(error, SyntaxError) and error.filename == str(path) else None
    )
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == str(path):
            line = frame.lineno
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return Misuse(f"{path}:{line or 1}: {type(error).__name__}: {text}")


def lint(folder: Path) -> list[str]:
    """What would make the solution in `folder` unrepeatable or easy to fool, sentences with file and line.

    The scripted model replays a solution from what a request shows, so it must take the same way every
    time; and it must notice a bad reply itself, by `expect`.
    """
    path = folder / "solution.py"
    if not path.is_file():
        return []
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        return [f"{path}:{error.lineno or 1}: {error.msg}"]
    found = [
        (node.lineno, said)
        for node in ast.walk(tree)
        if isinstance(node, ast.expr | ast.stmt)
        for said in _wrong(node)
    ]
    return [f"{path}:{line}: {said}" for line, said in sorted(found)]


def _wrong(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            modules = [alias.name.partition(".")[0] for alias in names]
        case ast.ImportFrom(module=str(module)):
            modules = [module.partition(".")[0]]
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return ["a set has no order that lasts; use a list or dict.fromkeys"]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tools"), attr=tool), keywords=keywords):
            return _reading(tool, {keyword.arg: keyword.value for keyword in keywords})
        case _:
            return []
    return [
        f"import of {module}: a solution must be repeatable; values(rng) draws"
        for module in modules
        if module in UNREPEATABLE
    ]


def _reading(tool: str, keywords: Mapping[str | None, ast.expr]) -> list[str]:
    if tool.startswith(LOOKS) and "expect" not in keywords:
        return [f"tools.{tool} without expect=: the solution could not tell a bad reply from a good one"]
    if "expect" in keywords and ast.unparse(keywords["expect"]) in ("json.loads", "str"):
        return [
            f"expect={ast.unparse(keywords['expect'])} accepts an error object; check the shape, as json_with does"
        ]
    return []
