"""One trial: how it ends, what its trace holds, and that nothing of it is left for the next one."""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos import invariants, notation, reading, tracefile, trial
from forge_chaos.adapters import native
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import (
    Abandoned,
    Asked,
    Called,
    Executed,
    Finished,
    Injected,
    Noted,
    Returned,
    Snapshot,
    Started,
    Trace,
    find,
)
from forge_chaos.nouns import Answer, Call, Err, Limits, Ok, Rule, Tool, ToolSpec
from forge_chaos.ports import Seat, World
from forge_chaos.recorded import redactor, words
from tests.gates import Planned, Shelf, failing, played


def finished(trace: Trace) -> Finished:
    return next(body for _, body in find(trace, Finished))


def snapshot(trace: Trace) -> Snapshot:
    return next(body for _, body in find(trace, Snapshot))


def noted(trace: Trace) -> dict[str, Any]:
    return {body.what: body.detail for _, body in find(trace, Noted)}


def kinds(trace: Trace) -> list[str]:
    return [event.body.kind for event in trace]


async def never(call: Call) -> Ok | Err:
    nothing: asyncio.Future[Ok | Err] = asyncio.get_running_loop().create_future()
    return await nothing


async def slow(call: Call) -> Ok | Err:
    await asyncio.sleep(400)
    return Ok("late")


async def breaks_off(call: Call) -> Ok | Err:
    raise asyncio.CancelledError


MORE: dict[str, Tool] = {"never": never, "slow": slow, "break_off": breaks_off}

# --- how it ends: async and plain def -----------------------------------------------------------------------


async def answers(tools: Any) -> str:
    return str(await tools.call("look", {"name": "a"}))


def answers_plainly(tools: Any) -> str:
    return str(tools.call("look", {"name": "a"}))


async def never_stops_calling(tools: Any) -> None:
    while True:
        try:
            await tools.call("look", {"name": "a"})
        except Exception:
            continue


def never_stops_calling_plainly(tools: Any) -> None:
    while True:
        try:
            tools.call("look", {"name": "a"})
        except Exception:
            continue


async def never_stops_asking(model: Any) -> None:
    while True:
        try:
            await model.complete([{"role": "user", "content": "again"}])
        except Exception:
            continue


def never_stops_asking_plainly(model: Any) -> None:
    while True:
        try:
            model.complete([{"role": "user", "content": "again"}])
        except Exception:
            continue


async def takes_for_ever(tools: Any) -> None:
    while True:
        await tools.call("slow")


def takes_for_ever_plainly(tools: Any) -> None:
    while True:
        tools.call("slow")


async def waits_for_nothing(tools: Any) -> None:
    await tools.call("never")


def waits_for_nothing_plainly(tools: Any) -> None:
    tools.call("never")


async def raises(tools: Any) -> None:
    await tools.call("look", {"name": "nothing"})


def raises_plainly(tools: Any) -> None:
    tools.call("look", {"name": "nothing"})


