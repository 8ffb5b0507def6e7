"""Tasks that were written for other systems, or in Python, as scenarios.

A *source* is a file of tasks (`tasks.json`, `tasks.jsonl`: told apart by content) or a Python object
that is scenarios (`module:attribute`, `path.py:attribute`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path

from forge_chaos.errors import Misuse, unknown
from forge_chaos.nouns import Scenario
from forge_chaos.seeds.imported import Imported


def load(source: str | PathLike[str]) -> tuple[Scenario, ...]:
    """The scenarios of a source that can be graded, in their order.

    Raises Misuse, with file and line, for what cannot be read, and when nothing in it can be graded.
    """
    return gather([str(source)]).scenarios


def read(source: str | PathLike[str]) -> Imported:
    """All that a source holds: scenarios, the tasks that cannot be graded with why not, and notes on
    what of the others is not graded. Raises Misuse, with file and line, for what cannot be read."""
    text = str(source)
    where, colon, attribute = text.rpartition(":")
    if colon and where and not Path(text).exists():
        from forge_chaos.seeds import python

        return python.scenarios(where, attribute)
    from forge_chaos.seeds import tasks

    return tasks.scenarios(Path(source))


def gather(sources: Iterable[str]) -> Imported:
    """What several sources hold together; nothing for no source. Raises Misuse when nothing of one can be
    graded, and when two scenarios have one name."""
    together = Imported(())
    for source in sources:
        found = read(source)
        if not found.scenarios:
            reasons = "; ".join(f"{skipped.scenario}: {skipped.why}" for skipped in found.skipped)
            raise Misuse(f"{source}: no task of it can be graded. {reasons}")
        together = Imported(
            (*together.scenarios, *found.scenarios),
            (*together.skipped, *found.skipped),
            (*together.notes, *found.notes),
        )
    by_name(together.scenarios)
    return together


def by_name(scenarios: Iterable[Scenario]) -> dict[str, Scenario]:
    """{name: scenario}. Raises Misuse when two have one name."""
    found: dict[str, Scenario] = {}
    for scenario in scenarios:
        if scenario.name in found:
            raise Misuse(f"two scenarios are called {scenario.name!r}. Give each a name of its own.")
        found[scenario.name] = scenario
    return found


def choose(globs: str, known: Mapping[str, Scenario]) -> tuple[str, ...]:
    """The scenarios that a comma list of globs names, each once, in the order of their source.

    A name is also taken as it is, whatever commas and brackets it holds. Raises Misuse when one of the
    globs matches nothing.
    """
    if globs in known:
        return (globs,)
    chosen: set[str] = set()
    for pattern in (part.strip() for part in globs.split(",")):
        matching = [name for name in known if name == pattern or fnmatchcase(name, pattern)]
        if not matching:
            raise unknown("scenario", pattern, known)
        chosen.update(matching)
    return tuple(name for name in known if name in chosen)


def absolute(source: str) -> str:
    """The source, so that another process finds it from any directory."""
    if Path(source).exists():
        return str(Path(source).resolve())
    where, colon, attribute = source.rpartition(":")
    return f"{Path(where).resolve()}:{attribute}" if colon and Path(where).is_file() else source
