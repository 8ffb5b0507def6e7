"""Traces of failures and clean trials are kept for ever, of the others a sample that no order changes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.keep import BITS, draw, keep_traces
from forge_chaos.store import Store
from forge_chaos.verdict import Judgement, Trial
from tests.store_writer import create, filled, ids, trace, trial


def keeping(directory: Path, keep: Any, count: int, failing: int = 0, reverse: bool = False) -> set[str]:
    numbers = range(count, 0, -1) if reverse else range(1, count + 1)
    with create(directory, config={"keep_traces": keep}) as store:
        for n in numbers:
            store.add(trial(f"t{n}", acceptable=n > failing), trace(f"t{n}"))
    with Store.open(directory) as store:
        assert len(ids(store)) == count, "every trial is kept, whatever becomes of its trace"
        return traced(store)


def traced(store: Store) -> set[str]:
    """The trials whose traces are there."""
    found = set()
    for id in ids(store):
        with suppress(Misuse):
            assert store.trace(id) == trace(id)
            found.add(id)
    return found


def test_all_traces_are_kept_up_to_the_limit(tmp_path: Path) -> None:
    assert len(keeping(tmp_path / "a", 30, 30)) == 30
    assert len(keeping(tmp_path / "b", "all", 40)) == 40


def test_past_the_limit_failures_and_a_sample_are_kept(tmp_path: Path) -> None:
    kept = keeping(tmp_path / "a", 20, 100, failing=10)
    failures = {f"t{n}" for n in range(1, 11)}
    assert failures <= kept
    assert 5 <= len(kept - failures) <= 20
    assert keeping(tmp_path / "b", 20, 100, failing=10, reverse=True) == kept, "not a matter of the order"


def test_a_trace_that_was_not_kept_says_how_to_get_it(tmp_path: Path) -> None:
    keeping(tmp_path, 0, 1)
    with Store.open(tmp_path) as store, pytest.raises(Misuse) as caught:
        store.trace("t1")
    assert "(--keep-traces 0)" in str(caught.value)
    assert f"forge-chaos replay {tmp_path}:t1" in str(caught.value)


def test_failures_only(tmp_path: Path) -> None:
    assert keeping(tmp_path, "failures", 10, failing=3) == {"t1", "t2", "t3"}


@pytest.mark.parametrize("before", [1, 11, 30, 52, 59])
def test_the_sample_goes_on_after_a_resume(tmp_path: Path, before: int) -> None:
    whole = keeping(tmp_path / "a", 10, 60)
    filled(tmp_path / "b", *(f"t{n}" for n in range(1, before + 1)), config={"keep_traces": 10})
    with Store.open(tmp_path / "b") as store:
        for n in range(before + 1, 61):
            store.add(trial(f"t{n}"), trace(f"t{n}"))
        assert traced(store) == whole


def test_a_trial_run_again_takes_no_room_twice(tmp_path: Path) -> None:
    with create(tmp_path, config={"keep_traces": 3}) as store:
        for id in ("t1", "t2", "t3", "t1", "t2", "t3"):
            store.add(trial(id), trace(id))
        assert traced(store) == {"t1", "t2", "t3"}


def test_clean_traces_are_always_kept_because_the_sweep_starts_from_them(tmp_path: Path) -> None:
    with create(tmp_path, config={"keep_traces": "failures"}) as store:
        store.add(trial("t1", kind="clean"), trace("t1"))
        assert store.trace("t1") == trace("t1")


def test_a_plan_that_met_nothing_is_no_failure_unless_the_goal_was_missed(tmp_path: Path) -> None:
    judgement = Judgement("not_reached", False, False, "")
    with create(tmp_path, config={"keep_traces": "failures"}) as store:
        good: Trial = trial("t1", judgement=judgement)
        bad = trial("t2", judgement=judgement, facts=type(good.facts)(goal="wrong"))
        for one in (good, bad):
            store.add(one, trace(one.id))
        assert store.trace("t2") == trace("t2")
        with pytest.raises(Misuse, match="was not kept"):
            store.trace("t1")


def test_a_trial_that_is_better_the_second_time_leaves_its_trace_to_the_sample(tmp_path: Path) -> None:
    with create(tmp_path, config={"keep_traces": "failures"}) as store:
        store.add(trial("t1", acceptable=False), trace("t1"))
        store.trace("t1")
        store.add(trial("t1"), trace("t1"))
        with pytest.raises(Misuse, match="was not kept"):
            store.trace("t1")


@pytest.mark.parametrize("value", ["some", "-1", -3, None, ""])
def test_a_bad_keep_policy_is_misuse(tmp_path: Path, value: Any) -> None:
    with pytest.raises(Misuse, match="--keep-traces"):
        create(tmp_path, config={"keep_traces": value})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("value", "limit"), [("all", None), ("failures", 0), ("7", 7), (10_000, 10_000)])
def test_the_policies(value: Any, limit: int | None) -> None:
    assert keep_traces(value) == limit


def test_draws_are_spread_evenly() -> None:
    low = sum(draw(f"t{n}") < 1 << (BITS - 2) for n in range(4_000))
    assert 900 < low < 1_100
