"""`--faults` and `--plan`, read."""

from __future__ import annotations

import pytest

from forge_chaos import catalog, notation
from forge_chaos.errors import Misuse
from forge_chaos.wanted import NAMED, Wanted, wanted

KNOWN = catalog.faults()


def read(faults: str | None = None, plan: str | None = None) -> Wanted:
    return wanted(faults, plan, 1, KNOWN)


def plans(found: Wanted) -> list[list[str]]:
    return [[notation.write(rule) for rule in plan] for plan in found.plans]


def test_nothing_is_the_five_named_classes() -> None:
    assert read().classes == NAMED
    assert read().plans == ()


def test_all_is_every_class() -> None:
    assert read(" all ").classes == tuple(KNOWN)
    assert read("all").every
    assert not read(",".join(KNOWN)).every


def test_a_class_is_swept_and_keeps_what_narrows_it() -> None:
    ((fault, narrow),) = read("timeout.hangs:read_*").swept
    assert (fault.id, narrow.variant, narrow.tool) == ("timeout", "hangs", "read_*")


def test_a_wording_is_asked_of_those_that_have_it() -> None:
    ((_, narrow),) = read("truncated_context+text=bare").swept  # its other variants have no words
    assert narrow.text == "bare"
    ((_, narrow),) = read("timeout.partial+text=misleading").swept
    assert (narrow.variant, narrow.text) == ("partial", "misleading")


def test_each_item_with_a_number_or_a_chance_is_a_plan_of_its_own() -> None:
    found = read("timeout@2,missing_file,50%silent_noop")
    assert plans(found) == [["timeout@2"], ["50%silent_noop"]]
    assert found.classes == ("missing_file", "timeout", "silent_noop")


def test_the_rules_of_a_plan_hold_together_and_stand_alone() -> None:
    found = read(plan="timeout@2,missing_file")
    assert plans(found) == [["timeout@2", "missing_file"]]
    assert found.swept == ()


def test_a_plan_goes_with_faults_that_are_asked_for_too() -> None:
    assert read("missing_file", "timeout@2").classes == ("missing_file", "timeout")


@pytest.mark.parametrize(
    ("faults", "plan", "says"),
    [
        ("timeot", None, "no fault 'timeot'. Did you mean 'timeout'"),
        ("timeot@2", None, "no fault 'timeot'"),
        (None, "timeout,timeot", "no fault 'timeot'"),
        ("timeout.hang", None, "no variant of timeout 'hang'"),
        ("timeout.hangs+text=bare", None, "no wording of timeout.hangs 'bare'"),
        ("empty_output+text=bare", None, "no wording of empty_output.text 'bare'"),
        ("", None, "no fault was asked for"),
        (None, "", "no fault was asked for"),
    ],
)
def test_what_does_not_exist_is_refused(faults: str | None, plan: str | None, says: str) -> None:
    with pytest.raises(Misuse, match=says):
        read(faults, plan)
