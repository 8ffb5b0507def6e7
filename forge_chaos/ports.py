"""The verbs: the shape of every leaf. Everything in forge_chaos is one of these, or data.

A leaf is one module with one public object of the module's name, found by `registry`:

    mechanisms/NAME.py   async def NAME(call, tool, env, *, param, ...) -> Ok | Err
    graders/NAME.py      def NAME(trace, *, param, ...) -> Verdict
    personas/NAME.py     async def NAME(step, mind) -> value, and def ending(error) -> str
    renderers/NAME.py    def NAME(scorecard, trials) -> str
    worlds/NAME.py       def NAME(scenario, sleep, root=None) -> World
    adapters/NAME.py     `adapter`, an object with the shape of Adapter
    executors/NAME.py    class with the shape of Executor
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, TypeAlias

from forge_chaos.events import Trace
from forge_chaos.nouns import Answer, Call, Err, Ok, Result, Scenario, Task, Tool, ToolSpec
from forge_chaos.verdict import Scorecard, Trial, Verdict

Message: TypeAlias = dict[str, Any]


class Workspace(Protocol):
    """The files of a world. Paths are relative, with `/`, normalised; outside = PermissionError.

    Errors are the natural ones (FileNotFoundError(2, 'No such file or directory', path) ...), with the
    relative path. `hide`, `show` and `cover` are for mechanisms: a hidden path is gone for every
    operation and comes back unchanged; a covered one is an empty directory meanwhile. Mechanisms make
    their own changes inside `with workspace.other_hand():`, so that `touched` does not tell them as
    the agent's. While it is `fill`ed, it holds no more than it did then: what would make it larger raises
    ENOSPC, until something is deleted or cut short, or until `drain`. `leave` puts the shell of
    `run_command` back into the root; False when it stood there, or when there is no shell.
    """

    def normal(self, path: str) -> str: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, data: bytes) -> None: ...
    def append(self, path: str, data: bytes) -> None: ...
    def entries(self, path: str = ".") -> list[str]: ...
    def delete(self, path: str) -> None: ...
    def move(self, source: str, destination: str) -> None: ...
    def stat(self, path: str) -> Mapping[str, Any]: ...
    def paths(self) -> list[str]: ...
    def snapshot(self) -> dict[str, bytes]: ...
    def texts(self) -> dict[str, str | bytes]: ...
    def diff(self) -> dict[str, str]: ...
    def touched(self) -> tuple[str, ...]: ...
    def hide(self, path: str) -> None: ...
    def cover(self, path: str, by: str = "directory") -> None: ...
    def show(self, path: str) -> None: ...
    def fill(self) -> None: ...
    def drain(self) -> None: ...
    def leave(self) -> bool: ...
    def other_hand(self) -> AbstractContextManager[None]: ...
    def close(self) -> None: ...


class World(Protocol):
    """Tools plus the ground truth behind them, fresh for each trial.

    `resources()` is the truth as a flat map: a workspace path to its text (bytes that are no UTF-8
    stay bytes), `record:table/id` to a row, `ledger` to the list of effects.
    `touched()` returns the resources changed since it was last asked, each once, sorted.
    `processes()` are the pids still alive of those that the world's tools started; `close` ends them.
    """

    specs: Mapping[str, ToolSpec]
    tools: Mapping[str, Tool]

    @property
    def workspace(self) -> Workspace: ...
    def resources(self) -> dict[str, Any]: ...
    def touched(self) -> tuple[str, ...]: ...
    def check_command(self, argv: Sequence[str] | str, seconds: float) -> Mapping[str, Any]: ...
    def processes(self) -> list[int]: ...
    def close(self) -> None: ...


class Env(Protocol):
    """All that a mechanism may touch besides the call and the tool.

    `fire(changed=(...), **detail)` records `Injected`: a mechanism that has not called it did not
    fire. `last`: this is the last call that the rule can hit. `text(code)` is the wording chosen by
    the rule (`+text=`) or by the variant, with {target}, {tool} and {limit} filled in. `past` are the
    results of this tool so far, `earlier` those of calls equal to this one. `kept` is the rule's own
    memory, empty when the trial begins. `ran(tool)` says how often a tool has run. While the world is
    `down(error)` every call of any tool is told that error and no tool runs; `down(None)` ends it.
    `cancel()`: the caller cancels the agent's run, now; False when there is none to cancel.
    `later(seconds, action)` does something at a later trial time, even after the run has returned.
    """

    rng: Random
    past: Sequence[Result]
    earlier: Sequence[Result]
    world: World | None
    spec: ToolSpec | None
    last: bool
    heal: float | None

    @property
    def kept(self) -> dict[str, Any]: ...

    def fire(self, changed: Iterable[str] = (), **detail: Any) -> None: ...
    def text(self, default: str = "") -> str: ...
    def ran(self, tool: str) -> int: ...
    def down(self, error: Err | None) -> None: ...
    def cancel(self) -> bool: ...
    def later(self, seconds: float, action: Callable[[], Any]) -> None: ...
    async def sleep(self, seconds: float) -> None: ...


Mechanism: TypeAlias = Callable[..., Awaitable[Ok | Err]]
Grader: TypeAlias = Callable[..., Verdict]
Renderer: TypeAlias = Callable[[Scorecard, Sequence[Trial]], str]


class Gate(Protocol):
    """The one place where faults meet calls. It receives the REAL tool, so that an adapter is a
    straight closure; `order` is (turn, index in the batch) where the adapter knows it, `id` the
    model's own call id, from which the gate looks the order up."""

    async def __call__(
        self,
        name: str,
        args: Mapping[str, Any],
        tool: Tool,
        order: tuple[int, int] | None = None,
        id: str | None = None,
        by: str = "",
    ) -> Ok | Err: ...


