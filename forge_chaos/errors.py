"""What can go wrong on our side of the table.

ChaosError
├── Misuse            the user's input; exit 4. The fact, what exists, the way out.
├── Inconclusive      nothing could be decided; exit 2.
└── Broken            the harness, a grader, a world or an adapter failed; exit 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ChaosError(Exception):
    """Base of all errors that forge-chaos raises on purpose. `exit` is the exit code."""

    exit = 3


class Misuse(ChaosError):
    """The user asked for something that does not exist or cannot be read."""

    exit = 4


class Inconclusive(ChaosError):
    """Nothing is left that could be judged."""

    exit = 2


class Broken(ChaosError):
    """Our own part failed, so no verdict may be given."""

    exit = 3


def unknown(what: str, name: str, known: Iterable[str], where: str = "", way: str = "") -> Misuse:
    """`no fault 'mising_file'. Did you mean 'missing_file'? Known: ... (forge-chaos list faults)`."""
    names = sorted(known)
    hint = near(name, names)
    place = f"{where}: " if where else ""
    return Misuse(
        f"{place}no {what} {name!r}.{hint} Known: {', '.join(names) or 'none'}.{f' ({way})' if way else ''}"
    )


def near(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'missing_file'?`, or nothing where no name is like it."""
    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {found[0]!r}?" if found else ""
