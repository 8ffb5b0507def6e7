"""Objects of interest are found wherever a function can hold them, each once, and nothing else is entered."""

from __future__ import annotations

from functools import partial
from typing import Any

from forge_chaos.adapters._reach import reached


class Thing:
    def __init__(self, *inner: Any) -> None:
        self.inner = inner

    def method(self) -> None: ...


class Other:
    """Not of interest."""

    def __init__(self, thing: Thing) -> None:
        self.thing = thing

    def method(self) -> None: ...


KNOWN = Thing()
UNNAMED = Thing()


def parts(thing: Any) -> Any:
    return thing.inner if isinstance(thing, Thing) else None


def found(*roots: Any) -> list[Any]:
    return reached(roots, parts)


def test_the_nearest_comes_first_and_each_once() -> None:
    leaf = Thing()
    middle = Thing(leaf)
    ring = Thing(leaf, middle)
    ring.inner = (*ring.inner, ring)
    assert found(ring) == [ring, leaf, middle]


def test_closures_globals_partials_methods_and_containers_are_looked_into() -> None:
    held = Thing()

    def closes() -> Any:
        return held

    def names() -> Any:
        return lambda: KNOWN

    def takes(thing: Any) -> None: ...

    assert found(closes) == [held]
    assert found(names) == [KNOWN]
    assert found(partial(takes, held)) == [held]
    assert found(partial(takes, thing=held)) == [held]
    assert found(held.method) == [held]
    assert found(Other(held).method) == [held]
    assert found({"a": [(held,)]}) == [held]


def test_what_is_not_named_and_foreign_objects_are_not_entered() -> None:
    def names() -> Any:
        return Thing

    assert found(names, Other(KNOWN), "text", None) == []


def test_a_closure_that_is_not_filled_yet_is_passed_over() -> None:
    def uses() -> Any:
        return later

    assert found(uses) == []
    later = KNOWN
    assert found(uses) == [later]
