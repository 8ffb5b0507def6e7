from __future__ import annotations

import asyncio
import datetime
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.modelserver import chat
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Scenario, Task
from forge_chaos.reference import CAP, Guard, agent, recent, use, worded
from tests.modelserver import small

TASK = Task("Do it.", 6)


def asks(*calls: tuple[str, str], content: str | None = None) -> dict[str, Any]:
    """An assistant message with calls of (tool, arguments), ids c0, c1, ..."""
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ],
    }


def says(text: str | None) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


READ = ("read", '{"path": "a"}')


class Model:
    """Answers with what it was given, in order, the last one for ever; every request must be a good one."""

    def __init__(self, *replies: dict[str, Any] | Exception) -> None:
        self._replies = list(replies)
        self.requests: list[list[dict[str, Any]]] = []
        self.tools: list[int] = []

    async def complete(
        self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"messages": list(messages), **({"tools": list(tools)} if tools else {})}
        assert chat.check(json.loads(json.dumps(body, allow_nan=False).encode())) is None
        self.requests.append([dict(message) for message in messages])
        self.tools.append(len(tools))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def results(self) -> list[str]:
        """What the last request shows as results, in order."""
        return [message["content"] for message in self.requests[-1] if message["role"] == "tool"]


class Tools:
    """One tool `read` that does what it was given: returns a value, raises, or is called."""

    def __init__(self, *does: Any, seconds: float = 30.0) -> None:
        self.specs = [small.spec("read", ["read"], "path").openai()]
        self._does, self._seconds = list(does), seconds
        self.calls: list[tuple[str, Any, str | None]] = []

    def limit(self, name: str) -> float:
        return self._seconds

    async def call(self, name: str, args: Mapping[str, Any], *, id: str | None = None) -> Any:
        self.calls.append((name, args, id))
        does = self._does.pop(0) if len(self._does) > 1 else self._does[0]
        if isinstance(does, BaseException):
            raise does
        return await does() if callable(does) else does


def run(tools: Any, model: Any, task: Task = TASK) -> str:
    return asyncio.run(agent(replace(task, session={}), tools, model))


@pytest.mark.parametrize("scenario", small.SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_carries_the_scripted_model_through_every_scenario(scenario: Scenario) -> None:
    world = small.World()
    seat = small.Seat(ScriptedModel(scenario, "expert", small.SPECS), world)
    assert run(world, seat, Task(scenario.prompt, 30)).endswith("DONE")
    assert world.reached(scenario)


def test_calls_are_answered_once_under_their_ids_in_their_order() -> None:
    order: list[str] = []

    def later(seconds: float, name: str) -> Any:
        async def does() -> str:
            await asyncio.sleep(seconds)
            order.append(name)
            return name

        return does

    model = Model(asks(READ, READ), says("DONE"))
    tools = Tools(later(0.02, "first"), later(0, "second"))
    assert run(tools, model) == "DONE"
    assert order == ["second", "first"]  # concurrently
    assert [(m["tool_call_id"], m["content"]) for m in model.requests[-1] if m["role"] == "tool"] == [
        ("c0", "first"),
        ("c1", "second"),
    ]
    assert [call[2] for call in tools.calls] == ["c0", "c1"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RuntimeError("broke"), "RuntimeError: broke"),
        (TimeoutError(), "TimeoutError"),
        (TimeoutError("the tool's own"), "TimeoutError: the tool's own"),
        (FileNotFoundError(2, "No such file", "a"), "FileNotFoundError: [Errno 2] No such file: 'a'"),
        (asyncio.CancelledError("by the tool"), "CancelledError: by the tool"),
        (SystemExit(3), "SystemExit: 3"),
        (ExceptionGroup("two", [ValueError()]), "ExceptionGroup: two (1 sub-exception)"),
    ],
)
def test_an_exception_is_a_result_and_never_the_end(error: BaseException, text: str) -> None:
    model = Model(asks(READ, READ), says("DONE"))
    assert run(Tools(error, "good"), model) == "DONE"
    assert model.results() == [text, "good"]


