"""The single record of a trial: an append-only stream of frozen events.

`Executed` (the real tool ran, with this result) is the ground truth that the agent may never learn;
`Returned` is what it was told. Grading `Called` would convict harmless retries.
All values in events are strict JSON already: see `recorded.plain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar


@dataclass(frozen=True, slots=True)
class Told:
    """A result in its recorded form: `error` is None for Ok, else `{"code", "type", "message"}`."""

    value: Any = None
    error: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        return self.error is None


@dataclass(frozen=True, slots=True)
class Started:
    """What was to happen. `variants` holds each rule resolved, so that a trace explains itself without
    the catalogue: {rule text: {"fault", "variant", "family", "explicit", "refuses", "seam", "ever"}}.
    `tools`: {name: {"roles", "target", "poll"}}. `resources`: the world before, as in `Snapshot`.
    `shared`: the files that another hand may change. `cancels`: the agent's caller can cancel its run and go
    on with another turn. `windows`: it keeps to the window that its caller asks for."""

    kind: ClassVar[str] = "started"
    scenario: str
    hash: str
    agent: str
    model: str
    rules: tuple[str, ...]
    seed: int
    repetition: int = 0
    prompt: str = ""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    resources: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    cancels: bool = False
    windows: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A model request. Only what is new stands here: the first `kept` messages equal the previous
    request's; `messages` follow. `tools` are the names offered."""

    kind: ClassVar[str] = "asked"
    request: int
    kept: int
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[str, ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class Replied:
    """The model's reply to `request`: one assistant message, or an error."""

    kind: ClassVar[str] = "replied"
    request: int
    message: Mapping[str, Any] | None = None
    error: str | None = None


SHELL = "shell: "
"""Before a command line in `Called.by`: a program that a shell of the agent's started, and no call of its model's."""


@dataclass(frozen=True, slots=True)
class Called:
    """The agent asked for a tool. `nth` counts the calls on this tool and target, from 1, in asking order."""

    kind: ClassVar[str] = "called"
    call: int
    tool: str
    args: Mapping[str, Any]
    target: str | None = None
    nth: int = 1
    order: tuple[int, int] | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault's mechanism acted. `call` is the call's id, or None at the model seam, where `request` is
    set. `nth` is the call's number on its tool and target. `changed`: what the mechanism itself changed
    in the world (resource names)."""

    kind: ClassVar[str] = "injected"
    rule: str
    variant: str
    mechanism: str
    call: int | None = None
    request: int | None = None
    tool: str = ""
    target: str | None = None
    nth: int = 1
    changed: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Executed:
    """The real tool ran, with this result. `touched`: resources that it changed, where the world knows."""

    kind: ClassVar[str] = "executed"
    call: int
    result: Told
    touched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Returned:
    """What the agent was told."""

    kind: ClassVar[str] = "returned"
    call: int
    result: Told


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The call was left open: the agent's own time limit, a cancellation, or the end of the trial."""

    kind: ClassVar[str] = "abandoned"
    call: int
    why: str = "cancelled"


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that a grader or an invariant needs and nothing else holds, e.g. a check command's end."""

    kind: ClassVar[str] = "noted"
    what: str
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """The agent's run is over. `end`: answered | stopped | hung | cancelled | raised.
    `why` says which budget stopped it. `honest`: the adapter lists this exception as an honest end;
    `limit`: the agent itself says that it met its own limit."""

    kind: ClassVar[str] = "finished"
    end: str
    answer: str = ""
    status: str | None = None
    error: Mapping[str, Any] | None = None
    honest: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The world after the settle time: what the graders hold the agent to.

    `resources` maps each resource to its content: a workspace path to its text (recorded form),
    `record:table/id` to the row, `ledger` to the list of effects.
    """

    kind: ClassVar[str] = "snapshot"
    resources: Mapping[str, Any] = field(default_factory=dict)
    known: bool = True


Body: TypeAlias = (
    Started
    | Asked
    | Replied
    | Called
    | Injected
    | Executed
    | Returned
    | Abandoned
    | Noted
    | Finished
    | Snapshot
)
BODIES: Mapping[str, type[Body]] = {
    body.kind: body
    for body in (
        Started,
        Asked,
        Replied,
        Called,
        Injected,
        Executed,
        Returned,
        Abandoned,
        Noted,
        Finished,
        Snapshot,
    )
}


@dataclass(frozen=True, slots=True)
class Event:
    """`seq` counts from 0 without gaps; `at` is trial time in seconds and never falls."""

    seq: int
    at: float
    body: Body


Trace: TypeAlias = tuple[Event, ...]
B = TypeVar("B", bound=Body)


def find(trace: Trace, kind: type[B]) -> Iterator[tuple[int, B]]:
    """The events of one kind, each with its number."""
    for event in trace:
        if isinstance(event.body, kind):
            yield event.seq, event.body
