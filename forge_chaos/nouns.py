"""The nouns: frozen data that every part shares, no behaviour beyond reading itself.

A *call* is one tool call of the agent. Its *result* is `Ok(value)` or `Err(code, message)`.
A *rule* says which calls meet which fault and how long; a *plan* is rules plus a seed.
A *scenario* is a clean task with a world, a solution and graders.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, TypeAlias

Role = Literal["read", "write", "list", "execute", "network", "effect"]
ROLES: tuple[Role, ...] = ("read", "write", "list", "execute", "network", "effect")

PATHS = frozenset(
    ("path", "file", "filename", "file_path", "filepath", "source", "folder", "dir", "directory")
)
"""Names of target arguments whose values are paths in the workspace."""


@dataclass(slots=True)
class Call:
    """One tool call, as the agent made it.

    `id` numbers the calls of a trial from 1, in order of arrival. `target` is the argument that the
    tool declares as its resource, normalised; None when it declares none. `order` is (turn, index in
    that turn's batch) where the adapter knows what the model asked for. `by` names a sub-agent.
    Built on the hot path, so not frozen; nobody writes to one after the gate has made it.
    """

    id: int
    tool: str
    args: dict[str, Any]
    target: str | None = None
    order: tuple[int, int] | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Ok:
    """The tool answered. `value` is whatever it returned: any Python value."""

    value: Any = None


@dataclass(frozen=True, slots=True)
class Err:
    """The tool failed. `code` is a key of `natural.CODES`, `message` the text without the type's name.

    `exception` is the live exception where there is one: it is raised unchanged.
    Otherwise `type` (`"module:Type"`) with `arguments` builds it, else the table of `natural` does.
    """

    code: str
    message: str
    exception: BaseException | None = None
    type: str | None = None
    arguments: tuple[Any, ...] = ()


Result: TypeAlias = Ok | Err
Tool: TypeAlias = Callable[[Call], Awaitable[Ok | Err]]


@dataclass(frozen=True, slots=True)
class Verify:
    """How a write or an effect is read back: `tool(**{name: args[source]})`, then `holds(args, text)`.

    `arguments` maps an argument of the read tool to an argument of the verified call, to a constant
    when it starts with `=` (`{"kind": "=charge"}`), or to a function of the call's arguments (the
    parent folder of its path). `holds` gets the verified call's arguments and the read tool's text
    and says whether the change is there. `whole`: the call replaces all that the read tool would have
    shown before.
    """

    tool: str
    arguments: Mapping[str, str | Callable[[Mapping[str, Any]], Any]]
    holds: Callable[[Mapping[str, Any], str], bool]
    whole: bool = False

    def asks(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The read tool's arguments for a call that was made with `args`; what it left out is left out."""
        asked: dict[str, Any] = {}
        for name, source in self.arguments.items():
            if callable(source):
                asked[name] = source(args)
            elif source.startswith("="):
                asked[name] = source[1:]
            elif source in args:
                asked[name] = args[source]
        return asked


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a world says of one of its tools.

    `parameters` is a JSON schema object. `target` names the argument that is its resource.
    `limit` is the per-call time limit, `settle` the time within which an unclear call may still
    land, both in seconds of trial time. `poll` marks a tool that is asked again and again by design.
    `returns` is a regular expression that a good reply of a write or effect tool matches in full.
    `idempotency` names the argument that makes a repeated effect harmless, where there is one.
    `renames`: argument names of a scenario's tool -> of this one, which stands for it (`mapping`).
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    roles: frozenset[Role]
    target: str | None = None
    limit: float = 30.0
    poll: bool = False
    returns: str | None = None
    verify: Verify | None = None
    settle: float = 0.0
    idempotency: str | None = None
    renames: Mapping[str, str] = field(default_factory=dict)

    def openai(self) -> dict[str, Any]:
        """This tool as an OpenAI function-tool dict."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": deepcopy(dict(self.parameters)),  # an agent may do to it what it likes
            },
        }


@dataclass(frozen=True, slots=True)
class Rule:
    """Which variant, on which calls, how long. See `notation` for the written form.

    Calls that match `tool` and `target` (globs) are counted from 1; the rule applies to calls
    `first..last` (`last=None`: for ever) with probability `p` percent. `member` keeps it to one index
    of a parallel batch (from 1), `heal` ends it so many seconds after it first fired, `text` chooses
    the wording. `variant=None` is the fault's first variant.
    """

    fault: str
    variant: str | None = None
    first: int = 1
    last: int | None = 1
    p: float = 100.0
    tool: str = "*"
    target: str = "*"
    member: int | None = None
    heal: float | None = None
    text: str | None = None

    @property
    def ever(self) -> bool:
        """Open-ended: the fault's `bar.ever` applies."""
        return self.last is None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will go wrong in a trial. Equal plans make equal trials."""

    rules: tuple[Rule, ...] = ()
    seed: int = 0


Lasts = Literal["once", "burst", "ever"]
Bar = Literal["full", "degraded", "wrong"]
Family = Literal[
    "absence", "slowness", "damage", "refusal", "context", "failure", "deceit", "ambiguity", "model", "caller"
]
Seam = Literal["tool", "model", "caller", "turn"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One way in which a fault shows itself: a mechanism with parameters and wordings.

    `explicit`: the agent can see that something is wrong. `needs` are conditions on the clean call
    without which the variant cannot act (`sweep.NEEDS`). A `burst` is three calls, or lasts `heal`
    seconds. `refuses` is for refusals: is only this `command` refused, or the `effect` by any route?
    `text` maps clear / bare / misleading to wording in which `{target}`, `{tool}` and `{limit}` are
    filled in.
    """

    id: str
    mechanism: str
    explicit: bool = True
    lasts: tuple[Lasts, ...] = ("once", "ever")
    heal: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    text: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    refuses: Literal["command", "effect"] | None = None
    seam: Seam | None = None
    bar: Mapping[Lasts, Bar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fault:
    """A class of trouble: one file `faults/<id>.toml`. The first variant is the default."""

    id: str
    family: Family
    seam: Seam
    summary: str
    tempts: str
    roles: tuple[Role, ...]
    convicts: tuple[str, ...]
    bar: Mapping[Lasts, Bar]
    variants: tuple[Variant, ...]

    def variant(self, id: str | None) -> Variant:
        """The variant of that name, the first one for None. Raises KeyError."""
        for variant in self.variants:
            if id is None or variant.id == id:
                return variant
        raise KeyError(id)


@dataclass(frozen=True, slots=True)
class Limits:
    """`steps`: tool calls that the task may take. `seconds`: trial time until it is stopped. `cost`: what the
    replies of the model may come to, at `price` each, whatever they are good for; None: nothing is said."""

    steps: int = 20
    seconds: float = 3600.0
    cost: float | None = None
    price: float = 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """A grader by name with its parameters, or a Python function of the trace."""

    grader: str
    params: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[..., Any] | None = None


Solve: TypeAlias = Callable[[Any, Any], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Turn:
    """A further message of the user's in the same conversation. `solve` plays it, None when nothing can."""

    prompt: str
    solve: Solve | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A clean task, its values already drawn from `seed` and filled in.

    `files` maps workspace paths to bytes, `records` table -> id -> row. `world` is `files`, `records`
    or a dotted path. `full`, `degraded` and `must_not` are checked over answer and final world.
    `solve` is the solution, None when there is none; `detour` another route to a refused effect.
    `turns` are the user's further messages, one after the other, whatever the turn before came to.
    `effects` allows so many executions per effect tool (absent: as in the clean trial). Files in `shared`
    may get a line more by another hand at any time: the graders allow for it.
    `hash` is `b2:<hex>` over the scenario's folder.
    """

    name: str
    prompt: str
    suite: Literal["capability", "regression", "edge"] = "capability"
    world: str = "files"
    workspace: Literal["memory", "disk", "fake"] = "memory"
    tools: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    outputs: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    expects: Literal["DONE", "FAILED"] = "DONE"
    limits: Limits = Limits()
    effects: Mapping[str, int] = field(default_factory=dict)
    full: tuple[Check, ...] = ()
    degraded: tuple[Check, ...] = ()
    must_not: tuple[Check, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    records: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    commands: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    solve: Solve | None = None
    detour: Solve | None = None
    turns: tuple[Turn, ...] = ()
    setup: Callable[..., Any] | None = None
    seed: int = 0
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent is given: the prompt (with the reply contract in bench mode) and its step limit.

    `stated` is the task as a file states it (`input`, `files`, `expected_tools`, ...), for an agent that is
    a command; empty for any other. `turn` counts the user's messages from 1. `session` is the agent's own to
    fill, from one turn to the next of the same trial: it holds what was put there also when the turn was cut.
    `window`: the caller asks that no more than so many of the newest items of the session be shown to the
    model in this turn; None asks nothing. `turns`: so many messages will there be at most, this one counted. `environment` is what the processes of a command must find there.
    `max_cost` is the budget for the model's replies, each of which costs `price`; None where none is set."""

    prompt: str
    max_steps: int
    scenario: str = ""
    stated: Mapping[str, Any] = field(default_factory=dict)
    turn: int = 1
    session: dict[str, Any] = field(default_factory=dict)
    window: int | None = None
    turns: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    max_cost: float | None = None
    price: float = 0.0


Status = Literal["done", "failed", "limit"]


@dataclass(frozen=True, slots=True)
class Answer:
    """How the agent's run came back. `status` where the framework states one; `session` is what a
    second turn needs; `reported` is what else the agent says of its run, such as the `tool_calls` of tools
    of its own: its word, which no gate has seen. `stream` is what it streamed to its user, where it does: either
    `{"deltas", "text"}` of plain text, or `{"messages": [{"start", "deltas", "text", "stop", "said"}]}`, the last the
    answer that a stop event gives."""

    text: str = ""
    status: Status | None = None
    session: Any = None
    reported: Mapping[str, Any] = field(default_factory=dict)
    stream: Mapping[str, Any] = field(default_factory=dict)


def dice(seed: int, *where: object) -> Random:
    """A generator of its own for one decision, so that concurrent calls cannot perturb each other."""
    from hashlib import blake2b

    return Random(int.from_bytes(blake2b(repr((seed, *where)).encode(), digest_size=8).digest(), "big"))