@pytest.mark.parametrize("what", ["agent", "use"])
def test_the_caller_s_own_cancellation_ends_the_run(what: str) -> None:
    async def hangs() -> None:
        await asyncio.get_running_loop().create_future()

    async def cancelled() -> None:
        wanted: Any = agent(TASK, Tools(hangs), Model(asks(READ)))
        if what == "use":
            wanted.close()
            wanted = use(Tools(hangs), "read", {})
        running = asyncio.create_task(wanted)
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancelled())


def test_a_call_that_takes_too_long_is_answered_as_such() -> None:
    async def hangs() -> None:
        await asyncio.get_running_loop().create_future()

    model = Model(asks(READ), says("DONE"))
    assert run(Tools(hangs, seconds=0.01), model) == "DONE"
    assert model.results() == ["TimeoutError: no answer within 0.01 seconds"]


@pytest.mark.parametrize("arguments", ["{broken", "[]", "null", '"a"', "3", "[" * 100_000])
def test_arguments_that_are_no_object_are_answered_and_not_executed(arguments: str) -> None:
    model, tools = Model(asks(("read", arguments)), says("DONE")), Tools("never")
    assert run(tools, model) == "DONE"
    assert tools.calls == []
    assert model.results()[0].startswith("ValueError: the arguments are no JSON object")
    assert model.results()[0].endswith("read takes: path")


def test_no_arguments_at_all_are_an_empty_object() -> None:
    tools = Tools("good")
    assert run(tools, Model(asks(("read", "")), says("DONE"))) == "DONE"
    assert tools.calls[0][1] == {}


def test_an_unknown_tool_is_answered_with_what_is_known() -> None:
    model, tools = Model(asks(("raed", "{}")), says("DONE")), Tools("never")
    assert run(tools, model) == "DONE"
    assert (tools.calls, model.results()) == ([], ["LookupError: no tool 'raed'. The tools are: read"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", "(no output)"),
        (None, "null"),
        ({"a": [1, 2.5, True]}, '{"a": [1, 2.5, true]}'),
        ([], "[]"),
        ({"n": math.nan, "i": -math.inf}, '{"n": "nan", "i": "-inf"}'),
        ({"at": datetime.date(2030, 1, 2)}, '{"at": "2030-01-02"}'),
        (b"\xff a", '"\ufffd a"'),
        ({3, 1}, "[1, 3]"),
        ({1: "ä"}, '{"1": "ä"}'),
        ("a\x00b", "a\ufffdb"),
        ("a\ud800b", "a?b"),
        ({"k\ud800": "\udfff"}, '{"k?": "?"}'),
    ],
)
def test_results_are_worded_as_clean_text(value: Any, text: str) -> None:
    assert worded(value) == text


@given(st.text() | st.floats() | st.binary() | st.dictionaries(st.text(), st.lists(st.floats() | st.text())))
def test_any_result_is_valid_text_without_nul(value: Any) -> None:
    text = worded(value)
    assert "\x00" not in text
    assert text.encode().decode() == text


def test_a_long_result_keeps_head_and_tail_under_the_cap() -> None:
    text = worded("head" + "x" * 2_000_000 + "tail")
    assert len(text) < CAP
    assert text.startswith("head")
    assert text.endswith("tail")
    assert "2000008 characters in all" in text
    assert worded("x" * (CAP - 100)) == "x" * (CAP - 100)


def test_a_value_that_cannot_be_shown_is_said_to_be_one() -> None:
    class Hostile(Exception):
        def __str__(self) -> str:
            raise KeyError("broken")

    circle: list[Any] = []
    circle.append(circle)
    assert worded(circle) == "a list that cannot be shown: RecursionError"
    assert worded(Hostile()) == "a Hostile that cannot be shown: KeyError"


def test_equal_failing_calls_are_warned_of_and_ended() -> None:
    model = Model(asks(READ))
    assert run(Tools(ValueError("no")), model, Task("Do it.", 50)) == (
        'FAILED: the same call failed 5 times: read({"path": "a"})'
    )
    assert len(model.requests) == 5
    assert [text.count("has failed 3 times") for text in model.results()] == [0, 0, 1, 0]


