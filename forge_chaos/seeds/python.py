"""Scenarios that a Python module holds: one, a sequence of them, or a function that returns either."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from forge_chaos.errors import Misuse
from forge_chaos.nouns import Scenario
from forge_chaos.seeds.imported import Imported

FORMS = "Write module:attribute or path.py:attribute, a forge_chaos.Scenario or several."


def scenarios(where: str, attribute: str) -> Imported:
    """What `where:attribute` is. Raises Misuse when it does not import or is no scenario."""
    source = f"{where}:{attribute}"
    module = _module(where, source)
    if not hasattr(module, attribute):
        near = get_close_matches(attribute, vars(module), n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise Misuse(f"{source}: {where} has no attribute {attribute!r}.{hint} {FORMS}")
    found = getattr(module, attribute)
    if callable(found) and not isinstance(found, Scenario):
        found = _guarded(found, source)
    several = (found,) if isinstance(found, Scenario) else found
    if not isinstance(several, Iterable):
        raise Misuse(f"{source} is {type(found).__name__}, no scenario. {FORMS}")
    listed = tuple(several)
    for each in listed:
        if not isinstance(each, Scenario):
            raise Misuse(f"{source} holds {each!r}, no scenario. {FORMS}")
    if not listed:
        raise Misuse(f"{source} holds no scenario. {FORMS}")
    return Imported(listed)


def _module(where: str, source: str) -> ModuleType:
    path = Path(where)
    if where.endswith(".py"):
        if not path.is_file():
            raise Misuse(f"{source}: there is no file {where!r}. {FORMS}")
        made = spec_from_file_location(f"_forge_chaos_scenarios_{path.stem}", path.resolve())
        assert made is not None
        loader = made.loader
        assert loader is not None
        module = module_from_spec(made)
        sys.modules[made.name] = module
        _findable(str(path.resolve().parent))
        _guarded(lambda: loader.exec_module(module), source)
        return module
    if "" not in sys.path:
        _findable(str(Path.cwd()))
    found: ModuleType = _guarded(lambda: import_module(where), source)
    return found


def _findable(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _guarded(act: Any, source: str) -> Any:
    """What the user's code returns. Raises Misuse, with its last line, for what it raises."""
    try:
        return act()
    except (Exception, SystemExit) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
        own = [f for f in frames if not f.filename.startswith("<") and "importlib" not in f.filename]
        place = f" ({own[-1].filename}:{own[-1].lineno})" if own else ""
        raise Misuse(f"{source} does not load: {type(error).__name__}: {error}{place}. {FORMS}") from error
