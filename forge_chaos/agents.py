"""From the words on the command line to an agent in its seat.

nothing                    the reference agent: a demonstration
module:attribute           an object of the user's; its adapter is found from its type
path.py:attribute          the same, from a file
framework:NAME             a framework's stock loop round the scenario's tools
cmd: ./agent --flag        a command, in any language
target:FILE:NAME           a command of a file of targets
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from forge_chaos import registry
from forge_chaos.errors import Misuse, unknown
from forge_chaos.ports import Adapter, Seat
from forge_chaos.recorded import digest

REFERENCE = "reference"
FRAMEWORK = "framework:"
LOADED = "_forge_chaos_agent_"  # before the name of a module that was loaded from a file
COMMAND = "cmd:"
TARGET = "target:"
LOOPLESS = ("command", "native")  # adapters of no framework
KEY = "Any value will do there: the scripted model takes the place of the real one, and nothing is sent."
FORMS = "Write module:attribute, path.py:attribute, framework:NAME or 'cmd: ./agent --flag'."


def adapter(name: str) -> Adapter:
    """The adapter of that name, with dashes or underscores. Raises Misuse when there is none."""
    if name.replace("-", "_") not in registry.names("adapters"):
        raise unknown("adapter", name, _adapters(), way="forge-chaos list adapters")
    found: Adapter = registry.module("adapters", name.replace("-", "_")).adapter
    return found


def stock(spec: str) -> bool:
    """Does the spec name a loop that is not the user's: the reference agent, or a framework's own?"""
    return spec == REFERENCE or spec.startswith(FRAMEWORK)


def command(spec: str | None) -> bool:
    """Does the spec name a command, which runs in a process of its own?"""
    return spec is not None and spec.startswith((COMMAND, TARGET))


def seat(spec: str | None, forced: str | None = None) -> Seat:
    """The agent that `spec` names, in its seat; `forced` is the adapter that `--adapter` names.

    Raises Misuse with what is wrong and the way out.
    """
    if forced is not None and (spec is None or stock(spec)):
        raise Misuse(
            "--adapter says how an object of yours is taken. Name one: --agent module:attribute, "
            f"or an adapter's own loop: --agent {FRAMEWORK}{forced}."
        )
    if spec is None or spec == REFERENCE:
        return adapter("native").framework()
    if command(spec):
        if forced not in (None, "command"):
            raise Misuse(
                f"--adapter {forced}: a command is taken by the adapter command alone. Leave it out."
            )
        return adapter("command").seat(_command(spec))
    if spec.startswith(FRAMEWORK):
        return _named(spec.removeprefix(FRAMEWORK)).framework()
    where, colon, attribute = spec.rpartition(":")
    if not colon or not where or not all(part.isidentifier() for part in attribute.split(".")):
        raise Misuse(f"cannot read agent {spec!r}. {FORMS}")
    return seat_of(_attribute(_load(where, spec), attribute, spec), forced, spec)


def seat_of(thing: Any, forced: str | None = None, spec: str = "") -> Seat:
    """An object in its seat; `spec` is what a complaint calls it. Raises Misuse for what no adapter knows."""
    spec = spec or _described(thing)
    if forced is not None:
        return adapter(forced).seat(_built(thing, spec) if _is_factory(thing) else thing)
    chosen = _recognised(thing)
    said = _described(thing)
    if chosen is None and _is_factory(thing):
        thing = _built(thing, spec)
        chosen = _recognised(thing)
        said += f", which returned {_described(thing)}"
    if chosen is None and not inspect.isroutine(thing) and not inspect.isclass(thing) and callable(thing):
        thing = thing.__call__  # an object that is called as a function is
        chosen = _recognised(thing)
    if chosen is None:
        raise Misuse(
            f"no adapter knows what {spec!r} is: {said}. "
            f"A native agent is a function that takes some of (task, tools, model). "
            f"Adapters: {', '.join(_adapters())} (--adapter NAME forces one)."
        )
    return chosen.seat(thing)


def _command(spec: str) -> Any:
    from forge_chaos.adapters.command import Command, words

    if spec.startswith(COMMAND):
        return Command(words(spec.removeprefix(COMMAND)))
    from forge_chaos.seeds import targets

    target = targets.one(spec.removeprefix(TARGET))
    return Command(target.words, target.home, target.stays, dict(target.environment))


def _adapters() -> list[str]:
    return [name.replace("_", "-") for name in registry.names("adapters")]


def frameworks() -> list[str]:
    """The adapters that stand for a framework, with a stock loop of its own."""
    return [name for name in _adapters() if name not in LOOPLESS]


def _named(framework: str) -> Adapter:
    if framework.replace("_", "-") not in _adapters():
        raise unknown("framework", framework, frameworks(), way="forge-chaos list adapters")
    return adapter(framework)


def _recognised(thing: object) -> Adapter | None:
    for name in registry.names("adapters"):
        candidate = adapter(name)
        if candidate.recognises(thing):
            return candidate
    return None


def _is_factory(thing: object) -> bool:
    """Can it be called with nothing, to see what it makes? A coroutine is no framework's object."""
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return False
    if inspect.iscoroutinefunction(thing) or inspect.isasyncgenfunction(thing):
        return False
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.default is not p.empty or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)


