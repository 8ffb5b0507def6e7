import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos import notation
from forge_chaos.events import Abandoned, Called, Executed, Injected, Returned, Trace, find
from forge_chaos.gate import ToolGate, target_of
from forge_chaos.nouns import Call, Err, Ok, Result, Rule, Tool
from tests.gates import SPECS, Planned, drive, failing, good, spec


def kinds(trace: Trace) -> list[str]:
    return [event.body.kind for event in trace]


async def read(gate: ToolGate, path: str = "a.csv", **given: Any) -> Result:
    return await gate("read_file", {"path": path}, good, **given)


def test_a_call_that_no_fault_hits_is_recorded_and_passes() -> None:
    result, trace = drive([], read)
    assert result == Ok("read_file of a.csv")
    assert kinds(trace) == ["called", "executed", "returned"]
    assert [body.nth for _, body in find(trace, Called)] == [1]


def test_two_faults_planned_on_calls_1_and_3_of_one_target_hit_calls_1_and_3() -> None:
    rules = [Planned(notation.parse(f"timeout@{n}:read_file(a.csv)"), failing) for n in (1, 3)]

    async def script(gate: ToolGate) -> list[bool]:
        told = []
        for path in ("a.csv", "b.csv", "a.csv", "b.csv", "a.csv", "a.csv"):
            told.append(isinstance(await read(gate, path), Err))
        return told

    told, trace = drive(rules, script)
    assert told == [True, False, False, False, True, False]
    assert [(body.target, body.nth) for _, body in find(trace, Injected)] == [("a.csv", 1), ("a.csv", 3)]


