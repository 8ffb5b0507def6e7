"""An order crosses processes; a trial's id is the same in every process."""

from __future__ import annotations

import json

from forge_chaos.order import Order, trial_id


def test_round_trip() -> None:
    order = Order("t1", "sum", ("timeout@1..", "missing_file"), 7, 2, "clean")
    assert Order.from_json(json.loads(json.dumps(order.to_json()))) == order


def test_equal_trials_have_equal_ids_for_ever() -> None:
    assert trial_id("sum", "pkg:agent", ("timeout",), 7, 0) == "t6d6069e1e50f24f1"


def test_each_part_makes_another_trial() -> None:
    ids = {
        trial_id("sum", "a", ("x", "y"), 1, 0),
        trial_id("sun", "a", ("x", "y"), 1, 0),
        trial_id("sum", "b", ("x", "y"), 1, 0),
        trial_id("sum", "a", ("x,y",), 1, 0),
        trial_id("sum", "a", ("y", "x"), 1, 0),
        trial_id("sum", "a", ("x", "y"), 2, 0),
        trial_id("sum", "a", ("x", "y"), 1, 1),
    }
    assert len(ids) == 7
