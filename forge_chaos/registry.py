"""How leaves are found: a leaf is a module of its package with a public object of the module's name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from pydantic import ConfigDict, ValidationError, create_model

from forge_chaos.errors import Misuse, unknown


@cache
def names(package: str) -> tuple[str, ...]:
    """The leaves of `forge_chaos.<package>`, sorted."""
    home = import_module(f"forge_chaos.{package}")
    return tuple(sorted(m.name for m in iter_modules(home.__path__) if not m.name.startswith("_")))


@cache
def module(package: str, name: str) -> Any:
    """The module of one leaf. Raises Misuse with the near miss when there is none."""
    if name not in names(package):
        raise unknown(package.removesuffix("s"), name, names(package), way=f"forge-chaos list {package}")
    return import_module(f"forge_chaos.{package}.{name}")


def leaf(package: str, name: str) -> Any:
    """The leaf itself: the object named like its module."""
    return getattr(module(package, name), name)


@cache
def _model(package: str, name: str) -> tuple[type[Any], frozenset[str]]:
    function = leaf(package, name)
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    fields: dict[str, Any] = {
        p.name: (
            p.annotation if p.annotation is not p.empty else Any,
            ... if p.default is p.empty else p.default,
        )
        for p in parameters
        if p.kind is p.KEYWORD_ONLY
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(f"{name}_params", __config__=config, **fields), frozenset(fields)


def params(package: str, name: str, given: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """`given` checked against the leaf's keyword-only parameters, defaults not filled in.

    Raises Misuse that names the wrong key with its near miss, a missing key, or the wrong type.
    """
    model, known = _model(package, name)
    for key in given:
        if key not in known:
            raise unknown(f"parameter of {package.removesuffix('s')} {name!r}", key, known, where)
    try:
        checked = model(**given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise Misuse(
            f"{where + ': ' if where else ''}{package.removesuffix('s')} {name!r}: "
            f"parameter {key!r}: {first['msg']}. It takes: {', '.join(sorted(known)) or 'nothing'}."
        ) from None
    return {key: getattr(checked, key) for key in given}


def bound(package: str, name: str, given: Mapping[str, Any], where: str = "") -> Callable[..., Any]:
    """The leaf with its parameters checked and filled in."""
    function, kwargs = leaf(package, name), params(package, name, given, where)

    def call(*args: Any) -> Any:
        return function(*args, **kwargs)

    return call
