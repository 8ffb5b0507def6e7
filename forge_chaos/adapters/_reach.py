"""What can be reached from an agent: tools, models and inner agents lie in closures, in globals that a
function names, behind bound methods and in plain containers, and no framework lists them all."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

MOST = 20_000  # objects looked at: an agent that holds a data set is not read through


def reached(roots: Iterable[Any], parts: Callable[[Any], Iterable[Any] | None]) -> list[Any]:
    """Every object of interest that can be reached, each once, the nearest first.

    `parts(thing)` is what an object of interest is made of, or None for any other object. Functions, bound
    methods, partials and containers are looked into by themselves.
    """
    found: list[Any] = []
    held: list[Any] = list(roots)  # keeps each object alive, so that no two have the same id
    seen: set[int] = set()
    at = 0
    while at < len(held) and at < MOST:
        thing = held[at]
        at += 1
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        inner = parts(thing)
        if inner is None:
            inner = _within(thing)
        else:
            found.append(thing)
        held.extend(inner)
    return found


def _within(thing: Any) -> Iterator[Any]:
    if isinstance(thing, types.FunctionType):
        yield from _cells(thing)
        yield from _globals(thing.__code__, thing.__globals__)
        if (wrapped := getattr(thing, "__wrapped__", None)) is not None:
            yield wrapped
    elif isinstance(thing, types.MethodType):
        yield thing.__func__
        yield thing.__self__
        yield getattr(thing.__self__, "__dict__", None)
    elif isinstance(thing, partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif isinstance(thing, Mapping):
        yield from thing.values()
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from thing


def _cells(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue


def _globals(code: types.CodeType, known: dict[str, Any]) -> Iterator[Any]:
    """What a function's code names of its module; modules themselves are not entered."""
    for name in code.co_names:
        each = known.get(name)
        if each is not None and not isinstance(each, type | types.ModuleType):
            yield each
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals(constant, known)


def put(thing: Any, name: str, value: Any, back: ExitStack) -> None:
    """Set an attribute of this very object, past what its class makes of that, until `back` is left."""
    held = vars(thing)
    if name in held:
        back.callback(object.__setattr__, thing, name, held[name])
    else:
        back.callback(object.__delattr__, thing, name)
    object.__setattr__(thing, name, value)


def carried(thing: Any, name: str, begins: Any, session: dict[str, Any], back: ExitStack) -> None:
    """Set an attribute that begins so in each trial and goes on from turn to turn of it: what it holds at the
    end of a turn stays in the session, and the user's object has its own again."""
    key = f"{type(thing).__name__} {id(thing)} {name}"
    put(thing, name, session.get(key, begins), back)
    back.callback(lambda: session.__setitem__(key, getattr(thing, name)))


__all__ = ["carried", "put", "reached"]
