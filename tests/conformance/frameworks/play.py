"""One agent run twice: plainly, with nothing of ours in the way, and as a trial behind the gate."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forge_chaos import agents, trial
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Finished, Trace, find
from forge_chaos.gate import Resolved
from forge_chaos.nouns import Call, Err, Limits, Ok, Rule, Scenario, Tool
from forge_chaos.nouns import Turn as UserTurn
from forge_chaos.ports import Seat
from forge_chaos.recorded import failure
from forge_chaos.worlds.files import files
from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import PROMPT, Turn, Wire
from tests.gates import Planned

FRAMES = re.compile(r'^  File ".*\n(?:    .*\n)*', re.MULTILINE)


@dataclass(frozen=True)
class Seen:
    """How a run ended - its answer, or what it raised - and what its model was shown, request by request."""

    end: str
    requests: list[Any]


def plainly(kit: Kit, functions: Sequence[Callable[..., Any]], turns: Sequence[Turn]) -> Seen:
    """As a user runs it, on asyncio's own loop."""
    wire = Wire(turns)
    return played(kit, kit.build(functions, wire), wire)


def played(kit: Kit, agent: Any, wire: Wire) -> Seen:
    """An agent that was built before, in a new conversation."""
    wire.rewind()

    async def wait(running: Any) -> Any:
        return await running

    try:
        done = kit.play(agent, PROMPT)
        end = repr(str(asyncio.run(wait(done)) if inspect.isawaitable(done) else done))
    except BaseException as error:
        end = raised(error)
    return Seen(end, [shown(body) for body in wire.bodies])


def behind_the_gate(
    kit: Kit,
    functions: Sequence[Callable[..., Any]],
    turns: Sequence[Turn],
    rules: Sequence[Resolved] = (),
    seated: bool = False,
) -> tuple[Seen, Trace]:
    """As a trial of an agent with tools of its own, and with its own model or, `seated`, with ours."""
    wire = Wire(turns)
    return tried(kit.build(functions, wire), wire, rules, seated or kit.modelless)


def tried(agent: Any, wire: Wire, rules: Sequence[Resolved] = (), seated: bool = False) -> tuple[Seen, Trace]:
    wire.rewind()
    trace = trial_of(agents.seat_of(agent), rules, wire if seated else None)
    (finished,) = [body for _, body in find(trace, Finished)]
    end = repr(finished.answer) if finished.end == "answered" else told(finished)
    return Seen(end, [shown(body) for body in wire.bodies]), trace


def trial_of(
    seat: Seat,
    rules: Sequence[Resolved] = (),
    wire: Wire | None = None,
    further: tuple[UserTurn, ...] = (),
) -> Trace:
    scenario = Scenario("wire", PROMPT, workspace="disk", limits=Limits(steps=20), turns=further)
    server = None if wire is None else lambda world: wire.answer
    setting = trial.Setting(scenario, seat, files, rules, server=server, contract=False)
    loop = VirtualLoop()
    try:
        return trial.play(loop, setting)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def told(finished: Finished) -> str:
    error = finished.error
    return f"{finished.end} {finished.why}" if error is None else _worded(error)


def raised(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):  # a task that ends by one keeps nothing of what it said
        error = type(error)("raised by the agent itself")
    return _worded(failure(error))


def _worded(error: Mapping[str, Any]) -> str:
    return f"{error['module']}.{error['type']}: {error['message']}"


def shown(body: dict[str, Any]) -> Any:
    """The conversation of a request, without ids that a framework makes anew in each run, and without the
    frames of a traceback: they are those of whoever raised."""
    conversation = body.get("messages", body.get("input"))
    return json.loads(json.dumps(conversation), object_hook=_lasting)


def _lasting(item: dict[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in item.items() if k != "id" or str(v).startswith("call_")}
    return {k: FRAMES.sub("", v) if isinstance(v, str) else v for k, v in kept.items()}


def raising(error: BaseException, rule: Rule | None = None) -> Planned:
    """A rule that raises that very exception instead of the first call (or where `rule` says)."""

    async def raise_it(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        return Err("runtime", str(error), error)

    return Planned(rule or Rule("tool_exception"), raise_it)