def test_a_rule_remembers_within_its_trial_and_knows_the_equal_calls_before() -> None:
    seen: list[tuple[int, list[Any], int]] = []

    async def remembering(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.kept["calls"] = env.kept.get("calls", 0) + 1
        earlier = [result.value for result in env.earlier]
        seen.append((env.kept["calls"], earlier, env.ran("read_file")))
        return await tool(call)

    async def script(gate: ToolGate) -> None:
        for path in ("a.csv", "b.csv", "a.csv"):
            await read(gate, path)

    plan = [Planned(notation.parse("f@1..:read_file(a.csv)"), remembering)]
    once = [(1, [], 0), (2, ["read_file of a.csv"], 2)]
    for trials in (1, 2):
        drive(plan, script)
        assert seen == once * trials


def test_when_the_world_is_down_no_tool_runs_and_every_call_is_told_so() -> None:
    lost = Err("connection", "gone")

    async def leaving(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        env.down(lost)
        env.later(5.0, lambda: env.down(None))
        return await tool(call)

    async def script(gate: ToolGate) -> list[Result]:
        told = [await read(gate), await gate("write_file", {"path": "b"}, good)]
        await asyncio.sleep(6)
        return [*told, await read(gate)]

    told, trace = drive([Planned(notation.parse("f:read_file"), leaving)], script)
    assert told == [lost, lost, Ok("read_file of a.csv")]
    assert [body.call for _, body in find(trace, Executed)] == [3]
    assert kinds(trace).count("returned") == 3


def test_the_first_rule_is_the_outermost() -> None:
    order: list[str] = []

    def noting(name: str) -> Any:
        async def mechanism(call: Call, tool: Tool, env: Any) -> Ok | Err:
            env.fire()
            order.append(f"{name} in")
            result = await tool(call)
            order.append(f"{name} out")
            return result

        return mechanism

    drive([Planned(Rule("a"), noting("a")), Planned(Rule("b"), noting("b"))], read)
    assert order == ["a in", "b in", "b out", "a out"]


def test_a_mechanism_that_did_not_act_did_not_fire() -> None:
    async def idle(call: Call, tool: Tool, env: Any) -> Ok | Err:
        return await tool(call)

    result, trace = drive([Planned(Rule("a"), idle)], read)
    assert result == Ok("read_file of a.csv")
    assert not list(find(trace, Injected))


def test_calls_are_counted_in_the_order_in_which_the_model_asked() -> None:
    """Parallel calls arrive in varying order; the plan hits the same one whatever that is."""
    rule = Planned(notation.parse("timeout@2:read_file"), failing)

    async def script(gate: ToolGate) -> dict[str, bool]:
        gate.announce(1, [(f"id{n}", "read_file", {"path": f"{n}.csv"}) for n in range(3)])
        told = {}
        for n in (2, 0, 1):
            told[f"{n}.csv"] = isinstance(await read(gate, f"{n}.csv", id=f"id{n}"), Err)
        return told

    told, trace = drive([rule], script)
    assert told == {"0.csv": False, "1.csv": True, "2.csv": False}
    assert [body.order for _, body in find(trace, Called)] == [(1, 2), (1, 0), (1, 1)]


def test_equal_ids_in_one_batch_are_told_apart() -> None:
    rule = Planned(notation.parse("timeout@2:read_file"), failing)

    async def script(gate: ToolGate) -> list[bool]:
        gate.announce(1, [("x", "read_file", {"path": "a"}), ("x", "read_file", {"path": "a"})])
        return [isinstance(await read(gate, "a", id="x"), Err) for _ in range(2)]

    assert drive([rule], script)[0] == [False, True]


def test_a_call_without_an_id_is_the_one_that_the_model_asked_for() -> None:
    """`tools.call(name, args)` without an id must not be counted beside its own announcement."""
    rule = Planned(notation.parse("timeout@1:read_file(a.csv)"), failing)

    async def script(gate: ToolGate) -> list[bool]:
        gate.announce(1, [("x", "read_file", {"path": "b.csv"}), ("y", "read_file", {"path": "a.csv"})])
        return [isinstance(await read(gate, path), Err) for path in ("a.csv", "b.csv", "a.csv")]

    told, trace = drive([rule], script)
    assert told == [True, False, False]
    assert [body.nth for _, body in find(trace, Called)] == [1, 1, 2]


def test_a_repeat_under_the_same_id_gets_a_number_of_its_own() -> None:
    rule = Planned(notation.parse("timeout@1:read_file"), failing)

    async def script(gate: ToolGate) -> list[bool]:
        gate.announce(1, [("x", "read_file", {"path": "a"})])
        return [isinstance(await read(gate, "a", id="x"), Err) for _ in range(2)]

    assert drive([rule], script)[0] == [True, False]


def test_a_cancelled_call_is_abandoned_and_closed_once() -> None:
    async def slow(call: Call) -> Ok | Err:
        await asyncio.sleep(60)
        return Ok()

    async def script(gate: ToolGate) -> str:
        try:
            async with asyncio.timeout(5):
                await gate("read_file", {"path": "a"}, slow)
        except TimeoutError:
            return "own limit"
        return "waited"

    result, trace = drive([], script)
    assert result == "own limit"
    assert kinds(trace) == ["called", "abandoned"]
    assert trace[-1].at == 5.0


def test_a_cancellation_that_the_tool_itself_raises_is_an_error_like_others() -> None:
    async def odd(call: Call) -> Ok | Err:
        raise asyncio.CancelledError("from inside")

    result, trace = drive([], lambda gate: gate("read_file", {"path": "a"}, odd))
    assert isinstance(result, Err)
    assert result.code == "cancelled"
    assert kinds(trace) == ["called", "executed", "returned"]


def test_a_tools_own_exception_is_kept_alive() -> None:
    wrong = KeyError("rows")

    async def odd(call: Call) -> Ok | Err:
        raise wrong

    result, _ = drive([], lambda gate: gate("read_file", {"path": "a"}, odd))
    assert isinstance(result, Err)
    assert result.exception is wrong


def test_past_the_budget_a_call_never_returns_and_the_trial_is_told() -> None:
    stopped: list[tuple[str, str]] = []

    async def script(gate: ToolGate) -> int:
        done = 0
        try:
            async with asyncio.timeout(100):
                while True:
                    try:
                        await read(gate)
                        done += 1
                    except Exception:  # the very agent that must not get away
                        pass
        except TimeoutError:
            return done
        return -1

    done, trace = drive([], script, budget=4, stop=lambda end, why: stopped.append((end, why)))
    assert done == 4
    assert stopped[0] == ("stopped", "calls")
    assert len(list(find(trace, Called))) == 4


def test_a_broken_mechanism_stops_the_trial_and_convicts_nobody() -> None:
    stopped: list[str] = []

    async def broken(call: Call, tool: Tool, env: Any) -> Ok | Err:
        raise ZeroDivisionError

    async def script(gate: ToolGate) -> BaseException | None:
        try:
            async with asyncio.timeout(1):
                await read(gate)
        except TimeoutError:
            return gate.broken
        return None

    found, _ = drive([Planned(Rule("a"), broken)], script, stop=lambda end, why: stopped.append(end))
    assert isinstance(found, ZeroDivisionError)
    assert stopped == ["broken"]


def test_heal_ends_a_rule_some_seconds_after_it_first_fired() -> None:
    rule = Planned(notation.parse("timeout@1..+heal=10"), failing)

    async def script(gate: ToolGate) -> list[bool]:
        told = []
        for _ in range(4):
            told.append(isinstance(await read(gate), Err))
            await asyncio.sleep(4)
        return told

    assert drive([rule], script)[0] == [True, True, True, False]


@pytest.mark.parametrize(
    ("given", "target"),
    [("./a.csv", "a.csv"), ("a//b/../c", "a/c"), ("/ws/x/a.csv", "a.csv"), ("", ""), ("sub/", "sub")],
)
def test_targets_that_are_paths_are_normalised(given: str, target: str) -> None:
    assert target_of(SPECS["read_file"], {"path": given}, "/ws/x") == target


def test_a_target_that_is_no_path_is_taken_as_it_is() -> None:
    assert target_of(spec("charge", "effect", target="order"), {"order": 7}) == "7"
    assert target_of(spec("charge", "effect", target="order"), {}) is None
    assert target_of(None, {"path": "a"}) is None


moves = st.lists(
    st.tuples(st.sampled_from(["read_file", "write_file"]), st.sampled_from("abc"), st.booleans()),
    max_size=12,
)
plans = st.lists(
    st.builds(
        lambda first, last, tool: Rule("timeout", first=first, last=last, tool=tool),
        st.integers(1, 4),
        st.none() | st.integers(4, 6),
        st.sampled_from(["*", "read_file", "write_*"]),
    ),
    max_size=3,
)


@given(moves, plans, st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_every_trace_keeps_its_invariants(
    moves: list[tuple[str, str, bool]], plan: list[Rule], seed: int
) -> None:
    """Numbers without gaps, time that never falls, each call closed exactly once, equal plans equal traces."""

    async def script(gate: ToolGate) -> None:
        for tool, path, impatient in moves:

            async def slow(call: Call, impatient: bool = impatient) -> Ok | Err:
                await asyncio.sleep(3 if impatient else 0.5)
                return Ok(1)

            try:
                async with asyncio.timeout(1):
                    await gate(tool, {"path": path}, slow)
            except TimeoutError:
                await asyncio.sleep(0.25)

    rules = [Planned(rule, failing) for rule in plan]
    trace = drive(rules, script, seed=seed)[1]
    assert [event.seq for event in trace] == list(range(len(trace)))
    assert all(a.at <= b.at for a, b in pairwise(trace))
    opened = [body.call for _, body in find(trace, Called)]
    closed = [body.call for _, body in find(trace, Returned)] + [
        body.call for _, body in find(trace, Abandoned)
    ]
    assert Counter(opened) == Counter(closed)
    assert len(set(opened)) == len(opened)
    assert {body.call for _, body in find(trace, Executed)} <= set(opened)
    assert trace == drive(rules, script, seed=seed)[1]