async def endpoint(request: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": "hello"}}]}


@pytest.mark.parametrize(
    ("agent", "end", "why", "error"),
    [
        (answers, "answered", "", None),
        (answers_plainly, "answered", "", None),
        (never_stops_calling, "stopped", "calls", None),
        (never_stops_calling_plainly, "stopped", "calls", None),
        (never_stops_asking, "stopped", "requests", None),
        (never_stops_asking_plainly, "stopped", "requests", None),
        (takes_for_ever, "stopped", "seconds", None),
        (takes_for_ever_plainly, "stopped", "seconds", None),
        (waits_for_nothing, "hung", "nothing is left that could end it", None),
        (waits_for_nothing_plainly, "hung", "nothing is left that could end it", None),
        (raises, "raised", "", "FileNotFoundError"),
        (raises_plainly, "raised", "", "FileNotFoundError"),
    ],
)
def test_each_end_is_told(agent: Callable[..., Any], end: str, why: str, error: str | None) -> None:
    began = time.monotonic()
    trace = played(agent, more=MORE, endpoint=endpoint)
    assert time.monotonic() - began < 30
    told = finished(trace)
    assert (told.end, told.why) == (end, why)
    assert (told.error or {}).get("type") == error
    assert told.answer == ("alpha" if end == "answered" else "")
    holds(trace)


def test_the_budget_of_calls_is_twice_the_limit_and_of_requests_a_few_a_step() -> None:
    trace = played(never_stops_calling, limits=Limits(5, 100.0))
    assert len(list(find(trace, Called))) == 10
    trace = played(never_stops_asking, limits=Limits(5, 100.0), endpoint=endpoint)
    assert len(list(find(trace, Asked))) == 20 + trial.REQUESTS * 5


def test_time_is_stopped_at_the_limit_not_at_the_next_timer() -> None:
    trace = played(takes_for_ever, more=MORE, limits=Limits(6, 1000.0))
    assert [event.at for event in trace if isinstance(event.body, Finished)] == [1000.0]


def cancelled_itself(error: BaseException) -> Callable[..., Any]:
    async def agent() -> None:
        raise error

    return agent


def plainly(error: BaseException) -> Callable[..., Any]:
    def agent() -> None:
        raise error

    return agent


class Odd(BaseException):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    ("error", "recorded", "in_a_thread"),
    [
        (KeyError("a"), "KeyError", "KeyError"),
        (SystemExit(3), "SystemExit", "SystemExit"),
        (asyncio.CancelledError(), "CancelledError", "CancelledError"),
        (GeneratorExit(), "GeneratorExit", "GeneratorExit"),
        (StopIteration(1), "RuntimeError", "RuntimeError"),
        (StopAsyncIteration(1), "StopAsyncIteration", "StopAsyncIteration"),
        (ExceptionGroup("two", [KeyError("a"), OSError("b")]), "ExceptionGroup", "ExceptionGroup"),
        (BaseExceptionGroup("one", [SystemExit(1)]), "BaseExceptionGroup", "BaseExceptionGroup"),
        (Odd(), "Odd", "Odd"),
        (RecursionError("deep"), "RecursionError", "RecursionError"),
        (MemoryError(), "MemoryError", "MemoryError"),
    ],
)
def test_whatever_an_agent_raises_is_its_end(error: BaseException, recorded: str, in_a_thread: str) -> None:
    for agent, name in ((cancelled_itself(error), recorded), (plainly(error), in_a_thread)):
        trace = played(agent)
        told = finished(trace)
        assert (told.end, (told.error or {})["type"]) == ("raised", name)
        assert snapshot(trace).known
        holds(trace)


def test_a_keyboard_interrupt_in_a_thread_is_the_agents_and_on_the_loop_it_is_ctrl_c() -> None:
    told = finished(played(plainly(KeyboardInterrupt())))
    assert told.error is not None
    assert (told.end, told.error["causes"]) == ("raised", ["KeyboardInterrupt"])
    shelf = Shelf({}, {})
    with pytest.raises(KeyboardInterrupt):
        played(cancelled_itself(KeyboardInterrupt()), world=lambda scenario, sleep: shelf)
    assert shelf.closed


def test_an_honest_end_is_marked() -> None:
    async def agent(task: Any, specs: Any, tools: Any, gate: Any, model: Any) -> Answer:
        raise LookupError("I give up")

    seat = Seat(agent, "small", honest=(LookupError,))
    assert finished(played(seat)).honest
    assert not finished(played(Seat(agent, "small"))).honest


@pytest.mark.parametrize(
    ("answer", "told"),
    [(None, ""), (3.5, "3.5"), ({"a": 1}, "{'a': 1}"), ("ä\n", "ä\n"), (Answer("x", "failed"), "x")],
)
def test_an_answer_is_text(answer: Any, told: str) -> None:
    async def agent() -> Any:
        return answer

    found = finished(played(agent))
    assert (found.end, found.answer) == ("answered", told)
    assert found.status == ("failed" if isinstance(answer, Answer) else None)


def test_an_answer_that_is_no_answer_is_the_adapters_failure() -> None:
    async def agent(task: Any, specs: Any, tools: Any, gate: Any, model: Any) -> Any:
        return "text"

    trace = played(Seat(agent, "small"))
    assert noted(trace)["broken"]["message"] == "adapter 'small' gave back str, not Answer"
    assert finished(trace).end == "stopped"


