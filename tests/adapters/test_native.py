"""Native agents: a function is given what it names, async or in a thread, and hears natural exceptions."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from forge_chaos import notation
from forge_chaos.adapters import _threads, native
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Executed, Finished, Returned, Trace, find
from forge_chaos.nouns import Answer, Call, Err, Ok, Tool
from forge_chaos.recorded import words
from tests.gates import Planned, failing, played


def answer(trace: Trace) -> str:
    finished = next(body for _, body in find(trace, Finished))
    assert finished.end == "answered", finished
    return words(finished.answer)


async def endpoint(request: dict[str, Any]) -> dict[str, Any]:
    said = f"{len(request['messages'])} messages, {len(request.get('tools', ()))} tools"
    return {"choices": [{"message": {"role": "assistant", "content": said}}]}


# --- what it is given ---------------------------------------------------------------------------------------


async def names_all(task: Any, tools: Any, model: Any) -> str:
    reply = await model.complete([{"role": "user", "content": task.prompt}], tools.specs)
    return f"{task.max_steps} {tools.names} {reply['content']}"


def names_all_plainly(task: Any, tools: Any, model: Any) -> str:
    reply = model.complete([{"role": "user", "content": task.prompt}], tools.specs)
    return f"{task.max_steps} {tools.names} {reply['content']}"


async def names_tools(tools: Any) -> str:
    return f"{tools.limit('look'):g} {tools.limit('nothing'):g} {tools.specs[0]['function']['name']}"


def names_tools_plainly(tools: Any) -> str:
    return f"{tools.limit('look'):g} {tools.limit('nothing'):g} {tools.specs[0]['function']['name']}"


async def names_nothing() -> str:
    return "nothing"


def names_nothing_plainly(*, task: Any = None, other: int = 3, **more: Any) -> str:
    return f"{task.scenario} {other} {more}"


class Home:
    async def method(self, tools: Any) -> Any:
        return await tools.call("look", {"name": "a"})


def keeps_its_name(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapped


@keeps_its_name
async def decorated(tools: Any) -> Any:
    return await tools.call("look", {"name": "a"})


@pytest.mark.parametrize(
    ("agent", "says"),
    [
        (names_all, "6 ('look', 'put') 1 messages, 2 tools"),
        (names_all_plainly, "6 ('look', 'put') 1 messages, 2 tools"),
        (names_tools, "30 30 look"),
        (names_tools_plainly, "30 30 look"),
        (names_nothing, "nothing"),
        (names_nothing_plainly, "shelf 3 {}"),
        (Home().method, "alpha"),
        (decorated, "alpha"),
    ],
)
def test_an_agent_is_given_what_it_names(agent: Any, says: str) -> None:
    assert answer(played(agent, endpoint=endpoint)) == says


@pytest.mark.parametrize(
    ("thing", "known"),
    [
        (names_all, True),
        (names_tools_plainly, True),
        (Home().method, True),
        (lambda task: "", True),
        (names_nothing_plainly, True),
        (names_nothing, False),
        (lambda prompt: "", False),
        (lambda task, client: "", False),
        (Home, False),
        (Home(), False),
        ("task", False),
        (len, False),
    ],
)
def test_a_function_is_known_by_what_it_takes(thing: Any, known: bool) -> None:
    assert native.adapter.recognises(thing) is known


async def yields(task: Any) -> Any:
    yield "a"


def yields_plainly(task: Any) -> Any:
    yield "a"


async def gives_a_stream(task: Any) -> Any:
    return yields(task)


@pytest.mark.parametrize("agent", [yields, keeps_its_name(yields), gives_a_stream])
def test_what_an_agent_yields_is_its_answer(agent: Any) -> None:
    assert native.adapter.seat(agent).cancels
    assert native.adapter.recognises(agent)
    assert answer(played(agent)) == "a"


@pytest.mark.parametrize("agent", [yields_plainly, keeps_its_name(yields_plainly)])
def test_a_plain_generator_is_refused(agent: Any) -> None:
    with pytest.raises(Misuse, match=r"the agent 'yields_plainly' is a plain generator. Write async def"):
        native.adapter.seat(agent)


# --- what it hears ------------------------------------------------------------------------------------------


async def tells(tools: Any) -> str:
    told = []
    for name, args in CALLS:
        try:
            told.append(repr(await tools.call(name, args)))
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    return "\n".join(told)


def tells_plainly(tools: Any) -> str:
    told = []
    for name, args in CALLS:
        try:
            told.append(repr(tools.call(name, args)))
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    return "\n".join(told)


class Odd(Exception):
    pass


ODD = Odd("from inside")


async def breaks(call: Call) -> Ok | Err:
    raise ODD


async def rows(call: Call) -> Ok | Err:
    return Ok([{"id": 1}, None])


CALLS: list[tuple[Any, Any]] = [
    ("look", {"name": "a"}),
    ("look", {"name": "nothing"}),
    ("rows", None),
    ("breaks", {}),
    ("lok", {}),
    (None, {}),
    (["look"], {}),
    ("look", ["a"]),
    ("look", 3),
    ("rows", {1: {2}}),
]
TOLD = [
    "'alpha'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'nothing'",
    "[{'id': 1}, None]",
    "Odd: from inside",
    "LookupError: no tool 'lok'. Known: breaks, look, put, rows",
    "LookupError: no tool 'None'. Known: breaks, look, put, rows",
    "LookupError: no tool \"['look']\". Known: breaks, look, put, rows",
    "ValueError: dictionary update sequence element #0 has length 1; 2 is required",
    "TypeError: 'int' object is not iterable",
    "[{'id': 1}, None]",
]


@pytest.mark.parametrize("agent", [tells, tells_plainly])
def test_it_hears_the_value_or_the_natural_exception(agent: Any) -> None:
    trace = played(agent, more={"rows": rows, "breaks": breaks})
    assert answer(trace).splitlines() == TOLD
    assert [body.call for _, body in find(trace, Called)] == list(range(1, len(CALLS) + 1))
    assert len(list(find(trace, Executed))) == len(list(find(trace, Returned))) == len(CALLS)


@pytest.mark.parametrize("plain", [False, True])
def test_a_tools_own_exception_is_the_very_same_object(plain: bool) -> None:
    async def agent(tools: Any) -> str:
        with pytest.raises(Odd) as caught:
            await tools.call("breaks")
        return str(caught.value is ODD)

    def plainly(tools: Any) -> str:
        with pytest.raises(Odd) as caught:
            tools.call("breaks")
        return str(caught.value is ODD)

    assert answer(played(plainly if plain else agent, more={"breaks": breaks})) == "True"


@pytest.mark.parametrize("agent", [tells, tells_plainly])
def test_a_fault_is_heard_alike(agent: Any) -> None:
    rule = Planned(notation.parse("timeout@1:look(a)"), failing)
    told = answer(played(agent, [rule], more={"rows": rows, "breaks": breaks})).splitlines()
    assert told == ["TimeoutError: made to fail", *TOLD[1:]]


@pytest.mark.parametrize(
    ("value", "says"),
    [(None, ""), (0, "0"), (["a"], "['a']"), (Answer("x", "done"), "x"), ("as it is\n", "as it is\n")],
)
def test_what_it_gives_back_is_its_answer(value: Any, says: str) -> None:
    async def agent() -> Any:
        return value

    def plainly() -> Any:
        return value

    assert answer(played(agent)) == answer(played(plainly)) == says


def test_an_answer_that_cannot_be_shown_is_the_agents_own_failure() -> None:
    class Mute:
        def __str__(self) -> str:
            raise ValueError("no words")

    async def agent() -> Any:
        return Mute()

    finished = next(body for _, body in find(played(agent), Finished))
    assert finished.error is not None
    assert (finished.end, finished.error["message"]) == ("raised", "no words")


# --- threads ------------------------------------------------------------------------------------------------


def test_a_plain_def_that_returns_a_coroutine_is_awaited_and_its_blocking_calls_are_refused() -> None:
    def harmless(task: Any) -> Any:
        async def later() -> str:
            await asyncio.sleep(50)
            return str(task.scenario)

        return later()

    def deadlock(tools: Any) -> Any:
        async def later() -> str:
            return str(tools.call("look", {"name": "a"}))

        return later()

    assert answer(played(harmless)) == "shelf"
    finished = next(body for _, body in find(played(deadlock), Finished))
    assert finished.error is not None
    assert "Write the agent as async def" in finished.error["message"]


def test_a_plain_def_may_run_a_loop_of_its_own() -> None:
    def agent(tools: Any) -> str:
        async def main() -> str:
            await asyncio.sleep(0.001)
            return str(tools.call("look", {"name": "a"}))

        return asyncio.run(main())

    assert answer(played(agent)) == "alpha"


async def sleeps(call: Call) -> Ok | Err:
    await asyncio.sleep(300)
    return Ok("slept")


def test_a_thread_that_waits_for_a_tool_costs_no_real_time() -> None:
    def agent(tools: Any) -> str:
        return str(tools.call("sleeps"))

    began = time.monotonic()
    trace = played(agent, more={"sleeps": sleeps})
    assert answer(trace) == "slept"
    assert [event.at for event in trace if isinstance(event.body, Returned)] == [300.0]
    assert time.monotonic() - began < 30


def test_a_call_from_a_thread_of_the_agents_own_does_not_let_the_clock_leap_past_its_siblings() -> None:
    """One thread waits for a slow tool while its sibling is still at work, which then calls at time 0."""

    def agent(tools: Any) -> str:
        def works() -> Any:
            time.sleep(0.2)
            return tools.call("look", {"name": "a"})

        with ThreadPoolExecutor(2) as pool:
            slow, quick = pool.submit(tools.call, "sleeps"), pool.submit(works)
            return f"{slow.result()} {quick.result()}"

    trace = played(agent, more={"sleeps": sleeps})
    assert answer(trace) == "slept alpha"
    at = {body.tool: event.at for event in trace for body in [event.body] if isinstance(body, Called)}
    assert at == {"sleeps": 0.0, "look": 0.0}


def test_a_thread_that_is_cut_hears_no_more_and_its_calls_are_refused() -> None:
    heard: list[str] = []
    ended = threading.Event()

    async def never(call: Call) -> Ok | Err:
        nothing: asyncio.Future[Ok | Err] = asyncio.get_running_loop().create_future()
        return await nothing

    def agent(tools: Any) -> None:
        try:
            tools.call("never")
        except Exception:
            heard.append("an exception")
        except BaseException as error:
            heard.append(type(error).__name__)
        try:
            tools.call("look", {"name": "a"})
        except BaseException as error:
            heard.append(type(error).__name__)
        ended.set()

    trace = played(agent, more={"never": never})
    assert ended.wait(20)
    assert heard == ["Over", "Over"]
    assert [body.tool for _, body in find(trace, Called)] == ["never"]


def test_a_thread_that_swallows_every_end_is_parked() -> None:
    tries = [0]

    async def never(call: Call) -> Ok | Err:
        nothing: asyncio.Future[Ok | Err] = asyncio.get_running_loop().create_future()
        return await nothing

    def agent(tools: Any) -> None:
        while True:
            tries[0] += 1
            try:
                tools.call("never")
            except BaseException:
                continue

    played(agent, more={"never": never})
    deadline = time.monotonic() + 20
    while tries[0] < _threads.PATIENCE and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    stands = tries[0]
    time.sleep(0.1)
    assert tries[0] == stands
    assert _threads.PATIENCE < stands < _threads.PATIENCE + 10


def test_a_cancellation_that_a_tool_raises_is_an_exception_in_a_thread_and_ends_a_coroutine() -> None:
    async def cancels(call: Call) -> Ok | Err:
        raise asyncio.CancelledError

    async def agent(tools: Any) -> str:
        try:
            return str(await tools.call("cancels"))
        except Exception:
            return "an exception"

    def plainly(tools: Any) -> str:
        try:
            return str(tools.call("cancels"))
        except Exception:
            return "an exception"

    more: dict[str, Tool] = {"cancels": cancels}
    assert answer(played(plainly, more=more)) == "an exception"
    finished = next(body for _, body in find(played(agent, more=more), Finished))
    assert finished.error is not None
    assert (finished.end, finished.error["type"]) == ("raised", "CancelledError")


def test_the_stock_loop_is_the_reference_agent() -> None:
    seat = native.adapter.framework()
    assert seat.inline
    assert seat.specs is None