def test_another_spelling_of_the_arguments_is_the_same_call() -> None:
    model = Model(*[asks(("read", '{"path":  "a"}' if n % 2 else '{"path": "a"}')) for n in range(9)])
    assert run(Tools(ValueError("no")), model, Task("Do it.", 50)).startswith("FAILED: the same call")
    assert len(model.requests) == 5


def test_polling_is_no_loop() -> None:
    tools = Tools(*["running"] * 20, "done")
    model = Model(*[asks(READ)] * 21, says("DONE"))
    assert run(tools, model, Task("Do it.", 50)) == "DONE"


def test_failures_are_counted_anew_when_something_new_succeeds() -> None:
    guard = Guard()
    fails, works, more = ({"name": "read", "arguments": f'{{"path": "{n}"}}'} for n in "abc")
    for _ in range(4):
        guard.note(fails, True)
    guard.note(works, False)
    for _ in range(4):
        guard.note(fails, True)
    assert guard.ended == ""
    guard.note(works, False)  # not new any more
    guard.note(fails, True)
    assert guard.ended == 'read({"path": "a"})'
    assert not Guard().note(more, False)


def test_a_call_that_succeeds_is_forgiven() -> None:
    tools = Tools(*([*[ValueError("no")] * 4, "good"] * 3))
    assert run(tools, Model(*[asks(READ)] * 15, says("DONE")), Task("Do it.", 50)) == "DONE"


def test_the_step_limit_is_told_and_the_last_answer_counts() -> None:
    model = Model(asks(READ), asks(READ, READ, READ), says("DONE anyway"))
    tools = Tools("good")
    assert run(tools, model, Task("Do it.", 3)) == "DONE anyway"
    assert len(tools.calls) == 3
    assert model.tools == [1, 1, 0]
    assert model.results() == ["good", "good", "good", "not executed: the limit of 3 steps is reached"]
    assert "step limit of 3 reached" in model.requests[-1][-1]["content"]


def test_without_a_last_answer_the_limit_is_the_answer() -> None:
    assert run(Tools("good"), Model(asks(READ)), Task("Do it.", 2)) == "FAILED: step limit of 2 reached"
    refused = Model(asks(READ), ProviderError(400))
    assert run(Tools("good"), refused, Task("Do it.", 1)) == "FAILED: step limit of 1 reached"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("forge_chaos.reference.asyncio.sleep", sleep)
    return found


@pytest.mark.parametrize(("status", "waited"), [(429, [1.0, 2.0]), (503, [1.0, 2.0]), (400, [0, 0])])
def test_a_refusal_is_retried_twice(status: int, waited: list[float], pauses: list[float]) -> None:
    refusal = ProviderError(status, b'{"error": {"message": "no"}}')
    assert run(Tools("good"), Model(refusal, refusal, says("DONE"))) == "DONE"
    assert pauses == waited
    model = Model(refusal)
    assert run(Tools("good"), model) == f"FAILED: the model refused: Error code: {status} - no"
    assert len(model.requests) == 3


@pytest.mark.parametrize("lost", [ConnectionError("reset"), TimeoutError("no reply")])
def test_no_answer_is_as_a_refusal_that_may_pass(lost: Exception, pauses: list[float]) -> None:
    assert run(Tools("good"), Model(lost, lost, says("DONE"))) == "DONE"
    assert pauses == [1.0, 2.0]
    assert run(Tools("good"), Model(lost)) == f"FAILED: the model refused: {lost}"
    assert run(Tools("good"), Model(asks(READ), lost), Task("Do it.", 1)) == "FAILED: step limit of 1 reached"


@pytest.mark.parametrize(
    ("text", "waited"),
    [("try again in 20 seconds", [20.0]), ("try again in 60 seconds", [60.0]), ("slow down", [1.0])],
)
def test_it_waits_as_long_as_the_provider_asks(text: str, waited: list[float], pauses: list[float]) -> None:
    busy = ProviderError(429, json.dumps({"error": {"message": text}}).encode())
    assert run(Tools("text"), Model(busy, says("DONE"))) == "DONE"
    assert pauses == waited


