"""Making a plan smaller: the end is 1-minimal, and known failures cost little."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.fuzzing.minimal import Rules, minimal, ordered, smaller
from forge_chaos.notation import parse, write
from forge_chaos.nouns import Rule
from forge_chaos.space import space

CALLS = "abcde"
SPACE = space(
    [
        parse(f"{fault}.{variant}{lasts}:read({call})")
        for call in CALLS
        for fault, variant in (("cut", "head"), ("cut", "tail"), ("gone", "never"))
        for lasts in ("", "@1..")
    ],
    (("cut", "head"), ("cut", "tail"), ("gone", "never")),
)


def shrunk(plan: str, fails: Callable[[Rules], bool]) -> tuple[list[str], list[Rules]]:
    """The minimal plan as text, and the plans on the way to it."""
    way: list[Rules] = []
    end = minimal(tuple(map(parse, plan.split())), SPACE, fails, way.append)
    return [write(rule) for rule in end], way


def hits(plan: Rules, call: str, fault: str = "") -> bool:
    return any(rule.target == call and rule.fault.startswith(fault) for rule in plan)


def test_what_needs_two_keeps_two() -> None:
    found, way = shrunk(
        "gone.never@1..:read(e) cut.tail@1..:read(b) cut.head:read(d) gone.never:read(c)",
        lambda plan: hits(plan, "b") and hits(plan, "d"),
    )
    assert found == ["cut.head:read(b)", "cut.head:read(d)"]
    assert all(hits(plan, "b") and hits(plan, "d") for plan in way)


def test_what_needs_a_class_keeps_it() -> None:
    found, _ = shrunk(
        "gone.never@1..:read(e) cut.tail:read(c)", lambda plan: any(rule.fault == "gone" for rule in plan)
    )
    assert found == ["gone.never:read(a)"]


def test_what_must_last_lasts_as_long_as_it_must_and_no_longer() -> None:
    def lasting(rule: Rule) -> bool:
        return rule.target == "c" and (rule.last is None or rule.last > 1)

    found, _ = shrunk("cut.tail@1..:read(c)", lambda plan: any(map(lasting, plan)))
    assert found == ["cut.head@1..2:read(c)"]


def test_the_shortest_rule_elsewhere_is_simpler_than_a_longer_one_here() -> None:
    def fails(plan: Rules) -> bool:
        return any(rule.last != 1 and rule.target == "b" for rule in plan) or hits(plan, "e")

    found, _ = shrunk("cut.head@1..2:read(b)", fails)
    assert found == ["cut.head:read(e)"]


def test_one_rule_is_never_taken_away() -> None:
    assert shrunk("cut.head:read(a)", lambda plan: True)[0] == ["cut.head:read(a)"]


@given(
    st.lists(st.sampled_from(SPACE.rules), min_size=1, max_size=4, unique=True),
    st.sets(st.sampled_from(CALLS), min_size=1, max_size=2),
)
def test_no_step_from_the_end_fails(plan: list[Rule], needed: set[str]) -> None:
    def fails(plan: Rules) -> bool:
        return all(hits(plan, call) for call in needed)

    start = ordered(plan, SPACE)
    if fails(start):
        end = minimal(start, SPACE, fails, lambda plan: None)
        assert fails(end)
        assert not any(fails(step) for step in smaller(end, SPACE))
        assert len(end) == len(needed)


def test_what_ends_the_search_comes_through() -> None:
    def fails(plan: Rules) -> bool:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        shrunk("cut.head:read(b)", fails)


def test_a_plan_is_in_the_order_of_the_calls_and_holds_no_rule_twice() -> None:
    one, other = parse("cut.head:read(b)"), parse("gone.never:read(a)")
    assert ordered([one, other, one], SPACE) == (other, one)
