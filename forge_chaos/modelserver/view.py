"""What one model request shows, whatever the wire: the task, the calls with their replies, the tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from forge_chaos.modelserver import keys

UNREAD = ""  # the one argument of a call whose arguments are no JSON object: their text, or what they are


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as it stands in the conversation. `id` is empty where the wire has none; `key` says which
    calls are the same (see `keys`)."""

    name: str
    args: Mapping[str, Any]
    id: str = ""
    key: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", keys.key(self.name, self.args, self.id))


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model is shown for a call: the text and, only if the wire has one, a failure flag."""

    text: str
    failed: bool | None = None


Pair: TypeAlias = tuple[ToolCall | None, Reply | None]


@dataclass(frozen=True, slots=True)
class View:
    """One request, normalised.

    `task` is the first user message (None: there is none). `pairs` are all visible calls and replies in
    order; one half is None where the other stands alone. `tools` are the names offered; `final_only`:
    no call is possible, a last answer is asked for. `answer_tool` is the tool through which the answer
    must be given, where there is one. `alone`: one call a turn, since this wire joins the results of a batch
    or the caller wants it so. `said` are the user's further messages, each with the number of pairs before it.
    """

    task: str | None
    pairs: tuple[Pair, ...] = ()
    tools: frozenset[str] = frozenset()
    final_only: bool = False
    answer_tool: str | None = None
    alone: bool = False
    said: tuple[tuple[str, int], ...] = ()
