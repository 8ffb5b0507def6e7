from __future__ import annotations

from forge_chaos.personas.stubborn import ending
from tests.modelserver import small
from tests.modelserver.test_live import BUDGET, live


def test_it_makes_the_same_call_until_the_budget_ends_it() -> None:
    world = small.World(small.hits("read_file", "refused"))
    assert live(small.SUM, "stubborn", world)[0] == "refused budget"
    assert world.calls == [("read_file", {"path": "orders.csv"})] * BUDGET


def test_it_succeeds_when_the_trouble_ends() -> None:
    world = small.World(small.hits("read_file", "missing", 1, 20))
    assert live(small.SUM, "stubborn", world)[0].endswith("DONE")
    assert len(world.calls) == 22


def test_its_ending_is_honest() -> None:
    assert ending(ValueError("no")) == "FAILED: ValueError: no"
