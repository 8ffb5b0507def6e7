"""The model that takes whatever text it is shown for the data that it asked for, and says DONE.

Unacceptable on: `sum_orders` under `missing_file.never@1..:read_file(orders.csv)` (false_success: the total is
made of a number in the error's text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, SupportsIndex

from forge_chaos.modelserver.mind import Mind, Step
from forge_chaos.modelserver.trouble import Trouble


class Taken(str):
    """Text taken for data: it behaves as a table, a record or a number would, so that nothing stops."""

    def __iter__(self) -> Iterator[Any]:
        return iter((Row(self),))

    def __getitem__(self, key: Any) -> Any:
        return str.__getitem__(self, key) if isinstance(key, SupportsIndex | slice) and self else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Taken:
        return self

    def __int__(self) -> int:
        found = re.search(r"-?\d+", str(self))
        return int(found[0]) if found else 0

    def __float__(self) -> float:
        return float(int(self))

    def __index__(self) -> int:
        return int(self)

    def get(self, key: Any, default: Any = None) -> Taken:
        return self

    def items(self) -> list[tuple[str, Any]]:
        return [(str(self), self)]

    def keys(self) -> list[str]:
        return [str(self)]

    def values(self) -> list[Any]:
        return [self]


class Row(Taken):
    """One item of Taken: the same text, which gives characters when it is walked."""

    def __iter__(self) -> Iterator[Any]:
        return str.__iter__(self)


async def gullible(step: Step, mind: Mind) -> Any:
    """The value, or the text itself as if it were one."""
    reply = await step.ask()
    try:
        return step.read(reply)
    except Trouble:
        return Taken(reply.text)


def ending(error: Exception) -> str:
    return "DONE"
