"""When a rule hits a call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.notation import parse, write
from forge_chaos.nouns import Rule
from forge_chaos.schedule import due, last, matches


@pytest.mark.parametrize(
    ("rule", "tool", "target", "index", "expected"),
    [
        ("x", "read_file", None, None, True),
        ("x", "read_file", "a.csv", 3, True),
        ("x:read_*", "read_file", "a.csv", None, True),
        ("x:read_*", "Read_file", "a.csv", None, False),
        ("x:read_file", "read_file2", "a.csv", None, False),
        ("x:read_file(*.csv)", "read_file", "a/b.csv", None, True),
        ("x:read_file(*.csv)", "read_file", "b.txt", None, False),
        ("x:read_file(*.csv)", "read_file", None, None, False),
        ("x:*(a?)", "list", "ab", None, True),
        ("x+member=2", "read_file", None, 1, True),
        ("x+member=2", "read_file", None, 0, False),
        ("x+member=1", "read_file", None, None, False),
    ],
)
def test_matches(rule: str, tool: str, target: str | None, index: int | None, expected: bool) -> None:
    assert matches(parse(rule), tool, target, index) is expected


@pytest.mark.parametrize(
    ("rule", "hit"),
    [("x", [1]), ("x@2", [2]), ("x@2..4", [2, 3, 4]), ("x@3..", [3, 4, 5, 6]), ("100%x", [1, 2, 3, 4, 5, 6])],
)
def test_a_range_is_inclusive(rule: str, hit: list[int]) -> None:
    assert [n for n in range(1, 7) if due(parse(rule), n, 1, "t", None, rule)] == hit


@pytest.mark.parametrize(("rule", "expected"), [("x", 1), ("x@2..4", 4), ("x@2..", None)])
def test_the_last_call_that_a_rule_can_hit(rule: str, expected: int | None) -> None:
    assert [n for n in range(1, 9) if last(parse(rule), n)] == ([] if expected is None else [expected])


def test_with_a_probability_each_hit_stands_alone() -> None:
    assert last(parse("50%x"), 1)
    assert last(parse("50%x@1..9"), 3)


def test_a_probability_is_met_over_many_calls() -> None:
    hits = [due(parse("30%x"), n, 7, "t", "a", "30%x") for n in range(1, 2001)]
    assert 0.25 < sum(hits) / len(hits) < 0.35


def test_a_probability_keeps_to_its_range() -> None:
    rule = parse("99%x@5..6")
    assert not any(due(rule, n, s, "t", None, write(rule)) for n in (1, 4, 7) for s in range(50))


def test_dice_depend_on_every_part() -> None:
    def throws(seed: int = 1, tool: str = "t", target: str | None = "a", text: str = "50%x") -> list[bool]:
        return [due(parse("50%x"), n, seed, tool, target, text) for n in range(1, 65)]

    assert throws() == throws()
    others = [throws(seed=2), throws(tool="u"), throws(target="b"), throws(target=None), throws(text="50%y")]
    assert all(other != throws() for other in others)
    assert len({tuple(other) for other in others}) == len(others)


CALLS = st.lists(st.tuples(st.sampled_from("rw"), st.sampled_from(["a", "b", None])), max_size=12)
RULES = st.lists(
    st.sampled_from(["50%x:r", "x@2:r", "30%y:w(a)", "x@1..2", "70%z:r(b)", "y@2..:*(a)"]), unique=True
)


def decisions(rules: list[Rule], calls: list[tuple[str, str | None]]) -> dict[str, list[bool]]:
    """What each rule decides over the calls that it matches, in order: a gate in eight lines."""
    counts = {write(rule): 0 for rule in rules}
    decided: dict[str, list[bool]] = {text: [] for text in counts}
    on: dict[tuple[str, str | None], int] = {}
    for tool, target in calls:
        on[tool, target] = on.get((tool, target), 0) + 1
        for rule in rules:
            if matches(rule, tool, target):
                counts[text := write(rule)] += 1
                decided[text].append(
                    due(rule, counts[text], 5, tool, target, text, on_target=on[tool, target])
                )
    return decided


@given(RULES, CALLS, st.data())
def test_taking_a_rule_out_leaves_the_others_alone(
    texts: list[str], calls: list[tuple[str, str | None]], data: st.DataObject
) -> None:
    full = decisions([parse(text) for text in texts], calls)
    kept = [text for text in texts if data.draw(st.booleans())]
    assert decisions([parse(text) for text in kept], calls) == {text: full[text] for text in kept}


@given(CALLS, st.data())
def test_the_order_of_other_tools_calls_changes_nothing(
    calls: list[tuple[str, str | None]], data: st.DataObject
) -> None:
    rules = [parse(text) for text in ("50%x:r", "x@2:r", "70%z:r(b)")]
    mine = [call for call in calls if call[0] == "r"]
    shuffled = list(mine)
    for call in calls:
        if call[0] == "w":
            shuffled.insert(data.draw(st.integers(0, len(shuffled))), call)
    assert decisions(rules, shuffled) == decisions(rules, calls)


@given(st.permutations([(t, n) for t in "rwl" for n in (1, 2, 3)]))
def test_arrival_order_changes_no_dice_of_a_rule_over_all_tools(order: list[tuple[str, int]]) -> None:
    rule = parse("50%x")
    by_call = {
        call: due(rule, position, 3, call[0], None, "50%x", on_target=call[1])
        for position, call in enumerate(order, 1)
    }
    assert by_call == {call: due(rule, 1, 3, call[0], None, "50%x", on_target=call[1]) for call in order}
