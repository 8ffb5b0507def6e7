"""The tool gate: the one place where faults meet calls.

Every tool call of an agent passes here exactly once. The gate records it, lets the mechanisms of the
rules that it matches act round the real tool (first rule outermost), and records what the agent is
told. It also keeps the call budget, in a way that `except Exception` cannot swallow: past it a call
never returns, and the trial is told to stop.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import normpath
from random import Random
from typing import Any, Protocol

from forge_chaos import natural, schedule
from forge_chaos.events import Abandoned, Called, Executed, Injected, Returned, Told
from forge_chaos.nouns import PATHS, Call, Err, Fault, Ok, Result, Rule, Tool, ToolSpec, Variant, dice
from forge_chaos.ports import World
from forge_chaos.recorded import plain, told
from forge_chaos.recorder import Recorder

Stop = Callable[[str, str], None]


class Resolved(Protocol):
    """A rule with everything that its name stands for (`catalog.resolve`)."""

    @property
    def rule(self) -> Rule: ...
    @property
    def text(self) -> str: ...
    @property
    def fault(self) -> Fault: ...
    @property
    def variant(self) -> Variant: ...
    @property
    def mechanism(self) -> Callable[[Call, Tool, Any], Awaitable[Ok | Err]]: ...


def seam(resolved: Resolved) -> str:
    return resolved.variant.seam or resolved.fault.seam


def target_of(spec: ToolSpec | None, args: Mapping[str, Any], root: str = "") -> str | None:
    """The resource that a call is about: its target argument as text, paths made relative to the workspace."""
    if spec is None or spec.target is None:
        return None
    value = args.get(spec.target)
    if value is None:
        default = spec.parameters.get("properties", {}).get(spec.target, {}).get("default")
        if default is None:
            return None
        value = default
    if not isinstance(value, str):
        return str(value)
    if spec.target in PATHS and value:
        value = normpath(value.strip())
        if root and value.startswith(root + "/"):
            value = value[len(root) + 1 :]
    return value


@dataclass(slots=True)
class RuleState:
    """One rule during one trial: how many calls it has matched, when it first fired."""

    resolved: Resolved
    count: int = 0
    fired_at: float | None = None


@dataclass(slots=True)
class Ticket:
    """A call that the model asked for and that has not arrived yet: its numbers were given then."""

    order: tuple[int, int]
    tool: str
    target: str | None
    nth: int
    counts: tuple[int | None, ...]


@dataclass(slots=True)
class Environment:
    """What a mechanism may touch: `ports.Env`."""

    gate: ToolGate | None
    state: RuleState
    call: Call
    nth: int
    rng: Random
    record: Recorder
    now: Callable[[], float]
    spec: ToolSpec | None
    world: World | None
    past: Sequence[Result]
    last: bool
    heal: float | None
    request: int | None = None
    _fired: bool = field(default=False)

    def fire(self, changed: Iterable[str] = (), **detail: Any) -> None:
        if self._fired:
            return
        self._fired = True
        if self.state.fired_at is None:
            self.state.fired_at = self.now()
        resolved = self.state.resolved
        self.record(
            Injected,
            resolved.text,
            f"{resolved.fault.id}.{resolved.variant.id}",
            resolved.variant.mechanism,
            None if self.request is not None else self.call.id,
            self.request,
            self.call.tool,
            self.call.target,
            self.nth,
            tuple(sorted(changed)),
            plain(detail, self.record.redact),
        )

    def text(self, default: str = "") -> str:
        texts = self.state.resolved.variant.text
        chosen = self.state.resolved.rule.text or ("clear" if "clear" in texts else next(iter(texts), ""))
        wording = texts.get(chosen, default)
        limit = self.spec.limit if self.spec else 30.0
        for name, value in (
            ("{target}", self.call.target or ""),
            ("{tool}", self.call.tool),
            ("{limit}", f"{limit:g}"),
        ):
            wording = wording.replace(name, value)
        return wording

    def later(self, seconds: float, action: Callable[[], Any]) -> None:
        async def act() -> None:
            await asyncio.sleep(seconds)
            done = action()
            if asyncio.iscoroutine(done):
                await done

        if self.gate is not None:
            self.gate.hand(act())

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ToolGate:
    """The gate of one trial. `stop(end, why)` tells the trial that a budget is spent."""

    def __init__(
        self,
        rules: Sequence[Resolved],
        specs: Mapping[str, ToolSpec],
        record: Recorder,
        now: Callable[[], float],
        *,
        seed: int = 0,
        world: World | None = None,
        budget: int = 1_000_000,
        stop: Stop = lambda end, why: None,
        root: str = "",
    ) -> None:
        self._rules = tuple(RuleState(r) for r in rules if seam(r) == "tool")
        self._specs = specs
        self._record = record
        self._now = now
        self._seed = seed
        self._world = world
        self._budget = budget
        self._stop = stop
        self._root = root
        self._calls = 0
        self._nth: Counter[tuple[str, str | None]] = Counter()
        self._past: dict[str, list[Result]] = defaultdict(list)
        self._tickets: dict[str, deque[Ticket]] = defaultdict(deque)
        self._handed: set[asyncio.Task[None]] = set()
        self.open: dict[int, str] = {}
        self.broken: BaseException | None = None
        self.closed = False

    async def __call__(
        self,
        name: str,
        args: Mapping[str, Any],
        tool: Tool,
        order: tuple[int, int] | None = None,
        id: str | None = None,
        by: str = "",
    ) -> Ok | Err:
        self._calls += 1
        if self.closed or self._calls > self._budget:
            await self._refuse()
        record = self._record
        number = self._calls
        spec = self._specs.get(name)
        target = target_of(spec, args, self._root)
        call = Call(number, name, dict(args), target, order, by)
        ticket = self._ticket(call, id) if self._tickets else None
        if ticket is not None:
            call.order = ticket.order
            nth = ticket.nth
        else:
            nth = self._nth[name, target] = self._nth[name, target] + 1
        record(Called, number, name, plain(args, record.redact), target, nth, call.order, by)
        self.open[number] = name
        try:
            if self._rules:
                result = await self._through(call, tool, spec, nth, ticket)
            else:
                result = await self._execute(tool, call)
        except BaseException as error:
            if self.open.pop(number, None) is not None:
                record(
                    Abandoned,
                    number,
                    "cancelled" if isinstance(error, asyncio.CancelledError) else type(error).__name__,
                )
            raise
        if self.open.pop(number, None) is not None:
            record(Returned, number, told(result, target, record.redact))
        return result

    async def _execute(self, tool: Tool, call: Call) -> Ok | Err:
        try:
            result = await tool(call)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            result = natural.err(error)  # the tool raised it itself; nobody cancelled us
        except Exception as error:
            result = natural.err(error)
        world = self._world
        record = self._record
        touched = world.touched() if world is not None else ()
        record(Executed, call.id, told(result, call.target, record.redact), touched)
        if self._rules:
            self._past[call.tool].append(result)
        return result

    async def _through(
        self, call: Call, tool: Tool, spec: ToolSpec | None, nth: int, ticket: Ticket | None
    ) -> Ok | Err:
        chain: Tool = _bind(self._execute, tool)
        hits: list[tuple[RuleState, int]] = []
        index = call.order[1] if call.order is not None else None
        for position, state in enumerate(self._rules):
            rule = state.resolved.rule
            given = ticket.counts[position] if ticket is not None else None
            if not schedule.matches(rule, call.tool, call.target, index):
                continue
            if given is None:
                state.count += 1
                given = state.count
            if self._healed(state) or not schedule.due(
                rule, given, self._seed, call.tool, call.target, state.resolved.text, on_target=nth
            ):
                continue
            hits.append((state, given))
        for state, count in reversed(hits):  # first rule outermost
            chain = _bind(self._mechanism, state, count, nth, spec, chain)
        return await chain(call)

    async def _mechanism(
        self, state: RuleState, count: int, nth: int, spec: ToolSpec | None, inner: Tool, call: Call
    ) -> Ok | Err:
        resolved = state.resolved
        env = Environment(
            self,
            state,
            call,
            nth,
            dice(self._seed, resolved.text, call.tool, call.target, nth),
            self._record,
            self._now,
            spec,
            self._world,
            tuple(self._past[call.tool]),
            schedule.last(resolved.rule, count),
            resolved.rule.heal,
        )
        try:
            return await resolved.mechanism(call, inner, env)
        except Exception as error:
            self.broken = error
            self._stop("broken", f"mechanism {resolved.variant.mechanism!r}: {type(error).__name__}: {error}")
            await self._never()
            raise

    def _healed(self, state: RuleState) -> bool:
        heal = state.resolved.rule.heal
        return heal is not None and state.fired_at is not None and self._now() - state.fired_at >= heal

    def announce(self, turn: int, calls: Sequence[tuple[str, str, Mapping[str, Any]]]) -> None:
        """The model asked for this batch of (call id, tool, arguments): number its calls in that order,
        whatever the order in which they will arrive."""
        for index, (id, name, args) in enumerate(calls):
            if not isinstance(args, Mapping):
                continue
            target = target_of(self._specs.get(name), args, self._root)
            counts: list[int | None] = []
            for state in self._rules:
                if schedule.matches(state.resolved.rule, name, target, index):
                    state.count += 1
                    counts.append(state.count)
                else:
                    counts.append(None)
            self._nth[name, target] += 1
            self._tickets[id].append(
                Ticket((turn, index), name, target, self._nth[name, target], tuple(counts))
            )

    def _ticket(self, call: Call, id: str | None) -> Ticket | None:
        waiting = self._tickets.get(id) if id is not None else None
        if not waiting:
            return None
        ticket = waiting[0]
        if (ticket.tool, ticket.target) != (call.tool, call.target):
            return None
        waiting.popleft()
        if not waiting and id is not None:
            del self._tickets[id]
        return ticket

    async def _refuse(self) -> None:
        if not self.closed:
            self._stop("stopped", "calls")
        await self._never()

    async def _never(self) -> None:
        await asyncio.get_running_loop().create_future()

    def hand(self, work: Any) -> None:
        """Another hand than the agent's does something at a later time."""
        task = asyncio.get_running_loop().create_task(work)
        self._handed.add(task)
        task.add_done_callback(self._handed.discard)

    def handed(self) -> frozenset[asyncio.Task[None]]:
        return frozenset(self._handed)

    def close(self) -> None:
        """After the snapshot: open calls are abandoned, later ones never return."""
        for number in sorted(self.open):
            self._record(Abandoned, number, "end of the trial")
        self.open.clear()
        self.closed = True


def _bind(function: Callable[..., Awaitable[Ok | Err]], *bound: Any) -> Tool:
    async def bound_tool(call: Call) -> Ok | Err:
        return await function(*bound, call)

    return bound_tool


__all__ = ["Environment", "Resolved", "Stop", "Told", "ToolGate", "seam", "target_of"]
