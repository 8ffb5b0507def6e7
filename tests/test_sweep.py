"""Cells from a clean trace, and what an agent met, from hand-written traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.errors import Misuse
from forge_chaos.events import (
    Asked,
    Body,
    Called,
    Event,
    Injected,
    Noted,
    Replied,
    Returned,
    Started,
    Told,
    Trace,
)
from forge_chaos.notation import parse, write
from forge_chaos.nouns import Fault, Rule, Variant
from forge_chaos.schedule import due, matches
from forge_chaos.sweep import NEEDS, applies, cells, met, sample

TOOLS: dict[str, dict[str, Any]] = {
    "read_file": {"roles": ["read"], "target": "path", "poll": False},
    "write_file": {"roles": ["write"], "target": "path", "poll": False, "required": ["path"]},
    "clock": {"roles": ["read"], "target": None, "poll": False},
    "charge": {"roles": ["effect"], "target": "order", "poll": False},
    "run_command": {"roles": ["execute"], "target": "command", "poll": False},
}


def trace(*bodies: Body, rules: Sequence[str] = ()) -> Trace:
    started = Started("s", "b2:0", "reference", "scripted", tuple(rules), 1, tools=TOOLS)
    return tuple(Event(seq, float(seq), body) for seq, body in enumerate((started, *bodies)))


def call(
    id: int, tool: str, target: str | None, nth: int = 1, order: tuple[int, int] | None = None
) -> Called:
    return Called(id, tool, {}, target, nth, order)


def fault(
    id: str = "slow", *variants: Variant, roles: Sequence[Any] = ("read",), seam: Any = "tool"
) -> Fault:
    return Fault(
        id, "slowness", seam, "s", "t", tuple(roles), ("naive",), {}, variants or (Variant("v", "m"),)
    )


CLEAN = trace(
    call(1, "read_file", "a.csv"),
    Returned(1, Told("id,amount\n1,20")),
    call(2, "write_file", "b.txt"),
    Returned(2, Told("ok")),
    call(3, "read_file", "a.csv", 2),
    Returned(3, Told("id,amount\n1,20")),
)


def texts(rules: Sequence[Rule]) -> list[str]:
    return [write(rule) for rule in rules]


def test_each_call_on_its_target_meets_each_variant_once_and_for_ever() -> None:
    assert texts(cells(CLEAN, [fault("slow", Variant("x", "m"), Variant("y", "m", lasts=("once",)))])) == [
        "slow.x:read_file(a.csv)",
        "slow.x@1..:read_file(a.csv)",
        "slow.y:read_file(a.csv)",
        "slow.x@2:read_file(a.csv)",
        "slow.x@2..:read_file(a.csv)",
        "slow.y@2:read_file(a.csv)",
    ]


def test_roles_of_a_variant_come_before_those_of_its_fault() -> None:
    assert texts(cells(CLEAN, [fault("f", Variant("v", "m", lasts=("ever",), roles=("write", "list")))])) == [
        "f.v@1..:write_file(b.txt)"
    ]
    assert not applies(fault(roles=("network",)), CLEAN)
    assert applies(fault(roles=("network", "write")), CLEAN)


def test_a_tool_without_target_is_counted_as_a_whole() -> None:
    clean = trace(call(1, "clock", None), call(2, "clock", "zone"), call(3, "clock", None, 2))
    once = fault("f", Variant("v", "m", lasts=("once",)))
    assert texts(cells(clean, [once])) == ["f.v:clock", "f.v:clock(zone)", "f.v@3:clock"]


def test_a_target_that_looks_like_a_glob_means_itself() -> None:
    (rule, *_) = cells(trace(call(1, "read_file", "data[1]*.csv")), [fault()])
    assert matches(rule, "read_file", "data[1]*.csv")
    assert not matches(rule, "read_file", "data1x.csv")


def test_calls_stand_in_the_order_in_which_they_were_asked_for() -> None:
    clean = trace(call(1, "read_file", "b", order=(1, 1)), call(2, "read_file", "a", order=(1, 0)))
    assert [rule.target for rule in cells(clean, [fault("f", Variant("v", "m", lasts=("once",)))])] == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("narrow", "expected"),
    [
        ([], 8),
        (["f"], 8),
        (["other.x"], 8),
        (["f.y"], 4),
        (["f.y:write*"], 0),
        (["f.x:read_file(*.csv)"], 4),
        (["f.x:read_file(*.txt)"], 0),
        (["f.x", "f"], 8),
    ],
)
def test_an_item_narrows_its_fault(narrow: list[str], expected: int) -> None:
    both = fault("f", Variant("x", "m"), Variant("y", "m"))
    assert len(cells(CLEAN, [both], [parse(text) for text in narrow])) == expected


def test_an_item_lends_its_text_and_heal() -> None:
    once = fault("f", Variant("v", "m", lasts=("once",), text={"bare": ""}), Variant("w", "m"))
    assert texts(cells(CLEAN, [once], [parse("f+text=bare+heal=3")])) == [
        "f.v:read_file(a.csv)+heal=3+text=bare",
        "f.v@2:read_file(a.csv)+heal=3+text=bare",
    ]


def test_a_burst_is_three_calls_or_lasts_as_long_as_the_variant_says() -> None:
    calls = fault("f", Variant("v", "m", lasts=("once", "burst", "ever")))
    assert texts(cells(CLEAN, [calls]))[:3] == [
        "f.v:read_file(a.csv)",
        "f.v@1..3:read_file(a.csv)",
        "f.v@1..:read_file(a.csv)",
    ]
    time = fault("f", Variant("v", "m", lasts=("burst",), heal=20.0))
    assert texts(cells(CLEAN, [time]))[0] == "f.v@1..:read_file(a.csv)+heal=20"
    assert texts(cells(CLEAN, [time], [parse("f+heal=5")]))[0] == "f.v@1..:read_file(a.csv)+heal=5"


def test_a_member_is_counted_among_the_calls_at_its_place() -> None:
    clean = trace(
        call(1, "read_file", "a", 1, (1, 0)),
        call(2, "read_file", "a", 2, (1, 1)),
        call(3, "read_file", "a", 3, (2, 1)),
    )
    once = fault("f", Variant("v", "m", lasts=("once",)))
    assert texts(cells(clean, [once], [parse("f+member=2")])) == [
        "f.v:read_file(a)+member=2",
        "f.v@2:read_file(a)+member=2",
    ]


@pytest.mark.parametrize(
    ("need", "target", "value", "holds"),
    [
        ("nested", "a/b", "", True),
        ("nested", "b", "", False),
        ("nested", None, "", False),
        ("json", "a", '{"a": 1}', True),
        ("json", "a", [1], True),
        ("json", "a", "3", False),
        ("json", "a", {"$type": "bytes", "$b64": "AAAA"}, False),
        ("object", "a", '{"a": 1}', True),
        ("object", "a", "[1]", False),
        ("list", "a", "[1]", True),
        ("text", "a", "12345678", True),
        ("text", "a", "1234567", False),
        ("text", "a", {"a": "12345678"}, False),
        ("text", "a", {"$type": "str", "$head": "12345678", "$length": 90000, "$hash": "b2:0"}, True),
        ("lines", "a", "one\ntwo", True),
        ("lines", "a", "one\n", False),
        ("numbers", "a", "id,amount\nx,20", True),
        ("numbers", "a", '{"a": [1.5]}', True),
        ("numbers", "a", '{"a": true, "b1": "c2"}', False),
        ("letters", "a", "é", True),
        ("letters", "a", "12 %", False),
        ("value", "a", "", False),
        ("value", "a", 0, True),
        ("target", None, "", False),
        ("target", "a", "", True),
    ],
)
def test_needs(need: str, target: str | None, value: Any, holds: bool) -> None:
    assert NEEDS[need](call(1, "read_file", target), Told(value), {}) is holds
    assert (
        bool(
            cells(
                trace(call(1, "read_file", target), Returned(1, Told(value))),
                [fault("f", Variant("v", "m", needs=(need,)))],
            )
        )
        is holds
    )


@pytest.mark.parametrize("need", sorted(set(NEEDS) - {"nested", "target", "settles", "brief"}))
def test_a_failed_call_has_nothing_to_damage(need: str) -> None:
    assert not NEEDS[need](call(1, "read_file", "a"), Told(error={"code": "not_found"}), {})


def test_what_is_waited_for_in_real_time_needs_a_tool_with_a_short_limit() -> None:
    assert NEEDS["brief"](call(1, "run", "ls"), Told("ok"), {"limit": 1.0})
    assert not NEEDS["brief"](call(1, "run", "ls"), Told("ok"), {"limit": 30.0})
    assert not NEEDS["brief"](call(1, "run", None), Told("ok"), {"limit": 1.0})
    assert not NEEDS["brief"](call(1, "run", "ls"), Told("ok"), {})


def test_a_late_effect_needs_a_tool_that_settles() -> None:
    assert NEEDS["settles"](call(1, "charge", "a"), Told("ok"), {"settle": 5.0})
    assert not NEEDS["settles"](call(1, "charge", "a"), Told("ok"), {"settle": 0.0})
    assert not NEEDS["settles"](call(1, "charge", "a"), Told("ok"), {})


@pytest.mark.parametrize(
    ("tool", "args", "content", "rewrites"),
    [
        ("write_file", {"path": "a", "text": "x"}, True, True),
        ("append_file", {"path": "a", "text": "x"}, True, False),
        ("delete_file", {"path": "a"}, False, False),
        ("move_file", {"source": "a", "destination": "b"}, False, False),
        ("write_file", {"path": "a", "text": ""}, False, False),
    ],
)
def test_what_a_write_brings_along(tool: str, args: dict[str, Any], content: bool, rewrites: bool) -> None:
    said = {"target": next(iter(args)), "roles": ["write", *(["effect"] if tool == "append_file" else [])]}
    called = Called(1, tool, args, "a")
    assert NEEDS["content"](called, Told("ok"), said) is content
    assert NEEDS["rewrites"](called, Told("ok"), said) is rewrites


def test_an_empty_list_tells_something_unless_the_answer_is_one() -> None:
    asked = call(1, "read_file", "a")
    assert NEEDS["telling"](asked, Told('{"a": 1}'), {"roles": ["read"]})
    assert not NEEDS["telling"](asked, Told("[1]"), {"roles": ["read"]})
    assert NEEDS["telling"](asked, Told('["a.csv"]'), {"roles": ["list"]})


def test_only_who_has_others_behind_it_in_its_batch_can_be_overtaken() -> None:
    clean = trace(
        call(1, "read_file", "a", 1, (1, 0)),
        call(2, "read_file", "b", 1, (1, 1)),
        call(3, "read_file", "c", 1, (2, 0)),
    )
    slow = fault("f", Variant("v", "m", lasts=("once",), needs=("batch",)))
    assert texts(cells(clean, [slow])) == ["f.v:read_file(a)"]


def test_an_answer_is_outdated_only_where_an_equal_call_was_told_otherwise() -> None:
    def told(*answers: str) -> Trace:
        bodies: list[Body] = []
        for n, answer in enumerate(answers, 1):
            bodies += [call(n, "read_file", "a", n), Returned(n, Told(answer))]
        return trace(*bodies)

    old = fault("f", Variant("v", "m", lasts=("once",), needs=("outdated",)))
    assert texts(cells(told("1", "1"), [old])) == []
    assert texts(cells(told("1", "1", "2"), [old])) == ["f.v@3:read_file(a)"]


def test_another_hand_comes_between_the_first_reading_and_the_writing_of_a_shared_file() -> None:
    def shared(*bodies: Body, files: tuple[str, ...] = ("a",)) -> list[str]:
        started = Started("s", "b2:0", "reference", "scripted", (), 1, tools=TOOLS, shared=files)
        events = tuple(Event(seq, 0.0, body) for seq, body in enumerate((started, *bodies)))
        other = fault("f", Variant("v", "m", lasts=("once",), needs=("shared",)))
        return texts(cells(events, [other]))

    reads, again, writes = call(1, "read_file", "a"), call(2, "read_file", "a", 2), call(3, "write_file", "a")
    assert shared(reads, again, writes) == ["f.v:read_file(a)"]
    assert shared(reads, again) == []
    assert shared(writes, reads) == []
    assert shared(reads, writes, files=("b",)) == []


def test_a_shell_stands_elsewhere_after_a_cd_alone() -> None:
    shell = {"run_command": {"roles": ["execute"], "target": "command", "poll": False}}

    def elsewhere(*commands: str) -> list[str]:
        bodies: list[Body] = [Started("s", "b2:0", "reference", "scripted", (), 1, tools=shell)]
        for n, command in enumerate(commands):
            nth = commands[: n + 1].count(command)
            bodies += [Called(n, "run_command", {}, command, nth), Returned(n, Told("exit code: 0"))]
        reset = fault("f", Variant("v", "m", lasts=("once",), needs=("elsewhere",)), roles=("execute",))
        return texts(cells(tuple(Event(n, 0.0, body) for n, body in enumerate(bodies)), [reset]))

    assert elsewhere("pwd", "cd d", "pwd") == ["f.v@2:run_command(pwd)"]
    assert elsewhere("cd d", "ls") == ["f.v:run_command(ls)"]
    assert elsewhere("cd .", "ls", "cdx y", "ls") == []
    assert elsewhere("cd d", "cd ..", "ls") == ['f.v:run_command("cd ..")']


def test_an_unknown_need_is_an_error_with_the_near_miss() -> None:
    with pytest.raises(Misuse, match=r"fault slow\.v: no need 'jsno'\. Did you mean 'json'"):
        cells(CLEAN, [fault("slow", Variant("v", "m", needs=("jsno",)))])


def test_the_model_seam_is_swept_by_request() -> None:
    clean = trace(
        Asked(1, 0, ({"role": "user"},)),
        call(1, "read_file", "a"),
        Asked(2, 1, ({"role": "assistant"}, {"role": "tool"})),
    )
    cut = fault(
        "cut", Variant("tool", "m", lasts=("once",)), Variant("history", "m", lasts=("once",), seam="model")
    )
    assert texts(cells(clean, [cut])) == ["cut.tool:read_file(a)", "cut.history", "cut.history@2"]
    assert texts(cells(clean, [cut], [parse("cut:read_file")])) == ["cut.tool:read_file(a)"]
    needy = fault("cut", Variant("pair", "m", lasts=("once",), needs=("pair",)), seam="model")
    assert texts(cells(clean, [needy])) == ["cut.pair@2"]
    later = trace(*(event.body for event in clean[1:]), Asked(3, 3, ({"role": "user"},)), Asked(4, 1, ()))
    assert texts(cells(later, [needy])) == ["cut.pair@2", "cut.pair@3"]


def injected(rule: str, id: int | None, tool: str, target: str | None, nth: int, **kwargs: Any) -> Injected:
    return Injected(rule, "slow.v", "m", id, None, tool, target, nth, **kwargs)


def run(rule: str, *calls: tuple[str, str | None, int, bool]) -> Trace:
    """A trace in which some calls were hit by `rule`."""
    bodies: list[Body] = []
    for id, (tool, target, nth, hit) in enumerate(calls, 1):
        bodies.append(call(id, tool, target, nth))
        if hit:
            bodies.append(injected(rule, id, tool, target, nth))
    return trace(*bodies, rules=[rule])


R = "read_file"


@pytest.mark.parametrize(
    ("rule", "calls", "expected"),
    [
        ("slow.v", [], []),
        ("slow.v", [(R, "a", 1, True), (R, "a", 2, False)], ["slow.v:read_file(a)"]),
        ("slow", [(R, "a", 1, True)], ["slow.v:read_file(a)"]),
        ("slow.v@1..", [(R, "a", 1, True), (R, "a", 2, True)], ["slow.v@1..:read_file(a)"]),
        (
            "slow.v@2..+text=bare+heal=9",
            [(R, "a", 1, False), (R, "a", 2, True), ("write_file", "b", 1, True)],
            ["slow.v@2..:read_file(a)+heal=9+text=bare", "slow.v@1..:write_file(b)+heal=9+text=bare"],
        ),
        # the rule's second hit fell on another target: two rules, each with its own number
        (
            "slow.v@1..2",
            [(R, "a", 1, True), (R, "b", 1, True)],
            ["slow.v:read_file(a)", "slow.v:read_file(b)"],
        ),
        # the agent asked once and gave up: the expert, who asks on, must meet all three
        ("slow.v@1..3:read_file", [(R, "a", 1, True)], ["slow.v@1..3:read_file(a)"]),
        (
            "slow.v@1..4",
            [(R, "a", 1, True), (R, "b", 1, True)],
            ["slow.v:read_file(a)", "slow.v@1..3:read_file(b)"],
        ),
        # matched but not acted upon: no call is left over from that
        ("slow.v@1..2", [(R, "a", 1, False), (R, "a", 2, True)], ["slow.v@2:read_file(a)"]),
        (
            "50%slow.v",
            [(R, "a", 1, True), (R, "a", 2, False), (R, "a", 3, True), (R, "a", 4, True)],
            ["slow.v:read_file(a)", "slow.v@3..4:read_file(a)"],
        ),
        ("slow.v", [("clock", None, 1, True)], ["slow.v:clock"]),
        ("slow.v", [(R, "d[1], x", 1, True)], ['slow.v:read_file("d[[]1], x")']),
    ],
)
def test_what_the_expert_must_meet(
    rule: str, calls: list[tuple[str, str | None, int, bool]], expected: list[str]
) -> None:
    assert texts(met(run(rule, *calls))) == expected


def test_a_call_without_target_is_met_by_its_number_on_the_tool() -> None:
    assert texts(met(run("slow.v@2", ("clock", "zone", 1, False), ("clock", None, 1, True)))) == [
        "slow.v@2:clock"
    ]


def test_hits_by_place_in_a_batch_stay_what_they_were() -> None:
    bodies = (
        call(1, R, "a", 1, (1, 0)),
        call(2, R, "b", 1, (1, 1)),
        injected("slow.v@1..+member=2", 2, R, "b", 1),
    )
    assert texts(met(trace(*bodies, rules=["slow.v@1..+member=2"]))) == ["slow.v:read_file(b)"]


def test_faults_at_the_model_seam_are_not_met_again() -> None:
    body = Injected("slow.v", "slow.v", "m", None, 1, "model", None, 1)
    assert met(trace(Asked(1, 0, ()), body, rules=["slow.v"])) == ()


def test_rules_keep_the_order_of_the_plan() -> None:
    bodies = (call(1, R, "a"), injected("slow.v", 1, R, "a", 1), injected("slow.w", 1, R, "a", 1))
    assert [r.variant for r in met(trace(*bodies, rules=["slow.w", "slow.v"]))] == ["w", "v"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), min_size=1, max_size=12))
def test_what_was_met_hits_the_same_calls_again(calls: list[tuple[str, bool]]) -> None:
    numbered: list[tuple[str, str | None, int, bool]] = []
    for target, hit in calls:
        numbered.append((R, target, 1 + sum(t == target for _, t, _, _ in numbered), hit))
    rules = met(run("50%slow.v", *numbered))
    again = [
        any(matches(rule, R, target) and due(rule, nth, 0, R, target, "") for rule in rules)
        for _, target, nth, _ in numbered
    ]
    assert again == [hit for *_, hit in numbered]


CELLS = tuple(
    Rule(f, v, n, tool=t)
    for f in ("x", "y")
    for v in ("p", "q", "r")
    for t in ("read", "write")
    for n in (1, 2, 3)
)


def test_a_sample_is_drawn_from_the_seed_and_keeps_the_order() -> None:
    drawn = sample(CELLS, 8, 1)
    assert drawn == sample(CELLS, 8, 1)
    assert drawn != sample(CELLS, 8, 2)
    assert list(drawn) == sorted(drawn, key=CELLS.index)
    assert len(set(drawn)) == 8


@given(st.integers(0, 40), st.integers(0, 9))
def test_a_sample_covers_before_it_repeats(n: int, seed: int) -> None:
    drawn = sample(CELLS, n, seed)
    assert len(drawn) == min(n, len(CELLS))
    assert len({rule.fault for rule in drawn}) == min(n, 2)
    assert len({(rule.fault, rule.variant, rule.tool) for rule in drawn}) == min(n, 12)


def test_a_sample_of_pairs_finds_the_rule_in_each() -> None:
    pairs = [(scenario, rule) for scenario in ("s1", "s2") for rule in CELLS]
    drawn = sample(pairs, 12, 3)
    assert len({(rule.fault, rule.variant, rule.tool) for _, rule in drawn}) == 12
    assert len({scenario for scenario, _ in drawn}) == 2


def at_the_model(*variants: Variant) -> Fault:
    return fault("cut", *variants, seam="model")


def asked_by_turns(*tools: str) -> Trace:
    """A call of each tool in turn, and the result of each in the next request; then the last word."""
    bodies: list[Body] = [Asked(1, 0, ({"role": "user"},))]
    for turn, tool in enumerate(tools, 1):
        asked = {
            "id": f"c{turn}",
            "type": "function",
            "function": {"name": tool, "arguments": '{"path": "a"}'},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [asked]}
        result = {"role": "tool", "tool_call_id": f"c{turn}"}
        bodies += [Replied(turn, message), Asked(turn + 1, 2 * turn - 1, (message, result))]
    return trace(*bodies, Replied(len(tools) + 1, {"role": "assistant", "content": "DONE"}))


def test_the_model_seam_is_tried_at_the_first_request_the_last_and_the_one_after_the_last_change() -> None:
    everywhere = at_the_model(Variant("v", "m", lasts=("once",)))
    long = asked_by_turns("read_file", "write_file", "read_file", "read_file", "read_file")
    assert texts(cells(long, [everywhere])) == ["cut.v", "cut.v@3", "cut.v@6"]
    assert texts(cells(asked_by_turns(*["read_file"] * 6), [everywhere])) == ["cut.v", "cut.v@4", "cut.v@7"]
    short = asked_by_turns("read_file", "write_file")
    assert texts(cells(short, [everywhere])) == ["cut.v", "cut.v@2", "cut.v@3"]


@pytest.mark.parametrize(
    ("need", "where"),
    [
        ("call", ["cut.v", "cut.v@2"]),
        ("argument", ["cut.v", "cut.v@2"]),
        ("text_argument", ["cut.v", "cut.v@2"]),
        ("required", ["cut.v@2"]),
        ("calls", []),
        ("text", ["cut.v@3"]),
    ],
)
def test_what_a_reply_must_hold(need: str, where: list[str]) -> None:
    needy = at_the_model(Variant("v", "m", lasts=("once",), needs=(need,)))
    assert texts(cells(asked_by_turns("read_file", "write_file"), [needy])) == where


def test_what_is_an_effect_or_a_command_is_not_to_be_repeated_nor_what_nobody_knows() -> None:
    needy = at_the_model(Variant("v", "m", lasts=("once",), needs=("repeatable",)))
    assert texts(cells(asked_by_turns("charge", "read_file"), [needy])) == ["cut.v@2"]
    assert texts(cells(asked_by_turns("run_command", "write_file"), [needy])) == ["cut.v@2"]
    assert texts(cells(asked_by_turns("strange", "read_file"), [needy])) == ["cut.v@2"]


def test_who_cannot_be_cancelled_is_not() -> None:
    caller = fault("stop", Variant("v", "m", lasts=("once",)), seam="caller")
    (began, *rest) = CLEAN
    assert isinstance(began.body, Started)
    able = (replace(began, body=replace(began.body, cancels=True)), *rest)
    assert texts(cells(able, [caller])) == ["stop.v:read_file(a.csv)", "stop.v@2:read_file(a.csv)"]
    assert texts(cells(CLEAN, [caller])) == []


def test_a_variant_of_the_turns_is_tried_on_each_message_after_the_first_where_the_agent_keeps_to_it() -> (
    None
):
    window = fault("cut", Variant("v", "m", lasts=("once",)), seam="turn")
    talk = trace(call(1, "read_file", "a"), Noted("turn", {"turn": 2}), Noted("turn", {"turn": 3}))
    assert texts(cells(talk, [window])) == []
    keeps = tuple(
        replace(event, body=replace(event.body, windows=True)) if isinstance(event.body, Started) else event
        for event in talk
    )
    assert texts(cells(keeps, [window])) == ["cut.v@2", "cut.v@3"]
    assert texts(cells(keeps, [window], [parse("cut:read_file")])) == []