def test_a_status_that_is_no_word_of_ours_is_not_recorded() -> None:
    async def agent() -> Answer:
        return Answer("x", object())  # type: ignore[arg-type]  # what a careless agent does

    assert finished(played(agent)).status is None


def test_the_last_line_of_a_long_answer_and_of_one_that_is_no_utf8_is_kept() -> None:
    async def long() -> str:
        return "words " * 50_000 + "\nDONE"

    async def lone() -> str:
        return "half a pair: \ud800\nDONE"

    for agent in (long, lone):
        trace = played(agent)
        assert words(finished(trace).answer).splitlines()[-1] == "DONE"
        assert tracefile.loads(tracefile.dumps(trace)) == trace


# --- agents that will not end -------------------------------------------------------------------------------


async def swallows_and_sleeps() -> None:
    while True:
        try:
            await asyncio.sleep(1)
        except BaseException:  # the very agent that must not live on
            continue


async def swallows_and_goes_round() -> None:
    while True:
        try:
            await asyncio.sleep(0)
        except BaseException:
            continue


async def swallows_and_waits(tools: Any) -> None:
    while True:
        try:
            await tools.call("never")
        except BaseException:
            continue


async def schedules_itself_for_ever() -> str:
    loop = asyncio.get_running_loop()

    def again() -> None:
        loop.call_soon(again)

    again()
    loop.call_later(5, again)
    return "done"


async def leaves_a_task(tools: Any) -> str:
    async def on_and_on() -> None:
        while True:
            await asyncio.sleep(0.4)
            await tools.call("look", {"name": "a"})

    asyncio.get_running_loop().leftover = asyncio.create_task(on_and_on())  # type: ignore[attr-defined]  # kept alive
    return "done"


async def leaves_a_swallowing_task(tools: Any) -> str:
    async def on_and_on() -> None:
        while True:
            try:
                await tools.call("look", {"name": "a"})
                await asyncio.sleep(0.4)
            except BaseException:
                continue

    asyncio.get_running_loop().leftover = asyncio.create_task(on_and_on())  # type: ignore[attr-defined]  # kept alive
    return "done"


async def leaves_a_thread() -> str:
    asyncio.get_running_loop().run_in_executor(None, time.sleep, 3)
    return "done"


async def bends_the_loop() -> str:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: sys.exit(9))
    loop.set_task_factory(lambda loop, coro, **more: sys.exit(9))
    loop.call_later(3, sys.exit, 9)
    return "done"


async def ends_the_executor() -> str:
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, time.sleep, 0)
    await loop.shutdown_default_executor()
    return "done"


async def stops_the_loop() -> str:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(1)
    return "done"


async def cancels_all_others() -> str:
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.sleep(1)
    return "done"


async def exits_in_a_task() -> str:
    async def away() -> None:
        sys.exit(3)

    task = asyncio.create_task(away())
    await asyncio.sleep(1)
    return f"done {task.exception()!r}"


async def closes_the_loop() -> str:
    try:
        asyncio.get_running_loop().close()
    except RuntimeError:
        return "done"
    return "closed"


LOCAL: contextvars.ContextVar[str] = contextvars.ContextVar("LOCAL", default="clean")


async def sets_what_others_see(tools: Any) -> str:
    LOCAL.set("dirty")
    os.chdir("/")
    await tools.call("put", {"name": "a", "value": "changed"})
    return "done"


async def uses_a_thread_and_looks(tools: Any) -> str:
    """An ordinary agent, whose trace shows if anything else is still on the loop."""
    await asyncio.to_thread(time.sleep, 0.001)
    await asyncio.sleep(5)
    return f"{await tools.call('look', {'name': 'a'})} {LOCAL.get()}"


HOSTILE: list[Callable[..., Any]] = [
    bends_the_loop,
    cancels_all_others,
    closes_the_loop,
    ends_the_executor,
    exits_in_a_task,
    leaves_a_swallowing_task,
    leaves_a_task,
    leaves_a_thread,
    never_stops_calling_plainly,
    schedules_itself_for_ever,
    sets_what_others_see,
    stops_the_loop,
    swallows_and_goes_round,
    swallows_and_sleeps,
    swallows_and_waits,
    waits_for_nothing_plainly,
]


