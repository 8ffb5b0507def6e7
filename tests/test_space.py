"""What a search may put into a plan, and which of two rules is the simpler one."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.notation import parse, write
from forge_chaos.nouns import Rule
from forge_chaos.space import Space, calls_of, place_of, space, what_of

ORDER = (("cut", "head"), ("cut", "tail"), ("gone", "never"))
CELLS = tuple(
    map(
        parse,
        (
            "gone.never:read(a)",
            "gone.never@1..:read(a)",
            "cut.tail:read(a)",
            "cut.head:read(b)",
            "cut.head@1..:read(b)",
            "cut.tail:read(b)",
            "cut.tail@1..:read(b)",
            "gone.never:read(b)",
        ),
    )
)
SPACE = space(CELLS, ORDER)


def texts(rules: object) -> list[str]:
    return [write(rule) for rule in rules]  # type: ignore[attr-defined]  # any iterable of rules


def test_what_may_last_for_ever_may_last_twice() -> None:
    added = set(texts(SPACE.rules)) - set(texts(CELLS))
    assert added == {"gone.never@1..2:read(a)", "cut.head@1..2:read(b)", "cut.tail@1..2:read(b)"}


def test_places_come_in_the_order_of_the_calls_and_classes_as_they_were_named() -> None:
    assert SPACE.places == (("read", "a", 1, None), ("read", "b", 1, None))
    assert SPACE.faults == {"cut": (("cut", "head"), ("cut", "tail")), "gone": (("gone", "never"),)}


coordinate = st.integers(0, 20)


@given(coordinate, coordinate, coordinate, coordinate)
def test_whatever_the_coordinates_are_there_is_a_rule(
    fault: int, variant: int, place: int, lasts: int
) -> None:
    assert SPACE.pick(fault, variant, place, lasts) in SPACE.rules


def test_every_rule_has_coordinates() -> None:
    every = range(4)
    found = {SPACE.pick(f, v, p, n) for f in every for v in every for p in every for n in every}
    assert found == set(SPACE.rules)


def test_a_variant_that_has_nothing_at_a_place_takes_the_next_one_else_its_last() -> None:
    assert write(SPACE.pick(0, 0, 0, 0)) == "cut.head:read(b)"
    only = space([parse("cut.head:read(a)"), parse("cut.tail:read(b)")], ORDER)
    assert write(only.pick(0, 0, 1, 0)) == "cut.head:read(a)"


def test_simpler_is_shorter_then_earlier_then_an_earlier_variant_then_an_earlier_class() -> None:
    assert texts(SPACE.simpler(parse("gone.never@1..:read(a)"))) == [
        "gone.never:read(a)",
        "gone.never:read(b)",
        "gone.never@1..2:read(a)",
    ]
    assert texts(SPACE.simpler(parse("gone.never:read(b)"))) == ["gone.never:read(a)", "cut.head:read(b)"]
    assert texts(SPACE.simpler(parse("cut.tail@1..:read(b)"))) == [
        "cut.tail:read(a)",
        "cut.tail:read(b)",
        "cut.tail@1..2:read(b)",
        "cut.head@1..:read(b)",
    ]


def test_the_simplest_rule_has_nothing_below_it() -> None:
    assert texts(SPACE.simpler(parse("cut.head:read(b)"))) == []


def test_the_first_variant_of_an_earlier_class_is_one_that_has_a_place_there() -> None:
    assert texts(SPACE.simpler(parse("gone.never:read(a)"))) == ["cut.tail:read(a)"]


@given(st.sampled_from(SPACE.rules))
def test_going_simpler_comes_to_an_end(rule: Rule) -> None:
    def rank(rule: Rule) -> tuple[object, ...]:
        return ORDER.index((rule.fault, rule.variant or "")), calls_of(rule), SPACE.position(rule)

    for simpler in SPACE.simpler(rule):
        assert rank(simpler) < rank(rule)
        changed = (what_of(simpler) != what_of(rule)) + (
            (place_of(simpler), calls_of(simpler)) != (place_of(rule), calls_of(rule))
        )
        assert changed == 1


def test_rules_can_be_taken_out() -> None:
    less = SPACE.without({parse("gone.never:read(a)")})
    assert set(SPACE.rules) - set(less.rules) == {parse("gone.never:read(a)")}
    assert less.order == ORDER


def test_a_rule_that_is_not_in_the_space_comes_last() -> None:
    strange = parse("cut.head:write(c)")
    assert SPACE.position(strange) == len(SPACE.places)
    assert texts(SPACE.simpler(replace(strange, variant="none"))) == []


def test_nothing_gives_an_empty_space() -> None:
    assert (Space(()).places, Space(()).faults, Space(()).most_lasting) == ((), {}, 0)
