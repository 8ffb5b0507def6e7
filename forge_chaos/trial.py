"""One trial, start to end, in a straight line: a fresh world, the agent behind its gates, the end, the
settle time, the snapshot."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

from forge_chaos import settling
from forge_chaos.clock import VirtualLoop, hide, show
from forge_chaos.events import Finished, Noted, Snapshot, Started, Trace
from forge_chaos.gate import Resolved, ToolGate, seam
from forge_chaos.modelgate import ModelGate, ModelSeat, Send
from forge_chaos.nouns import Answer, Scenario, Status, Task, ToolSpec
from forge_chaos.ports import Seat, World
from forge_chaos.recorded import Redact, failure, nothing_secret, plain, text, words
from forge_chaos.recorder import Recorder, Sink
from forge_chaos.turngate import TurnGate

CONTRACT = "\n\nEnd your reply with a last line that says DONE, or FAILED: and the reason."
UNWIND = 10.0  # seconds of trial time in which a cancelled agent may clean up
CANCELS = 3  # how often an agent that swallows its cancellation is cancelled again
SPINS = 10_000  # turns of the loop without time, after the end, until the clock goes on
STOPPED = "Event loop stopped before Future completed"  # what asyncio says after `loop.stop()`
GAP = 5.0  # seconds of trial time between a turn's end and the user's next message; late effects land in it
AGAIN = "The last turn was interrupted before it was over. Do this now: "
REQUESTS = 4  # model requests allowed per step of the limit, beside a fixed start

MakeWorld = Callable[[Scenario, Any], World]
MakeServer = Callable[[World], Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """Everything that one trial needs, resolved. `server` makes the scripted model's wire for the
    world at hand, `endpoint` is a real model; None and None: the agent brings its own. `claim` is the
    user's pattern for what an answer claims. `checked` keeps what a check command found by command and
    files: on equal files it is not run again. `shims`: the programs that a command starts ask the gate."""

    scenario: Scenario
    seat: Seat
    world: MakeWorld
    rules: Sequence[Resolved] = ()
    seed: int = 0
    repetition: int = 0
    agent: str = ""
    model: str = "scripted"
    server: MakeServer | None = None
    endpoint: Send | None = None
    redact: Redact = nothing_secret
    sink: Sink | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    contract: bool = True
    claim: str | None = None
    checked: dict[tuple[str, str], Mapping[str, Any]] | None = None
    shims: bool = False


def play(loop: asyncio.AbstractEventLoop, setting: Setting) -> Trace:
    """The trace of one trial, run on a loop that stands still. Neither `loop.stop()` nor a SystemExit of the
    agent's, which a loop lets out, ends the trial with it; Ctrl-C does, and the world is closed."""
    running = loop.create_task(run(setting))
    while True:
        try:
            return loop.run_until_complete(running)
        except (SystemExit, RuntimeError) as error:
            if running.done() or not (isinstance(error, SystemExit) or STOPPED in str(error)):
                raise
        except KeyboardInterrupt:
            running.cancel()
            try:
                with suppress(
                    asyncio.CancelledError, RuntimeError
                ):  # it may have torn what was to wake the loop
                    loop.run_until_complete(running)
            finally:
                loop.set_exception_handler(lambda *_: None)  # nor is a torn task anybody's to report
            raise


async def run(setting: Setting) -> Trace:
    """The trace of one trial, which has the loop to itself. Nothing that the agent does is raised; what our
    own side does wrong is recorded as `Noted("broken")` and makes the trial invalid."""
    loop = asyncio.get_running_loop()
    here = asyncio.current_task()
    assert here is not None
    record = Recorder(loop.time, setting.redact, setting.sink)
    home = os.getcwd()
    hide(here)
    try:
        world = setting.world(setting.scenario, asyncio.sleep)
        try:
            async with AsyncExitStack() as over:
                await _run(setting, world, record, loop, over)
        finally:
            record.end()
            os.chdir(home)
            world.close()
    finally:
        if isinstance(loop, VirtualLoop):
            loop.clear()
        show(here)
    return record.trace


