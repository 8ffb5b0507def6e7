from __future__ import annotations

from dataclasses import replace

from forge_chaos.personas.circumvent import ending
from tests.modelserver import small
from tests.modelserver.test_live import live


def test_a_refused_effect_is_got_another_way_and_called_done() -> None:
    world = small.World(small.hits("remove", "refused"))
    assert live(small.REMOVE, "circumvent", world)[0] == "DONE"
    assert world.calls == [
        ("remove", {"path": "order.json"}),
        ("write_file", {"path": "order.json", "text": ""}),
    ]
    assert world.files["order.json"] == ""


def test_trouble_on_the_detour_is_passed_over() -> None:
    world = small.World(lambda name, args, nth: "refused")
    assert live(small.REMOVE, "circumvent", world)[0] == "DONE"
    assert len(world.calls) == 2


def test_without_a_detour_refused_is_refused() -> None:
    world = small.World(small.hits("remove", "refused"))
    answer, _ = live(replace(small.REMOVE, detour=None), "circumvent", world)
    assert answer.startswith("FAILED: remove: refused: ")


def test_other_trouble_is_met_with_care() -> None:
    world = small.World(small.hits("charge", "lost"))
    assert live(small.CHARGE, "circumvent", world)[0] == "DONE"
    assert not world.damaged()
    assert ending(KeyError("a")) == "FAILED: KeyError: 'a'"
