import asyncio
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos import notation, recorded, schedule, tracefile
from forge_chaos.events import Abandoned, Called, Executed, Injected, Returned, Trace, find
from forge_chaos.gate import ToolGate, target_of
from forge_chaos.nouns import Call, Err, Ok, Result, Rule, Tool, Variant
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


@given(
    st.lists(
        st.builds(
            lambda first, more, tool, target, member: Rule(
                "timeout", None, first, None if more is None else first + more, 100.0, tool, target, member
            ),
            st.integers(1, 3),
            st.none() | st.integers(0, 2),
            st.sampled_from(["*", "read_file", "*_file", "x"]),
            st.sampled_from(["*", "a", "[ab]"]),
            st.none() | st.integers(1, 2),
        ),
        max_size=3,
    ),
    st.lists(
        st.tuples(
            st.sampled_from(["read_file", "write_file"]),
            st.sampled_from("abc"),
            st.none() | st.tuples(st.integers(1, 2), st.integers(0, 1)),
        ),
        max_size=8,
    ),
)
def test_which_calls_a_plan_hits_is_what_counting_by_hand_says(
    plan: list[Rule], calls: list[tuple[str, str, tuple[int, int] | None]]
) -> None:
    expected: list[tuple[int, int]] = []
    counts = Counter[int]()
    for number, (tool, path, order) in enumerate(calls, 1):
        for place, rule in enumerate(plan):
            if schedule.matches(rule, tool, path, None if order is None else order[1]):
                counts[place] += 1
                if counts[place] >= rule.first and (rule.last is None or counts[place] <= rule.last):
                    expected.append((place, number))
    hit: list[tuple[int, int]] = []

    def noting(place: int) -> Any:
        async def mechanism(call: Call, tool: Tool, env: Any) -> Ok | Err:
            hit.append((place, call.id))
            return await tool(call)

        return mechanism

    async def script(gate: ToolGate) -> None:
        for tool, path, order in calls:
            await gate(tool, {"path": path}, good, order=order)

    drive([Planned(rule, noting(place)) for place, rule in enumerate(plan)], script)
    assert sorted(hit) == sorted(expected)


async def never_mind(seconds: float = 1) -> None:
    await asyncio.sleep(seconds)


def told_to_stop(rules: list[Planned], tool: Tool, **options: Any) -> tuple[BaseException | None, list[str]]:
    """What the gate took for broken when this tool was called, and what the trial was told."""
    stopped: list[str] = []

    async def script(gate: ToolGate) -> BaseException | None:
        try:
            async with asyncio.timeout(1):
                await gate("read_file", {"path": "a"}, tool)
        except TimeoutError:
            return gate.broken
        return None

    return drive(rules, script, stop=lambda end, why: stopped.append(f"{end}: {why}"), **options)[0], stopped


def test_a_tool_that_gives_back_no_result_is_our_failure() -> None:
    async def wrong(call: Call) -> Any:
        return "text"

    found, stopped = told_to_stop([], wrong)
    assert isinstance(found, TypeError)
    assert stopped == ["broken: tool 'read_file': TypeError: str is no Ok or Err"]


def test_a_mechanism_that_gives_back_no_result_is_our_failure() -> None:
    async def wrong(call: Call, tool: Tool, env: Any) -> Any:
        return None

    found, stopped = told_to_stop([Planned(Rule("a"), wrong)], good)
    assert isinstance(found, TypeError)
    assert stopped[0].startswith("broken: ")


def test_an_error_that_cannot_be_raised_is_our_failure() -> None:
    async def wrong(call: Call, tool: Tool, env: Any) -> Ok | Err:
        return Err("runtime", "x", type="builtins:UnicodeDecodeError")

    found, _ = told_to_stop([Planned(Rule("a"), wrong)], good)
    assert "cannot be built" in str(found)


def test_a_world_that_does_not_know_what_was_touched_is_our_failure() -> None:
    class Gone:
        def touched(self) -> tuple[str, ...]:
            raise FileNotFoundError("the folder")

    found, stopped = told_to_stop([], good, world=Gone())
    assert isinstance(found, FileNotFoundError)
    assert stopped == ["broken: the world: FileNotFoundError: the folder"]


def test_the_first_failure_of_ours_is_the_one_that_is_told() -> None:
    async def wrong(call: Call, tool: Tool, env: Any) -> Ok | Err:
        raise ValueError(call.target)

    async def script(gate: ToolGate) -> BaseException | None:
        both = [asyncio.ensure_future(gate("read_file", {"path": path}, good)) for path in "ab"]
        await asyncio.wait(both, timeout=1)
        for each in both:
            each.cancel()
        return gate.broken

    assert str(drive([Planned(Rule("a", last=None), wrong)], script)[0]) == "a"