async def _run(
    setting: Setting,
    world: World,
    record: Recorder,
    loop: asyncio.AbstractEventLoop,
    over: AsyncExitStack,
) -> None:
    scenario, seat, redact = setting.scenario, setting.seat, setting.redact
    specs = world.specs if seat.specs is None else seat.specs
    known = specs  # what passes the gate, offered or not
    shimmed = setting.shims and seat.folder
    if shimmed:
        from forge_chaos.worlds import _commands, _shims

        known = {_shims.RUN: _commands.COMMAND_TOOLS[_shims.RUN].spec, **specs}
    prompt = scenario.prompt + (CONTRACT if setting.contract else "")
    record(
        Started,
        scenario.name,
        scenario.hash,
        setting.agent,
        setting.model,
        tuple(r.text for r in setting.rules),
        setting.seed,
        setting.repetition,
        redact(prompt),
        {r.text: _explained(r) for r in setting.rules},
        {s.name: described(s) for s in known.values()},
        settling.resources(world, redact),
        dict(setting.versions),
        _limits(scenario, seat),
        scenario.shared,
        seat.turns and seat.cancels,
        seat.turns and seat.windows,
    )
    stop: asyncio.Future[tuple[str, str]] = loop.create_future()

    def halt(end: str, why: str) -> None:
        if not stop.done():
            stop.set_result((end, why))

    most = 1 + len(scenario.turns) + any(seam(rule) == "caller" for rule in setting.rules)  # turns
    steps = max(1, scenario.limits.steps) * most
    gate = ToolGate(
        setting.rules,
        known,
        record,
        loop.time,
        seed=setting.seed,
        world=world,
        budget=2 * steps + (_shims.PROGRAMS if shimmed else 0),
        stop=halt,
        root=str(getattr(world.workspace, "root", "")),
    )
    models = ModelGate(
        setting.rules,
        record,
        loop.time,
        gate,
        seed=setting.seed,
        budget=20 + REQUESTS * steps,
        stop=halt,
        task=scenario.prompt,
    )
    turns = TurnGate(setting.rules if seat.windows else (), record, loop.time, seed=setting.seed)
    server = setting.server(world) if setting.server is not None else None
    model = ModelSeat(models, server, setting.endpoint, setting.model)
    if seat.specs is not None or seat.folder:
        world.workspace.enter()  # type: ignore[attr-defined]  # own tools work on disk, or on a fake one
    if seat.folder:
        world.workspace.expect()  # type: ignore[attr-defined]  # a command works on disk alone
    environment: Mapping[str, str] = {}
    if shimmed:
        asks = await over.enter_async_context(
            _shims.shims(world.workspace, known, gate, seat.words, partial(record, Noted, "unreached"))  # type: ignore[arg-type]  # a command works on disk alone
        )
        environment = asks.environment
    session: dict[str, Any] = {}
    spins = loop.spins if isinstance(loop, VirtualLoop) else 0
    for turn in range(1, most + 1):
        stands = stated(scenario, prompt) if seat.folder else {}
        asked = await turns(turn, models.requests + 1)
        task = Task(
            prompt,
            scenario.limits.steps,
            scenario.name,
            stands,
            turn,
            session,
            asked["window"],
            most,
            environment=environment,
            max_cost=scenario.limits.cost if seat.costs else None,
            price=scenario.limits.price,
        )
        agent = loop.create_task(_play(seat, task, specs, world, gate, model))
        caller = Caller(agent)
        if seat.turns and seat.cancels:
            gate.cancel = caller.cancel
        await _until(agent, stop, scenario.limits.seconds, halt, loop)
        cut = stop.result() if stop.done() and not agent.done() else None
        if isinstance(loop, VirtualLoop):
            loop.spins = SPINS
        if cut is not None:
            await _unwind(agent)
        broken = _broken(record, (gate.broken, models.broken, turns.broken, _no_answer(agent, cut, seat)))
        if cut is None and (reported := _reported(agent)):
            record(Noted, "reported", plain(reported, redact))
        if cut is None and (stream := _streamed(agent)):
            record(Noted, "stream", plain(stream, redact))
        ended = _end(agent, cut, setting, caller)
        coming = _next_message(setting, turn, caller) if cut is None and not broken else None
        if coming is None:
            break
        prompt = coming
        await _between(turn, ended, prompt, record, loop)
        if isinstance(loop, VirtualLoop):
            loop.spins = spins
    if shimmed:
        await asks.settled()
        await over.aclose()
    record(Finished, *ended)
    try:
        after = await settling.settled(world, gate, record, scenario, setting.checked)
    except Exception as error:  # the world cannot be read any more
        after = None
        _broken(record, (error,))
    gate.close()
    models.close()
    _broken(record, (gate.broken, models.broken), broken)
    if after is None:
        record(Snapshot, {}, False)
    else:
        record(Snapshot, after)
    record.end()
    await settling.left(gate, UNWIND)