@pytest.fixture
def loop() -> Any:
    loop = VirtualLoop(patience=0.5)
    yield loop
    loop.close()


@pytest.mark.parametrize("agent", HOSTILE)
def test_two_trials_one_after_the_other_are_each_as_if_alone(
    agent: Callable[..., Any], loop: VirtualLoop
) -> None:
    folder = os.getcwd()
    alone = played(uses_a_thread_and_looks)
    hung = played(waits_for_nothing, more=MORE)
    for _ in range(2):
        holds(played(agent, loop=loop, more=MORE))
        assert os.getcwd() == folder
        began = time.monotonic()
        assert played(uses_a_thread_and_looks, loop=loop) == alone
        assert played(waits_for_nothing, loop=loop, more=MORE) == hung
        assert time.monotonic() - began < 20


def test_a_thread_that_was_cut_keeps_nobody_waiting() -> None:
    loop = VirtualLoop(patience=30)
    began = time.monotonic()
    played(waits_for_nothing_plainly, loop=loop, more=MORE)
    loop.close()
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("agent", [swallows_and_sleeps, swallows_and_goes_round, swallows_and_waits])
def test_who_swallows_its_cancellation_is_left_behind(agent: Callable[..., Any]) -> None:
    began = time.monotonic()
    trace = played(agent, more=MORE)
    assert finished(trace).end in ("hung", "stopped")
    assert snapshot(trace).known
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("agent", "answer"),
    [
        (cancels_all_others, "done"),
        (closes_the_loop, "done"),
        (exits_in_a_task, "done SystemExit(3)"),
        (stops_the_loop, "done"),
    ],
)
def test_what_is_done_to_the_loop_does_not_end_the_trial(agent: Callable[..., Any], answer: str) -> None:
    trace = played(agent)
    assert (finished(trace).end, finished(trace).answer) == ("answered", answer)


def test_a_thread_that_outlives_the_trial_is_noted_and_one_that_ends_in_time_is_not() -> None:
    async def ends() -> str:
        asyncio.get_running_loop().run_in_executor(None, time.sleep, 0.1)
        return "done"

    release = threading.Event()

    async def stays() -> str:
        asyncio.get_running_loop().run_in_executor(None, release.wait, 20)
        return "done"

    loop = VirtualLoop(patience=0.3)
    try:
        assert noted(played(ends)) == {}
        trace = played(stays, loop=loop)
        assert noted(trace) == {"left_running": {"threads": 1}}
        assert [v.name for v in invariants.violations(trace, reading.read(trace))] == ["left_running"]
        assert noted(played(answers, loop=loop)) == {}
    finally:
        release.set()
        loop.close()


# --- before, at and after the end ---------------------------------------------------------------------------


def test_what_an_agent_leaves_running_is_cancelled_and_may_clean_up() -> None:
    cleaned: list[str] = []

    async def agent() -> str:
        async def on_and_on() -> None:
            try:
                await asyncio.sleep(10_000)
            finally:
                await asyncio.sleep(1)
                cleaned.append("up")

        asyncio.get_running_loop().leftover = asyncio.create_task(on_and_on())  # type: ignore[attr-defined]  # kept alive
        return "done"

    played(agent)
    assert cleaned == ["up"]


def test_calls_after_the_end_are_recorded_and_the_open_one_is_closed_before_the_snapshot() -> None:
    async def agent(tools: Any) -> str:
        async def afterwards() -> None:
            await asyncio.sleep(0.5)
            await tools.call("look", {"name": "a"})
            await tools.call("never")

        asyncio.get_running_loop().leftover = asyncio.create_task(afterwards())  # type: ignore[attr-defined]  # kept alive
        return "done"

    trace = played(agent, more=MORE)
    assert kinds(trace) == [
        "started",
        "finished",
        "called",
        "executed",
        "returned",
        "called",
        "abandoned",
        "snapshot",
    ]
    assert [body.why for _, body in find(trace, Abandoned)] == ["end of the trial"]
    holds(trace)


