from __future__ import annotations

from forge_chaos.personas.impatient import TRIES, ending
from tests.modelserver import small
from tests.modelserver.test_live import live


def test_it_repeats_an_effect_without_looking_whether_it_happened() -> None:
    world = small.World(small.hits("charge", "lost", 1, 1))
    assert live(small.CHARGE, "impatient", world)[0] == "DONE"
    assert world.damaged()


def test_it_gives_up_after_its_tries() -> None:
    world = small.World(small.hits("charge", "timeout"))
    assert live(small.CHARGE, "impatient", world)[0].startswith("FAILED: charge: unclear: ")
    assert [name for name, _ in world.calls].count("charge") == TRIES


def test_it_reads_with_care() -> None:
    world = small.World(small.hits("read_file", "missing", 1, 1))
    assert live(small.SUM, "impatient", world)[0].endswith("DONE")
    assert [name for name, _ in world.calls][:3] == ["read_file", "list_files", "read_file"]
    assert ending(KeyError("a")) == "FAILED: KeyError: 'a'"