def _limits(scenario: Scenario, seat: Seat) -> dict[str, float]:
    """What the agent is held to. A budget that it cannot be told of is none."""
    limits = scenario.limits
    held: dict[str, float] = {"steps": limits.steps, "seconds": limits.seconds}
    return (
        held
        if limits.cost is None or not seat.costs
        else {**held, "cost": limits.cost, "price": limits.price}
    )


class Caller:
    """Who waits for the agent's run, and may cancel it once."""

    def __init__(self, agent: asyncio.Task[Any]) -> None:
        self._agent = agent
        self.cancelled = False

    def cancel(self) -> bool:
        if self.cancelled or self._agent.done():
            return False
        self.cancelled = True
        self._agent.cancel("cancelled by the caller")
        return True


def _next_message(setting: Setting, turn: int, caller: Caller) -> str | None:
    """What the user says after this turn; None when that was all. A turn that was cancelled is asked for again
    when no other message follows."""
    scenario = setting.scenario
    prompts = (scenario.prompt, *(turn.prompt for turn in scenario.turns))
    if not setting.seat.turns:
        return None
    if turn < len(prompts):
        said = prompts[turn]
    elif caller.cancelled:
        said = AGAIN + prompts[-1]
    else:
        return None
    return said + (CONTRACT if setting.contract else "")


async def _between(
    turn: int, ended: tuple[Any, ...], prompt: str, record: Recorder, loop: asyncio.AbstractEventLoop
) -> None:
    """The end of a turn, some time, and the beginning of the next: what acts in between acts unasked."""
    end, answer, status, error, honest, _ = ended
    said = {"answer": answer, "status": status, "error": error, "honest": honest}
    record(Noted, "turn_ended", {"turn": turn, "end": end, **{k: v for k, v in said.items() if v}})
    await asyncio.sleep(GAP if isinstance(loop, VirtualLoop) else settling.SETTLE)
    record(Noted, "turn", {"turn": turn + 1, "prompt": text(prompt, record.redact)})


async def _play(seat: Seat, task: Task, specs: Any, world: World, gate: ToolGate, model: ModelSeat) -> Answer:
    return await seat.agent(task, specs, world.tools, gate, model)


def _broken(
    record: Recorder, errors: Iterable[BaseException | None], known: Collection[int] = ()
) -> Collection[int]:
    """Note what our own side did wrong, once each."""
    noted = set(known)
    for error in errors:
        if error is not None and id(error) not in noted:
            noted.add(id(error))
            record(Noted, "broken", failure(error, record.redact))
    return noted


def described(spec: ToolSpec) -> dict[str, Any]:
    """What a trace and a report say of a tool."""
    return {
        "roles": sorted(spec.roles),
        "target": spec.target,
        "poll": spec.poll,
        "settle": spec.settle,
        "limit": spec.limit,
        "idempotency": spec.idempotency,
        "required": list(spec.parameters.get("required") or ()),
    }


def _explained(resolved: Resolved) -> dict[str, Any]:
    fault, variant, rule = resolved.fault, resolved.variant, resolved.rule
    return {
        "fault": fault.id,
        "variant": variant.id,
        "family": fault.family,
        "explicit": variant.explicit,
        "refuses": variant.refuses,
        "seam": variant.seam or fault.seam,
        "ever": rule.ever,
    }