def test_an_effect_that_lands_late_lands_before_the_snapshot() -> None:
    async def later(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        env.later(7.0, lambda: tool(call))
        return Err("timeout", "lost")

    async def agent(tools: Any) -> str:
        try:
            await tools.call("put", {"name": "a", "value": "changed"})
        except TimeoutError:
            return "FAILED"
        return "DONE"

    trace = played(agent, [Planned(Rule("late"), later)], settle=20.0)
    order = kinds(trace)
    assert order.index("finished") < order.index("executed") < order.index("snapshot")
    assert snapshot(trace).resources == {"a": "changed"}
    assert [event.at for event in trace if isinstance(event.body, Executed)] == [7.0]


def test_an_agent_that_cancels_every_task_cannot_keep_an_effect_from_landing() -> None:
    async def later(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.later(7.0, lambda: tool(call))
        env.fire()
        return Err("timeout", "lost")

    async def agent(tools: Any) -> str:
        try:
            await tools.call("put", {"name": "a", "value": "changed"})
        except TimeoutError:
            return await cancels_all_others()
        return "DONE"

    assert snapshot(played(agent, [Planned(Rule("late"), later)])).resources == {"a": "changed"}


def test_what_a_mechanism_does_wrong_later_makes_the_trial_invalid() -> None:
    async def later(call: Call, tool: Tool, env: Any) -> Ok | Err:
        def wrong() -> None:
            raise ZeroDivisionError("later")

        env.later(0.5, wrong)
        env.fire()
        return await tool(call)

    trace = played(answers, [Planned(Rule("late"), later)])
    assert noted(trace)["broken"]["type"] == "ZeroDivisionError"


def test_a_broken_mechanism_is_noted_before_the_end() -> None:
    async def broken(call: Call, tool: Tool, env: Any) -> Ok | Err:
        raise ZeroDivisionError("now")

    trace = played(answers, [Planned(Rule("a"), broken)])
    assert kinds(trace) == ["started", "called", "abandoned", "noted", "finished", "snapshot"]
    assert finished(trace).why == "mechanism 'made': ZeroDivisionError: now"


def test_a_world_that_cannot_be_read_any_more_is_our_failure_not_a_lost_trial() -> None:
    class Gone(Shelf):
        def resources(self) -> dict[str, Any]:
            if self.things.get("a") == "changed":
                raise OSError("the folder is gone")
            return super().resources()

    async def agent(tools: Any) -> str:
        await tools.call("put", {"name": "a", "value": "changed"})
        return "DONE"

    shelf = Gone({"a": "alpha"}, {})
    trace = played(agent, world=lambda scenario, sleep: shelf)
    assert noted(trace)["broken"]["message"] == "the folder is gone"
    assert trace[-1].body == Snapshot({}, False)
    assert shelf.closed


def test_the_world_is_closed_when_a_trial_cannot_even_begin() -> None:
    shelf = Shelf({"a": "alpha"}, {})

    def server(world: World) -> Any:
        raise ValueError("no such model")

    with pytest.raises(ValueError, match="no such model"):
        played(answers, world=lambda scenario, sleep: shelf, server=server)
    assert shelf.closed


def test_what_an_agent_changes_later_does_not_change_the_record() -> None:
    rows = [{"id": 1}]

    async def give(call: Call) -> Ok | Err:
        return Ok(rows)

    async def agent(tools: Any) -> Any:
        asked = {"name": ["a", {"b": 1}]}
        got = await tools.call("give", asked)
        asked["name"].append("more")
        asked["name"][1]["b"] = 2  # type: ignore[index]  # a dict by construction
        got[0]["id"] = 99
        got.append("more")
        return Answer("done", session=got)

    trace = played(agent, more={"give": give})
    assert [body.args for _, body in find(trace, Called)] == [{"name": ["a", {"b": 1}]}]
    assert [body.result.value for _, body in find(trace, Returned)] == [[{"id": 1}]]
    assert [body.result.value for _, body in find(trace, Executed)] == [[{"id": 1}]]


def test_no_secret_is_in_any_event() -> None:
    secret = "s3cr3t-v4lue"

    async def leak(call: Call) -> Ok | Err:
        if call.args.get("fail"):
            raise RuntimeError(f"denied for {secret}") from KeyError(secret)
        return Ok({"key": secret, secret: [secret.encode(), 1]})

    async def agent(task: Any, tools: Any, model: Any) -> str:
        await tools.call("leak", {"url": f"https://x?token={secret}", secret: 1})
        for name in (secret, "look"):
            try:
                await tools.call(name, {"name": f"a/{secret}"})
            except (LookupError, OSError):
                await tools.call("put", {"name": secret, "value": secret})
        await model.complete([{"role": "user", "content": f'{{"key": "{secret}"}}'}])
        try:
            await tools.call("leak", {"fail": True})
        except RuntimeError as error:
            raise ExceptionGroup(secret, [error]) from error
        return ""

    async def reply(request: dict[str, Any]) -> dict[str, Any]:
        function = {"name": secret, "arguments": f'{{"key": "{secret}"}}'}
        calls = [{"id": secret, "type": "function", "function": function}]
        return {"choices": [{"message": {"role": "assistant", "content": secret, "tool_calls": calls}}]}

    async def telling(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire(changed=(secret,), told=secret)
        return await tool(call)

    trace = played(
        agent,
        [Planned(Rule("a", last=None), telling)],
        things={"a": secret, f"b {secret}": 1},
        more={"leak": leak},
        endpoint=reply,
        redact=redactor({"MY_TOKEN": secret}),
    )
    assert finished(trace).end == "raised"
    text = tracefile.dumps(trace)
    assert secret not in text
    assert text.count("[redacted]") > 20


# --- what holds for every trace -----------------------------------------------------------------------------


def holds(trace: Trace) -> None:
    """Everything that is promised of a trace."""
    assert [event.seq for event in trace] == list(range(len(trace)))
    assert all(a.at <= b.at for a, b in pairwise(trace))
    assert isinstance(trace[0].body, Started)
    assert isinstance(trace[-1].body, Snapshot)
    counts = Counter(event.body.kind for event in trace)
    assert (counts["started"], counts["finished"], counts["snapshot"]) == (1, 1, 1)
    opened = [body.call for _, body in find(trace, Called)]
    closed = [body.call for _, body in find(trace, Returned)]
    closed += [body.call for _, body in find(trace, Abandoned)]
    assert Counter(opened) == Counter(closed)
    assert opened == list(range(1, len(opened) + 1))
    assert {body.call for _, body in find(trace, Executed)} <= set(opened)
    assert {body.call for _, body in find(trace, Injected)} <= set(opened)
    assert tracefile.loads(tracefile.dumps(trace)) == trace


async def delayed(call: Call) -> Ok | Err:
    await asyncio.sleep(float(call.args.get("seconds", 0)))
    return Ok(call.args.get("seconds"))


async def slowly(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire(by=env.rng.randint(0, 999))
    await env.sleep(3)
    return await tool(call)


async def twice(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire(changed=("x",))
    await tool(call)
    return await tool(call)


async def afterwards(call: Call, tool: Tool, env: Any) -> Ok | Err:
    env.fire()
    env.later(2.0, lambda: tool(call))
    return Err("timeout", "late")


steps = st.lists(
    st.one_of(
        st.tuples(st.just("look"), st.sampled_from("abc")),
        st.tuples(st.just("put"), st.sampled_from("abc")),
        st.tuples(st.just("wait"), st.sampled_from([0.5, 2.0, 40.0])),
        st.tuples(st.just("never"), st.none()),
        st.tuples(st.just("break_off"), st.none()),
        st.tuples(st.just("leave"), st.none()),
        st.tuples(st.just("raise"), st.sampled_from([KeyError("x"), SystemExit(2)])),
    ),
    max_size=8,
)
plans = st.lists(
    st.builds(
        lambda first, more, p, tool, how: Planned(
            Rule("f", how.__name__, first, None if more is None else first + more, p, tool), how
        ),
        st.integers(1, 3),
        st.none() | st.integers(0, 3),
        st.sampled_from([100.0, 50.0]),
        st.sampled_from(["*", "look", "p*"]),
        st.sampled_from([failing, slowly, twice, afterwards]),
    ),
    max_size=3,
    unique_by=lambda planned: planned.text,
)


def agent_of(steps: list[tuple[str, Any]], together: bool) -> Callable[..., Awaitable[str]]:
    async def one(tools: Any, kind: str, what: Any) -> None:
        if kind == "raise":
            raise what
        if kind == "leave":
            loop = asyncio.get_running_loop()
            loop.leftover = loop.create_task(one(tools, "wait", 0.7))  # type: ignore[attr-defined]  # kept alive
            return
        args = {"seconds": what} if kind == "wait" else {"name": what, "value": [what]}
        try:
            async with asyncio.timeout(10):
                await tools.call(kind, args)
        except (OSError, asyncio.CancelledError):
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise

    async def agent(tools: Any) -> str:
        for place in range(0, len(steps), 2 if together else 1):
            batch = steps[place : place + (2 if together else 1)]
            await asyncio.gather(*(one(tools, kind, what) for kind, what in batch))
        return "DONE"

    return agent


@given(steps, plans, st.booleans(), st.integers(0, 99))
@settings(max_examples=80, deadline=None)
def test_every_trace_keeps_what_is_promised_of_it_and_equal_plans_give_equal_traces(
    steps: list[tuple[str, Any]], plan: list[Planned], together: bool, seed: int
) -> None:
    traces = [
        played(
            agent_of(steps, together),
            plan,
            seed=seed,
            more={"wait": delayed, **MORE},
            limits=Limits(4, 60.0),
            things={"a": 1, "b": 2},
        )
        for _ in range(2)
    ]
    holds(traces[0])
    assert traces[0] == traces[1]
    planned = {notation.write(each.rule) for each in plan}
    assert {body.rule for _, body in find(traces[0], Injected)} <= planned


def test_what_holds_is_able_to_fail() -> None:
    trace = played(answers)
    holds(trace)
    for wrong in (trace[1:], trace[:-1], trace[:3] + trace[4:], (*trace, trace[-1])):
        with pytest.raises(AssertionError):
            holds(wrong)


def test_own_tools_work_in_the_workspace_and_the_folder_is_given_back(tmp_path: Path) -> None:
    class OnDisk(Shelf):
        @property
        def workspace(self) -> Any:
            return type("Disk", (), {"root": str(tmp_path), "enter": lambda self: os.chdir(tmp_path)})()

    async def agent(task: Any, specs: Any, tools: Any, gate: Any, model: Any) -> Answer:
        return Answer(os.getcwd())

    home = os.getcwd()
    made = OnDisk({"a": "alpha"}, {})
    trace = played(Seat(agent, "small", specs=made.specs), world=lambda scenario, sleep: made)
    assert finished(trace).answer == str(tmp_path)
    assert os.getcwd() == home


def test_started_says_what_was_to_happen() -> None:
    rule = Planned(notation.parse("timeout@2:look"), failing)
    started = played(answers, [rule], seed=7, repetition=2, versions={"x": "1"})[0].body
    assert isinstance(started, Started)
    assert (started.rules, started.seed, started.repetition) == (("timeout@2:look",), 7, 2)
    assert started.variants["timeout@2:look"]["family"] == "failure"
    assert started.tools["look"]["roles"] == ["read"]
    assert started.resources == {"a": "alpha"}
    assert started.prompt == "Look at a." + trial.CONTRACT


@pytest.mark.parametrize(
    ("pattern", "claims", "text", "status"),
    [
        (r"(?P<failed>sorry)|all set", False, "I am sorry.", "failed"),
        (r"(?P<failed>sorry)|all set", False, "It is all set.", "done"),
        (r"(?P<failed>sorry)|all set", False, "Hm.", None),
        (None, True, "Hm.", "done"),
        (None, False, "Hm.", None),
    ],
)
def test_a_claim_is_found_by_the_users_pattern_or_made_by_returning(
    pattern: str | None, claims: bool, text: str, status: str | None
) -> None:
    async def agent(task: Any) -> str:
        return text

    seat = replace(native.adapter.seat(agent), claims=claims)
    assert finished(played(seat, claim=pattern)).status == status


def test_a_trace_says_what_a_tool_cannot_do_without() -> None:
    said = trial.described(ToolSpec("t", "", {"required": ["path"]}, frozenset()))
    assert said["required"] == ["path"]
    assert trial.described(ToolSpec("t", "", {}, frozenset()))["required"] == []


# --- turns of the user, and the caller's cancel -------------------------------------------------------------


def cancelling(after: float = 1.0) -> Planned:
    async def cancel(call: Call, tool: Tool, env: Any) -> Ok | Err:
        if env.cancel():
            env.fire()
        await env.sleep(after)
        return await tool(call)

    return Planned(Rule("cancelled", tool="look"), cancel, "caller")


async def counts(task: Any) -> str:
    task.session["said"] = [*task.session.get("said", []), task.prompt.partition("\n")[0]]
    return f"{task.turn}: {task.session['said']}"


def turned(trace: Trace) -> list[tuple[str, Any]]:
    return [
        (body.what, body.detail.get("end") or body.detail.get("prompt"))
        for _, body in find(trace, Noted)
        if body.what in ("turn", "turn_ended")
    ]


def test_each_message_of_the_user_is_a_call_of_the_agent_in_one_session() -> None:
    trace = played(counts, turns=["And b?", "And c?"], contract=False)
    assert finished(trace).answer == "3: ['Look at a.', 'And b?', 'And c?']"
    assert turned(trace) == [
        ("turn_ended", "answered"),
        ("turn", "And b?"),
        ("turn_ended", "answered"),
        ("turn", "And c?"),
    ]
    assert finished(played(counts, contract=False)).answer == "1: ['Look at a.']", "nothing is left over"


def test_a_turn_that_raised_is_followed_by_the_next() -> None:
    async def trips(task: Any) -> str:
        if task.turn == 1:
            raise ValueError("no")
        return "done"

    trace = played(trips, turns=["And b?"])
    assert turned(trace)[0] == ("turn_ended", "raised")
    assert finished(trace).answer == "done"


def test_an_agent_that_takes_one_turn_is_given_one() -> None:
    seat = replace(native.adapter.seat(counts), turns=False)
    assert turned(played(seat, turns=["And b?"])) == []


def test_a_hang_is_no_turn_to_go_on_from() -> None:
    trace = played(waits_for_nothing, turns=["And b?"], more=MORE)
    assert (finished(trace).end, turned(trace)) == ("hung", [])


def test_a_cancelled_turn_is_asked_for_again_and_the_open_call_is_abandoned() -> None:
    async def looks(task: Any, tools: Any) -> str:
        task.session["turns"] = task.turn
        return f"{task.prompt.partition(chr(10))[0]} {await tools.call('look', {'name': 'a'})}"

    trace = played(looks, [cancelling()], contract=False)
    assert turned(trace) == [("turn_ended", "cancelled"), ("turn", trial.AGAIN + "Look at a.")]
    assert finished(trace).answer == f"{trial.AGAIN}Look at a. alpha"
    assert [body.why for _, body in find(trace, Abandoned)] == ["cancelled"]
    assert not list(find(trace[: len(trace) // 2], Executed))
    holds(trace)
    next_one = played(looks, [cancelling()], turns=["And b?"], contract=False)
    assert turned(next_one) == [("turn_ended", "cancelled"), ("turn", "And b?")]


def test_a_tool_that_a_cancel_does_not_reach_acts_before_the_next_message() -> None:
    async def shields(tools: Any) -> str:
        return str(await asyncio.shield(asyncio.ensure_future(tools.call("look", {"name": "a"}))))

    trace = played(shields, [cancelling()])
    found = [verdict.name for verdict in invariants.violations(trace, reading.read(trace))]
    assert found == ["after_turn"]


def test_a_run_on_a_thread_cannot_be_cancelled_and_says_so() -> None:
    trace = played(answers_plainly, [cancelling()])
    assert not list(find(trace, Injected))
    assert not next(body for _, body in find(trace, Started)).cancels
    assert next(body for _, body in find(played(answers), Started)).cancels
