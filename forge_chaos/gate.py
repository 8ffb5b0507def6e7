"""The tool gate: the one place where faults meet calls.

Every tool call of an agent passes here exactly once. The gate records it, lets the mechanisms of the
rules that it matches act round the real tool (first rule outermost), and records what the agent is
told. It also keeps the call budget, in a way that `except Exception` cannot swallow: past it a call
never returns, and the trial is told to stop.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from posixpath import normpath
from random import Random
from typing import Any, Protocol

from forge_chaos import natural, schedule
from forge_chaos.clock import hide
from forge_chaos.events import Abandoned, Called, Executed, Injected, Returned, Told
from forge_chaos.nouns import PATHS, Call, Err, Fault, Ok, Result, Rule, Tool, ToolSpec, Variant, dice
from forge_chaos.ports import World
from forge_chaos.recorded import name as named
from forge_chaos.recorded import plain, told
from forge_chaos.recorder import Recorder

Stop = Callable[[str, str], None]
FILLED = re.compile(r"\{(target|tool|limit)\}")


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
        value = spec.parameters.get("properties", {}).get(spec.target, {}).get("default")
        if value is None:
            return None
    if type(value) is not str:
        value = _text(value)
    if value and spec.target in PATHS:
        value = value.strip()
        if "/" in value or not value:  # else it is normal already
            value = normpath(value)
        if root and value.startswith(root + "/"):
            value = value[len(root) + 1 :]
    return value


def _text(value: Any) -> str:
    try:
        return str.__str__(value) if isinstance(value, str) else str.__str__(str(value))
    except Exception as error:  # an argument that cannot be shown is the agent's affair
        return f"<{type(value).__name__}: {type(error).__name__}>"


@dataclass(slots=True)
class RuleState:
    """One rule during one trial: how many calls it has matched, on how many of them its mechanism was to act
    and found nothing that it could change, and when it first fired."""

    resolved: Resolved
    count: int = 0
    idle: int = 0
    fired_at: float | None = None
    kept: dict[str, Any] = field(default_factory=dict)

    def healed(self, now: float) -> bool:
        """Has the rule ended, so many seconds after it first fired?"""
        heal = self.resolved.rule.heal
        return heal is not None and self.fired_at is not None and now - self.fired_at >= heal


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
    earlier: Sequence[Result] = ()
    fired: bool = field(default=False)

    @property
    def kept(self) -> dict[str, Any]:
        return self.state.kept

    def ran(self, tool: str) -> int:
        return self.gate.ran(tool) if self.gate is not None else 0

    def down(self, error: Err | None) -> None:
        if self.gate is not None:
            self.gate.down = error

    def cancel(self) -> bool:
        return self.gate.cancel() if self.gate is not None else False

    def fire(self, changed: Iterable[str] = (), **detail: Any) -> None:
        if self.fired:
            return
        self.fired = True
        if self.state.fired_at is None:
            self.state.fired_at = self.now()
        resolved = self.state.resolved
        redact = self.record.redact
        target = self.call.target
        self.record(
            Injected,
            resolved.text,
            f"{resolved.fault.id}.{resolved.variant.id}",
            resolved.variant.mechanism,
            None if self.request is not None else self.call.id,
            self.request,
            named(self.call.tool, redact),
            None if target is None else named(target, redact),
            self.nth,
            tuple(named(each, redact) for each in sorted(changed)),
            plain(detail, redact),
        )

    def text(self, default: str = "") -> str:
        texts = self.state.resolved.variant.text
        chosen = self.state.resolved.rule.text or ("clear" if "clear" in texts else next(iter(texts), ""))
        wording = texts.get(chosen, default)
        limit = self.spec.limit if self.spec else 30.0
        known = {"target": self.call.target or "", "tool": self.call.tool, "limit": f"{limit:g}"}
        return FILLED.sub(lambda found: known[found[1]], wording)

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


def linked(
    state: RuleState,
    count: int,
    inner: Tool,
    *,
    seam: str,
    request: int,
    seed: int,
    record: Recorder,
    now: Callable[[], float],
    gate: ToolGate | None = None,
) -> Tool:
    """The mechanism of a rule round `inner` where no tool of a world is called: at the seams of the model and of
    the user's messages."""
    resolved = state.resolved

    async def link(call: Call) -> Ok | Err:
        env = Environment(
            gate,
            state,
            call,
            count,
            dice(seed, resolved.text, seam, None, count),
            record,
            now,
            None,
            None,
            (),
            schedule.last(resolved.rule, count),
            resolved.rule.heal,
            request=request,
        )
        result: Ok | Err = await resolved.mechanism(call, inner, env)
        return result

    return link


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
        self._rules = tuple(RuleState(r) for r in rules if seam(r) in ("tool", "caller"))
        self._specs = specs
        self._record = record
        self._now = now
        self._seed = seed
        self._world = world
        self._budget = budget
        self._stop = stop
        self._root = root
        self._calls = 0
        self._nth: dict[tuple[str, str | None], int] = {}
        self._matching: dict[tuple[str, str | None], tuple[int, ...]] = {}
        self._past: dict[str, list[tuple[Mapping[str, Any], Result]]] = defaultdict(list)
        self._tickets: dict[str, list[Ticket]] = defaultdict(list)
        self._handed: set[asyncio.Task[None]] = set()
        self.open: dict[int, str] = {}
        self.hit: set[int] = set()  # the calls on which a rule is due
        self.down: Err | None = None  # what every call is told, while no tool of the world runs any more
        self.cancel: Callable[[], bool] = lambda: False  # the agent's run, by its caller
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
        record, number = self._record, self._calls
        redact = record.redact
        try:
            given = dict(args)
        except Exception as error:  # answered like any other wrong argument
            given, tool = {}, _answer(natural.err(error))
        spec = self._specs.get(name)
        target = target_of(spec, given, self._root) if spec is not None and spec.target is not None else None
        call = Call(number, name, given, target, order, by)
        ticket = self._ticket(call, id) if self._tickets else None
        if ticket is None:
            nth = self._number(name, target)
        else:
            call.order, nth = ticket.order, ticket.nth
        record(
            Called,
            number,
            named(name, redact),
            plain(given, redact),
            None if target is None else named(target, redact),
            nth,
            call.order,
            by and named(by, redact),
        )
        self.open[number] = name
        try:
            hits = self._hits(call, nth, ticket) if self._rules else None
            if hits:
                self.hit.add(number)
                result = await self._through(call, tool, spec, nth, hits)
                shown = await self._told(result, call)
            else:
                result, shown = await self._run(tool, call)
        except BaseException as error:
            if self.open.pop(number, None) is not None:
                why = "cancelled" if isinstance(error, asyncio.CancelledError) else type(error).__name__
                record(Abandoned, number, why)
            raise
        if self.open.pop(number, None) is not None:
            record(Returned, number, shown)
        return result

    def _number(self, name: str, target: str | None) -> int:
        key = (name, target)
        nth = self._nth[key] = self._nth.get(key, 0) + 1
        return nth

    async def _run(self, tool: Tool, call: Call) -> tuple[Result, Told]:
        """The real tool's result, and its recorded form."""
        if self.down is not None:
            return self.down, await self._told(self.down, call)
        try:
            result = await tool(call)
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            result = natural.err(error)  # the tool raised it itself; nobody cancelled us
        except (Exception, SystemExit) as error:
            result = natural.err(error)
        shown = await self._told(result, call)
        touched: tuple[str, ...] = ()
        if self._world is not None:
            try:
                touched = self._world.touched()
            except Exception as error:
                await self.breaks("the world", error)
        if touched:
            touched = tuple(named(each, self._record.redact) for each in touched)
        self._record(Executed, call.id, shown, touched)
        if self._rules:
            self._past[call.tool].append((call.args, _kept(result)))
        return result, shown

    async def _told(self, result: Result, call: Call) -> Told:
        if type(result) is not Ok and type(result) is not Err:
            await self.breaks(f"tool {call.tool!r}", TypeError(f"{type(result).__name__} is no Ok or Err"))
        try:
            return told(result, call.target, self._record.redact)
        except Exception as error:
            await self.breaks(f"the result of {call.tool!r}", error)
            raise

    def ran(self, tool: str) -> int:
        """How often that tool has run."""
        return len(self._past[tool])

    async def _execute(self, tool: Tool, call: Call) -> Ok | Err:
        return (await self._run(tool, call))[0]

    def _hits(self, call: Call, nth: int, ticket: Ticket | None) -> list[tuple[RuleState, int]]:
        """The rules that hit this call, each with its number among the calls that the rule counts."""
        matching = self._matches(call.tool, call.target)
        hits: list[tuple[RuleState, int]] = []
        index = call.order[1] if call.order is not None else None
        for position in matching:
            state = self._rules[position]
            rule = state.resolved.rule
            if rule.member is not None and (index is None or index + 1 != rule.member):
                continue
            count = ticket.counts[position] if ticket is not None else None
            if count is None:
                count = state.count = state.count + 1
            if not state.healed(self._now()) and schedule.due(
                rule, count, self._seed, call.tool, call.target, state.resolved.text, on_target=nth
            ):
                hits.append((state, count))
        return hits

    def _matches(self, tool: str, target: str | None) -> tuple[int, ...]:
        """Which rules count calls like this, whatever their place in a batch."""
        found = self._matching.get((tool, target))
        if found is None:
            rules = enumerate(state.resolved.rule for state in self._rules)
            found = self._matching[tool, target] = tuple(
                position
                for position, rule in rules
                if schedule.matches(rule, tool, target, None if rule.member is None else rule.member - 1)
            )
        return found

    async def _through(
        self, call: Call, tool: Tool, spec: ToolSpec | None, nth: int, hits: Sequence[tuple[RuleState, int]]
    ) -> Ok | Err:
        chain: Tool = _bind(self._execute, tool)
        for state, count in reversed(hits):  # first rule outermost
            chain = _bind(self._mechanism, state, count, nth, spec, chain)
        return await chain(call)

    async def _mechanism(
        self, state: RuleState, count: int, nth: int, spec: ToolSpec | None, inner: Tool, call: Call
    ) -> Ok | Err:
        resolved = state.resolved
        past = self._past[call.tool]
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
            tuple(result for _, result in past),
            schedule.last(resolved.rule, count),
            resolved.rule.heal,
            earlier=tuple(result for args, result in past if _equal(args, call.args)),
        )
        try:
            result = await resolved.mechanism(call, inner, env)
        except Exception as error:
            await self.breaks(f"mechanism {resolved.variant.mechanism!r}", error)
            raise
        if not env.fired:
            state.idle += 1
        return result

    def met(self) -> dict[str, tuple[int, int]]:
        """{rule: (calls that it matched, those on which it was due and could not act)}."""
        return {state.resolved.text: (state.count, state.idle) for state in self._rules}

    async def breaks(self, what: str, error: Exception) -> None:
        """Our own side failed: the trial stops as invalid, and nobody is convicted of it."""
        self._failed(what, error)
        await self._never()

    def _failed(self, what: str, error: BaseException) -> None:
        if self.broken is None:
            self.broken = error
        self._stop("broken", f"{what}: {natural.worded(error)}")

    def announce(self, turn: int, calls: Sequence[tuple[str, str, Mapping[str, Any] | None]]) -> None:
        """The model asked for this batch of (call id, tool, arguments): number its calls in that order,
        whatever the order in which they will arrive. Arguments that are no object are None."""
        for index, (id, name, args) in enumerate(calls):
            if args is None:
                continue
            target = target_of(self._specs.get(name), args, self._root)
            counts: list[int | None] = [None] * len(self._rules)
            for position in self._matches(name, target):
                state = self._rules[position]
                member = state.resolved.rule.member
                if member is None or member == index + 1:
                    counts[position] = state.count = state.count + 1
            nth = self._number(name, target)
            self._tickets[id].append(Ticket((turn, index), name, target, nth, tuple(counts)))

    def _ticket(self, call: Call, id: str | None) -> Ticket | None:
        """The numbers that this call was given when the model asked for it.

        Under one id several calls may wait: some models use the same ids in every turn, and a harness
        may never make a call that was asked for. A call without an id, or under one that the model never
        gave, is taken for the oldest that waits on its tool and target.
        """
        known = type(id) is str and id in self._tickets
        waiting = [self._tickets[id]] if known and id is not None else list(self._tickets.values())
        fitting = [
            (ticket.order, place, tickets)
            for tickets in waiting
            for place, ticket in enumerate(tickets)
            if (ticket.tool, ticket.target) == (call.tool, call.target)
        ]
        if not fitting:
            return None
        _, place, tickets = min(fitting, key=lambda found: found[0])
        return tickets.pop(place)

    async def _refuse(self) -> None:
        if not self.closed:
            self._stop("stopped", "calls")
        await self._never()

    async def _never(self) -> None:
        await asyncio.get_running_loop().create_future()

    def hand(self, work: Coroutine[Any, Any, None]) -> None:
        """Another hand than the agent's does something at a later time."""
        task = asyncio.get_running_loop().create_task(work)
        hide(task)
        self._handed.add(task)
        task.add_done_callback(self._landed)

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._handed.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed("what a mechanism did later", error)

    def handed(self) -> frozenset[asyncio.Task[None]]:
        return frozenset(self._handed)

    def close(self) -> None:
        """Before the snapshot: open calls are abandoned, later ones never return."""
        for number in sorted(self.open):
            self._record(Abandoned, number, "end of the trial")
        self.open.clear()
        self.closed = True


def _kept(result: Result) -> Result:
    """A result as it was, whatever the agent does to it later."""
    if type(result) is Ok and type(result.value) in (dict, list):
        try:
            return Ok(deepcopy(result.value))
        except Exception:  # what cannot be copied is kept as it is
            return result
    return result


def _answer(result: Result) -> Tool:
    async def answer(call: Call) -> Ok | Err:
        return result

    return answer


def _equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Equal arguments; objects that cannot be compared, such as arrays, are equal to none."""
    try:
        return bool(one == other)
    except Exception:
        return False


def _bind(function: Callable[..., Awaitable[Ok | Err]], *bound: Any) -> Tool:
    async def bound_tool(call: Call) -> Ok | Err:
        return await function(*bound, call)

    return bound_tool


__all__ = ["Environment", "Resolved", "Stop", "Told", "ToolGate", "linked", "seam", "target_of"]