def _built(factory: Callable[[], Any], spec: str) -> Any:
    try:
        return factory()
    except (Exception, SystemExit) as error:
        raise Misuse(
            f"agent {spec!r}: {_described(factory)} raised {type(error).__name__}: {error}{_place(error)}."
        ) from error


def _described(thing: object) -> str:
    if inspect.isfunction(thing):
        return f"a function {thing.__name__}{inspect.signature(thing)}"
    if inspect.isclass(thing):
        return f"the class {thing.__module__}.{thing.__qualname__}"
    kind = type(thing)
    return f"an object of type {kind.__module__}.{kind.__qualname__}"


def _load(where: str, spec: str) -> ModuleType:
    if where.endswith(".py"):
        path = Path(where)
        if not path.is_file():
            raise Misuse(f"agent {spec!r}: there is no file {where!r}. {FORMS}")
        name = f"{LOADED}{path.stem}"
        made = spec_from_file_location(name, path.resolve())
        assert made is not None
        assert made.loader is not None
        module = module_from_spec(made)
        sys.modules[name] = module
        home = str(path.resolve().parent)
        if home not in sys.path:
            sys.path.insert(0, home)
        _run(lambda: made.loader.exec_module(module), spec)  # type: ignore[union-attr]  # asserted above
        return module
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    found: ModuleType = _run(lambda: import_module(where), spec)
    return found


def _run(load: Callable[[], Any], spec: str) -> Any:
    try:
        return load()
    except (Exception, SystemExit) as error:
        place = _place(error)
        raise Misuse(
            f"agent {spec!r} does not import: {type(error).__name__}: {error}{place}. "
            + (KEY if "_API_KEY" in str(error) else "Repair that, or name another agent.")
        ) from error


def _place(error: BaseException) -> str:
    """The last line of the user's own code that the import reached."""
    here = error.__traceback__
    found = ""
    while here is not None:
        file = here.tb_frame.f_code.co_filename
        if not file.startswith("<") and "importlib" not in file and Path(file) != Path(__file__):
            found = f" ({file}:{here.tb_lineno})"
        here = here.tb_next
    return found


def _attribute(module: ModuleType, attribute: str, spec: str) -> Any:
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            names = [n for n in vars(found) if not n.startswith("_")] if hasattr(found, "__dict__") else []
            near = get_close_matches(part, names, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise Misuse(
                f"agent {spec!r}: {_called(found)} has no attribute {part!r}.{hint} "
                f"It has: {', '.join(sorted(names)[:20]) or 'nothing'}."
            )
        found = getattr(found, part)
    return found


def _called(thing: Any) -> str:
    """A module or class by the name that its user knows."""
    return str(getattr(thing, "__name__", thing)).removeprefix(LOADED)


def source(spec: str | None) -> str | None:
    """A hash over the user's own code that the agent was loaded from: the modules below this folder.

    A run is not gone on with when it has changed. None for agents of ours.
    """
    if spec is None or spec == REFERENCE or spec.startswith("framework:"):
        return None
    here = Path.cwd()
    if command(spec):
        held = _command(spec)
        own = [file for word in held.words if (file := (held.home or here) / word).is_file()]
        texts = [file.read_bytes() for file in own if file.is_relative_to(held.home or here)]
        return digest(b"".join(texts)) if texts else None
    files = {
        Path(file)
        for module in list(sys.modules.values())
        if isinstance(file := getattr(module, "__file__", None), str)
        and not (getattr(module, "__name__", "") or "").startswith("forge_chaos")
    }
    own = sorted(
        f for f in files if f.is_file() and f.is_relative_to(here) and "site-packages" not in f.parts
    )
    return digest(b"".join(f.read_bytes() for f in own)) if own else None
