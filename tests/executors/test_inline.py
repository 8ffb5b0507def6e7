"""Inline runs orders on a bench here; what an event loop lets out becomes the end of its trial."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.events import Abandoned, Finished, Snapshot, find
from forge_chaos.executors.inline import inline
from forge_chaos.order import Order
from tests.executors.small_bench import Bench


@pytest.fixture
def executor(tmp_path: Path) -> inline:
    return inline(Bench({"place": str(tmp_path)}))


def test_it_runs_here_in_order(executor: inline) -> None:
    asked = [Order(f"t{n}", "normal", seed=n) for n in range(3)]
    answered = list(executor.run(asked))
    assert [order for order, _ in answered] == asked
    assert all(trace[-1].body == Snapshot({"a": "seen"}) for _, trace in answered)
    assert executor.hello()["pid"] == os.getpid()


def test_orders_are_taken_one_by_one(executor: inline) -> None:
    taken: list[int] = []

    def asked() -> Iterator[Order]:
        for n in range(3):
            taken.append(n)
            yield Order(f"t{n}", "normal")

    answers = executor.run(asked())
    next(answers)
    assert taken == [0]


def test_a_system_exit_is_the_end_of_its_trial_only(executor: inline) -> None:
    (_, left), (_, after) = executor.run([Order("t0", "leaves"), Order("t1", "normal")])
    ((_, finished),) = find(left, Finished)
    assert finished.end == "raised"
    assert finished.error is not None
    assert (finished.error["type"], finished.error["message"]) == ("SystemExit", "enough")
    assert [abandoned for _, abandoned in find(left, Abandoned)] == [Abandoned(2, "raised")]
    assert left[-1].body == Snapshot(known=False)
    assert [f.end for _, f in find(after, Finished)] == ["answered"]


@pytest.mark.parametrize(
    ("agent", "error"), [("interrupts", KeyboardInterrupt), ("refuses", Misuse), ("raises_value", ValueError)]
)
def test_everything_else_comes_through(executor: inline, agent: str, error: type[BaseException]) -> None:
    with pytest.raises(error):
        list(executor.run([Order("t0", agent)]))


def test_close_closes_the_bench(executor: inline, tmp_path: Path) -> None:
    executor.close()
    assert (tmp_path / "closed").exists()
