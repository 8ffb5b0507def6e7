"""A framework's kit: what the conformance tests have to know of it, and nothing of ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.conformance.frameworks.wire import Wire

HERE = Path(__file__).parent
ONLY = "CONFORMANCE_OF"  # the variable that names one kit
SHARED = ("__init__", "conftest", "kit", "play", "wire")


@dataclass(frozen=True)
class Kit:
    """`name` is the adapter's, `package` what must be importable for it.

    `build(functions, wire)` is a finished agent over those functions as the framework's documentation
    shows it, its model a client of `wire`, with room for at least ten steps. `play(agent, prompt)` runs it
    as a user would, and gives back the text of its answer or an awaitable of it.

    `kinds`: which functions the framework takes as tools. `parallel`: it carries out several calls of one
    reply side by side. `stock`: an agent file beside this one that imports nothing of ours, and the tools
    that it has are those of the scenario `sum_orders`. `unequal`: exception types, by name, under which
    an injected fault and a tool that raises cannot be told to be the same, each with the reason.
    `modelless`: the object brings no model of its own, so that a trial always hands it one.
    `blocked`: how a trial ends whose tool blocks its thread for ever. A server's client may set each call a
    limit of its own and give up, unless its session waits for the thread on the way out.
    `tool`, `argument`, `role`: what the function that reads is known as, where the framework has tools of its own.
    `warns`: filters for the framework's own warnings, which would fail a test here.
    """

    name: str
    package: str
    build: Callable[[Sequence[Callable[..., Any]], Wire], Any]
    play: Callable[[Any, str], Any]
    kinds: tuple[str, ...] = ("async", "sync")
    parallel: bool = True
    stock: str | None = None
    unequal: dict[str, str] = field(default_factory=dict)
    warns: tuple[str, ...] = ()
    modelless: bool = False
    blocked: str = "hung"
    tool: str = "read_file"
    argument: str = "path"
    role: str = "read"

    def __str__(self) -> str:
        return self.name


def names() -> list[str]:
    """The files of all kits, sorted."""
    return sorted(
        p.stem for p in HERE.glob("*.py") if p.stem not in SHARED and not p.stem.startswith(("test_", "_"))
    )


def kits() -> list[Kit]:
    """Those whose framework is installed here; the one that is asked for, if the environment names one."""
    asked = os.environ.get(ONLY)
    found: list[Kit] = [import_module(f"{__package__}.{name}").KIT for name in names()]
    return [kit for kit in found if installed(kit.package) and asked in (None, kit.name)]


def installed(package: str) -> bool:
    """Can it be imported, every package above it too?"""
    parent = package.rpartition(".")[0]
    return (not parent or installed(parent)) and find_spec(package) is not None
