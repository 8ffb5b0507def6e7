from __future__ import annotations

from forge_chaos.personas.naive import ending
from tests.modelserver import small
from tests.modelserver.test_live import live


def test_it_carries_on_and_says_done() -> None:
    world = small.World(small.hits("charge", "timeout"))
    assert live(small.CHARGE, "naive", world)[0] == "DONE"
    assert not world.reached(small.CHARGE)
    assert [name for name, _ in world.calls] == ["read_file", "charge"]


def test_it_says_done_when_it_can_go_no_further() -> None:
    world = small.World(small.hits("read_file", "missing"))
    assert live(small.SUM, "naive", world)[0] == "DONE"
    assert ending(ValueError("anything")) == "DONE"


def test_trouble_that_the_task_provides_for_is_none() -> None:
    world = small.World(small.hits("read_file", "missing", 1, 1))
    assert live(small.BATCH, "naive", world)[0] == "DONE"
    assert world.files["out/total.txt"] == "5"