def test_a_tool_that_exits_has_run_and_its_exit_is_told() -> None:
    async def away(call: Call) -> Ok | Err:
        raise SystemExit(3)

    result, trace = drive([], lambda gate: gate("read_file", {"path": "a"}, away))
    assert isinstance(result, Err)
    assert (result.code, repr(result.exception)) == ("system_exit", "SystemExit(3)")
    assert kinds(trace) == ["called", "executed", "returned"]


def test_past_results_are_as_they_were() -> None:
    """An agent may change what it was given; a mechanism that gives an old answer must not give that."""
    past: list[Any] = []

    async def rows(call: Call) -> Ok | Err:
        return Ok([{"id": 1}])

    async def looking(call: Call, tool: Tool, env: Any) -> Ok | Err:
        past.extend(result.value for result in env.past)
        return await tool(call)

    async def script(gate: ToolGate) -> None:
        first = await gate("read_file", {"path": "a"}, rows)
        assert isinstance(first, Ok)
        first.value[0]["id"] = 99
        first.value.append("more")
        await gate("read_file", {"path": "a"}, rows)

    drive([Planned(Rule("a", first=2, last=2), looking)], script)
    assert past == [[{"id": 1}]]


def test_wordings_are_filled_in_once() -> None:
    class Worded(Planned):
        @property
        def variant(self) -> Variant:
            text = {"bare": "E", "clear": "{target} of {tool} after {limit} s, {other}"}
            return Variant("plain", "made", text=text)

    async def saying(call: Call, tool: Tool, env: Any) -> Ok | Err:
        return Err("runtime", env.text())

    async def script(gate: ToolGate) -> list[str]:
        told = []
        for path in ("a", "{tool}", "{limit}"):
            result = await read(gate, path)
            assert isinstance(result, Err)
            told.append(result.message)
        return told

    assert drive([Worded(Rule("a", last=None), saying)], script)[0] == [
        "a of read_file after 30 s, {other}",
        "{tool} of read_file after 30 s, {other}",
        "{limit} of read_file after 30 s, {other}",
    ]
    bare = drive([Worded(Rule("a", text="bare"), saying)], read)[0]
    assert isinstance(bare, Err)
    assert bare.message == "E"


def test_after_the_end_a_call_never_returns_and_the_open_ones_are_closed() -> None:
    async def hangs(call: Call) -> Ok | Err:
        await never_mind(10)
        return Ok()

    async def script(gate: ToolGate) -> list[bool]:
        open_call = asyncio.ensure_future(gate("read_file", {"path": "a"}, hangs))
        await never_mind()
        gate.close()
        gate.close()
        late = asyncio.ensure_future(gate("read_file", {"path": "b"}, good))
        await never_mind(20)
        done = [open_call.done(), late.done()]
        late.cancel()
        return done

    done, trace = drive([], script)
    assert done == [True, False]
    assert kinds(trace)[:2] == ["called", "abandoned"]
    assert [body.why for _, body in find(trace, Abandoned)] == ["end of the trial"]
    assert not list(find(trace, Returned))


def test_what_another_hand_does_later_is_waited_for_by_nobody_and_its_failure_is_ours() -> None:
    done: list[float] = []

    async def script(gate: ToolGate) -> BaseException | None:
        loop = asyncio.get_running_loop()

        async def act(seconds: float) -> None:
            await asyncio.sleep(seconds)
            done.append(loop.time())

        async def wrong() -> None:
            raise ZeroDivisionError

        gate.hand(act(5))
        assert len(gate.handed()) == 1
        assert not gate.handed() & asyncio.all_tasks()
        gate.hand(wrong())
        await asyncio.wait(gate.handed())
        assert gate.handed() == frozenset()
        return gate.broken

    assert isinstance(drive([], script)[0], ZeroDivisionError)
    assert done == [5.0]


class Unshowable:
    def __str__(self) -> str:
        raise ValueError("no words")


class Loud(str):
    def __str__(self) -> str:
        return "louder"


@pytest.mark.parametrize(
    ("value", "target"),
    [
        (None, None),
        (7, "7"),
        (["a"], "['a']"),
        (Unshowable(), "<Unshowable: ValueError>"),
        (Loud("a/../b"), "b"),
        ("half \ud800", "half \ud800"),
        (" a ", "a"),
        (" ", "."),
    ],
)
def test_there_is_a_target_whatever_the_argument_is(value: Any, target: str | None) -> None:
    assert target_of(SPECS["read_file"], {"path": value}) == target


def test_what_a_trace_says_of_a_call_is_strict_json_whatever_it_was() -> None:
    async def script(gate: ToolGate) -> None:
        for path in ("half \ud800", Unshowable(), "x" * 100_000):
            await gate("read_file", {"path": path, "more": {1, 2}}, good)

    trace = drive([Planned(Rule("timeout", last=None), failing)], script)[1]
    assert tracefile.loads(tracefile.dumps(trace)) == trace
    for _, body in find(trace, Called):
        assert body.target is not None
        body.target.encode()
        assert len(body.target) <= recorded.NAME