class Model(Protocol):
    """A model seat: OpenAI chat messages and function-tool dicts in, one assistant message out.

    Raises what a provider's refusal would (see `modelserver`). `transport()` gives an in-process
    httpx-style door for clients that speak the wire themselves."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[Message] = ()) -> Message: ...


class Agent(Protocol):
    """The system under test, as an adapter presents it."""

    async def __call__(
        self, task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Seat:
    """What an adapter says of an object: the agent, and what the judge must know of it.

    `specs`: the object's own tools (None: bench mode, it takes the scenario's). `deterministic`: equal
    plans give equal traces, given a model that does so; `own_model_deterministic`: so does the model
    that the object brings. `time`: virtual | real. `inline`: may run in our own process.
    `honest`: exception types that are an honest end. `claims`: a normal return is a claim of success.
    `folder`: it takes the scenario's tools and is free to work in the workspace's folder besides, and what
    it does without a scripted model is its own model's doing; `words` are the command that starts it. `turns`: it takes the user's further
    messages in the same session. `cancels`: its caller can cancel it; work on a thread of its own cannot be. `windows`: it keeps to the
    window that its caller asks for (`Task.window`).
    `costs`: it can be given a budget for the model's replies (`Task.max_cost`).
    """

    agent: Agent
    adapter: str
    specs: Mapping[str, ToolSpec] | None = None
    deterministic: bool = True
    own_model_deterministic: bool = False
    time: str = "virtual"
    inline: bool = False
    honest: tuple[type[BaseException], ...] = ()
    claims: bool = False
    folder: bool = False
    words: tuple[str, ...] = ()
    turns: bool = False
    windows: bool = False
    cancels: bool = True
    costs: bool = False


class Adapter(Protocol):
    """One framework. `recognises` must not import it; `framework` builds its stock loop for bench mode."""

    name: str
    time: str
    order: str

    def recognises(self, thing: object) -> bool: ...
    def seat(self, thing: Any) -> Seat: ...
    def framework(self) -> Seat: ...


class Executor(Protocol):
    """Carries batches of trial orders and gives back one finished trace each, in order of finishing."""

    def run(self, orders: Iterable[Any]) -> Iterator[tuple[Any, Trace]]: ...
    def close(self) -> None: ...


__all__ = [
    "Adapter",
    "Agent",
    "Answer",
    "Call",
    "Env",
    "Err",
    "Executor",
    "Gate",
    "Grader",
    "Mechanism",
    "Message",
    "Model",
    "Ok",
    "Renderer",
    "Result",
    "Scenario",
    "Seat",
    "Task",
    "Tool",
    "ToolSpec",
    "Workspace",
    "World",
]
