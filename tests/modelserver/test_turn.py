"""Which of the user's messages a conversation stands at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from forge_chaos.modelserver.move import Ask, Say
from forge_chaos.modelserver.player import Player
from forge_chaos.modelserver.run import persona
from forge_chaos.modelserver.script import FORGOTTEN
from forge_chaos.modelserver.turn import standing
from forge_chaos.modelserver.view import Reply, ToolCall, View
from forge_chaos.nouns import Turn

from . import small

READ = ToolCall("read_file", {"path": "note.txt"})


async def read(task: Any, tools: Any) -> str:
    return f"{task.turn}: {await tools.read_file(path='note.txt', expect=str)}"


TWO = replace(small.SUM, prompt="Read the note.", solve=read, turns=(Turn("Read it once more.", read),))
TOOLS = frozenset(("read_file",))


def view(*pairs: tuple[ToolCall, Reply | None], said: tuple[tuple[str, int], ...] = ()) -> View:
    return View("Read the note.\n\nEnd with DONE.", pairs, TOOLS, said=said)


def player() -> Player:
    return Player(TWO, persona("expert"), small.SPECS)


def test_it_stands_at_the_newest_message_that_is_shown() -> None:
    first = standing(TWO, view())
    second = standing(TWO, view((READ, Reply("x")), said=(("Read it  once\nmore.", 1),)))
    assert (first and first.turn, first and first.start) == (1, 0)
    assert (second and second.turn, second and second.start) == (2, 1)


def test_a_message_that_was_said_again_stands_where_it_was_said_first() -> None:
    found = standing(TWO, view(said=(("Read it once more.", 1), ("Interrupted. Read it once more.", 2))))
    assert (found and found.turn, found and found.start) == (2, 1)
    again = standing(TWO, view((READ, Reply("x")), said=(("Do this now: Read the note.", 1),)))
    assert (again and again.turn, again and again.start) == (1, 0)


def test_a_history_without_any_of_them_is_known_for_that() -> None:
    assert standing(TWO, View("something else", said=(("and more", 0),))) is None
    assert player().move(View("something else", (), TOOLS)) == Say(FORGOTTEN)


def test_replies_from_before_the_message_are_not_used_and_ids_are_new() -> None:
    model = player()
    (before,) = _calls(model.move(view()))
    assert model.move(view((before, Reply("old")))) == Say("1: old")
    later = (("Read it once more.", 1),)
    (after,) = _calls(model.move(view((before, Reply("old")), said=later)))
    assert (after.key, after.id != before.id) == (before.key, True)
    assert model.move(view((before, Reply("old")), (after, Reply("new")), said=later)) == Say("2: new")


def test_what_was_done_before_an_interruption_is_done() -> None:
    model = player()
    (before,) = _calls(model.move(view()))
    again = (("The last turn was interrupted. Do this now: Read the note.", 1),)
    assert model.move(view((before, Reply("old")), said=again)) == Say("1: old")


def _calls(move: Ask | Say) -> tuple[ToolCall, ...]:
    assert isinstance(move, Ask)
    return move.calls