def test_it_does_not_wait_for_hours(pauses: list[float]) -> None:
    gone = ProviderError(429, b'{"error": {"message": "The quota is gone. Try again in 14400 seconds."}}')
    model = Model(gone)
    assert run(Tools("text"), model).startswith("FAILED: the model refused: Error code: 429")
    assert (pauses, len(model.requests)) == ([], 1)


def test_calls_without_an_id_of_their_own_get_one() -> None:
    nameless = asks(READ, READ, READ)
    for call, id in zip(nameless["tool_calls"], ("", "x", "x"), strict=True):
        call["id"] = id
    again = asks(READ)
    again["tool_calls"][0]["id"] = "x"
    model = Model(nameless, again, says("DONE"))
    assert run(Tools("first", "second", "third", "fourth"), model) == "DONE"
    ids = [c["id"] for m in model.requests[-1] for c in m.get("tool_calls") or ()]
    assert (ids[1], len(set(ids)), "" in ids) == ("x", 4, False)
    assert [m["tool_call_id"] for m in model.requests[-1] if m["role"] == "tool"] == ids
    assert model.results() == ["first", "second", "third", "fourth"]
    assert nameless["tool_calls"][0]["id"] == ""


@pytest.mark.parametrize("useless", [says(""), asks(("read", "no json"))])
def test_a_budget_ends_the_run_whatever_the_replies_are_good_for(
    useless: dict[str, Any], pauses: list[float]
) -> None:
    model = Model(useless)
    said = run(tools := Tools("text"), model, replace(TASK, max_cost=2.5, price=1.0))
    assert said.startswith("FAILED")
    assert len(model.requests) == 3
    assert tools.calls == []


def test_an_empty_reply_is_asked_for_again() -> None:
    assert run(Tools("good"), Model(says(""), says(None), says("DONE"))) == "DONE"
    assert run(Tools("good"), Model(says(""))).startswith("FAILED: the model refused: ")


def test_a_toolbox_without_limits_has_the_usual_one() -> None:
    class Bare:
        specs = Tools("x").specs

        async def call(self, name: str, args: Mapping[str, Any], *, id: str | None = None) -> str:
            return "good"

    assert run(Bare(), Model(asks(READ), says("DONE"))) == "DONE"


def test_a_further_turn_goes_on_in_the_same_history_and_open_calls_are_answered_first() -> None:
    model, session = Model(asks(READ), says("DONE")), dict[str, Any]()

    async def hangs() -> None:
        await asyncio.get_running_loop().create_future()

    async def stopped() -> None:
        running = asyncio.create_task(agent(Task("Do it.", 6, session=session), Tools(hangs), model))
        await asyncio.sleep(0.01)
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
    assert asyncio.run(agent(Task("Go on.", 6, turn=2, session=session), Tools("x"), model)) == "DONE"
    roles = [(m["role"], m.get("tool_call_id")) for m in model.requests[-1]]
    assert roles == [("user", None), ("assistant", None), ("tool", "c0"), ("user", None)]
    assert "not known" in model.requests[-1][2]["content"]


def test_a_window_hides_older_messages_for_one_turn_and_parts_no_result_from_its_call() -> None:
    model, session = Model(asks(READ), says("It is x."), says("DONE"), says("DONE")), dict[str, Any]()

    def turn(number: int, window: int | None) -> list[str]:
        task = Task(f"Turn {number}.", 6, turn=number, session=session, window=window)
        asyncio.run(agent(task, Tools("x"), model))
        return [str(m["content"]) for m in model.requests[-1]]

    assert len(turn(1, None)) == 3
    assert turn(2, 2) == ["It is x.", "Turn 2."]  # the result before it would stand without its call
    assert len(turn(3, None)) == 7


@pytest.mark.parametrize(("window", "kept"), [(None, 4), (9, 4), (4, 4), (3, 3), (2, 1), (1, 1), (0, 0)])
def test_the_newest_messages(window: int | None, kept: int) -> None:
    held = [{"role": role} for role in ("user", "assistant", "tool", "assistant")]
    assert recent(held, window) == held[len(held) - kept :]
