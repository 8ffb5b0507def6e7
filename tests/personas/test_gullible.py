from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.personas.gullible import Taken, ending
from tests.modelserver import small
from tests.modelserver.test_live import live


def test_it_takes_an_error_for_data_and_says_done() -> None:
    world = small.World(small.hits("read_file", "missing"))
    answer, _ = live(small.SUM, "gullible", world)
    assert answer.endswith("DONE")
    assert world.files["out/total.txt"] == "2"  # of "[Errno 2]"


def test_it_never_asks_twice() -> None:
    world = small.World(small.hits("charge", "timeout"))
    assert live(small.CHARGE, "gullible", world)[0] == "DONE"
    assert len(world.calls) == 2
    assert ending(ValueError("anything")) == "DONE"


@given(st.text())
def test_taken_text_behaves_as_anything(text: str) -> None:
    taken = Taken(text)
    assert [str(row["amount"]) for row in taken] == [text]
    assert sum(int(row["amount"]) for row in taken["items"]) == int(taken)
    assert taken.get("a", {})["b"].strip() is not None
    assert dict(taken.items()) == {text: text}
    assert float(taken) == float(int(taken))
    assert taken.anything.at.all == text
    assert f"{taken}" == text