async def _until(
    agent: asyncio.Task[Any],
    stop: asyncio.Future[Any],
    seconds: float,
    halt: Any,
    loop: asyncio.AbstractEventLoop,
) -> None:
    """Until the agent is done, a budget is spent, the trial time is over, or nothing can wake it."""
    if isinstance(loop, VirtualLoop):
        loop.watch_anyio()
        loop.on_idle = lambda: halt("hung", "nothing is left that could end it")
        loop.on_deadline = lambda: halt("stopped", "seconds")
        loop.deadline = loop.time() + seconds
        try:
            await asyncio.wait({agent, stop}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            loop.deadline = loop.on_deadline = loop.on_idle = None
    else:
        done, _ = await asyncio.wait({agent, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            halt("stopped", "seconds")


async def _unwind(agent: asyncio.Task[Any]) -> None:
    """Cancel the agent; one that swallows the cancellation is cancelled again, then left behind."""
    for _ in range(CANCELS):
        agent.cancel("the trial is over")
        await asyncio.wait({agent}, timeout=UNWIND)
        if agent.done():
            return


def _no_answer(agent: asyncio.Task[Any], cut: tuple[str, str] | None, seat: Seat) -> BaseException | None:
    """An adapter that gives back no Answer is our failure, not the agent's."""
    if cut is not None or agent.cancelled() or agent.exception() is not None:
        return None
    if isinstance(agent.result(), Answer):
        return None
    return TypeError(f"adapter {seat.adapter!r} gave back {type(agent.result()).__name__}, not Answer")


def stated(scenario: Scenario, prompt: str) -> dict[str, Any]:
    """The task as a file states it: as its own file did, or what a scenario of ours comes to. What the prompt
    has more than the scenario's, the reply contract, stands behind the input."""
    given = scenario.values.get("task")
    own = dict(given) if isinstance(given, Mapping) and "input" in given else {}
    files = {}
    for path, data in scenario.files.items():
        with suppress(UnicodeDecodeError):  # what is no text lies in the workspace alone
            files[path] = data.decode()
    asked = str(own.get("input") or scenario.prompt) + prompt.removeprefix(scenario.prompt)
    return {**own, "name": scenario.name, "input": asked, "files": files}


def _reported(agent: asyncio.Task[Any]) -> Mapping[str, Any]:
    """What the agent says of its run beside its answer."""
    if agent.cancelled() or agent.exception() is not None or not isinstance(agent.result(), Answer):
        return {}
    reported: Mapping[str, Any] = agent.result().reported
    return reported


def _streamed(agent: asyncio.Task[Any]) -> Mapping[str, Any]:
    """What the agent streamed to its user, whose end it came to."""
    if agent.cancelled() or agent.exception() is not None or not isinstance(agent.result(), Answer):
        return {}
    stream: Mapping[str, Any] = agent.result().stream
    return stream


def _end(
    agent: asyncio.Task[Any], cut: tuple[str, str] | None, setting: Setting, caller: Caller
) -> tuple[Any, ...]:
    """The fields of Finished."""
    seat, redact = setting.seat, setting.redact
    if cut is not None:
        end, why = cut
        if agent.done() and not agent.cancelled():
            agent.exception()  # retrieved: what it raised while being cancelled is no end of its own
        return ("stopped" if end == "broken" else end, "", None, None, False, words(text(why, redact)))
    if agent.cancelled() and caller.cancelled:
        return ("cancelled", "", None, None, False, "")
    error = asyncio.CancelledError("raised by the agent itself") if agent.cancelled() else agent.exception()
    if error is not None:
        return ("raised", "", None, failure(error, redact), isinstance(error, seat.honest), "")
    answer = agent.result()
    if not isinstance(answer, Answer):
        return ("stopped", "", None, None, False, "broken")
    status = answer.status if isinstance(answer.status, str) and answer.status in get_args(Status) else None
    status = status or _claimed(answer, setting)
    return ("answered", plain(answer.text, redact), status, None, False, "")


def _claimed(answer: Answer, setting: Setting) -> Status | None:
    """What the user's claim pattern finds in the answer; else, where returning is claiming, a success."""
    found = re.search(setting.claim, str(answer.text)) if setting.claim is not None else None
    if found is not None:
        return "failed" if found.groupdict().get("failed") is not None else "done"
    return "done" if setting.seat.claims else None
