"""Which of the user's messages a conversation stands at, and what of it belongs to that turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

from forge_chaos.modelserver.view import View
from forge_chaos.nouns import Scenario, Solve


@dataclass(frozen=True, slots=True)
class Standing:
    """The turn, from 1, its prompt and what plays it. `start`: the pairs before it belong to earlier turns."""

    turn: int
    prompt: str
    solve: Solve | None
    start: int = 0

    def part(self, view: View) -> View:
        """What the view shows of this turn."""
        return replace(view, pairs=view.pairs[self.start :]) if self.start else view


def said(scenario: Scenario, number: int) -> Standing:
    """The scenario's message of that number, the last one for any higher."""
    if number == 1 or not scenario.turns:
        return Standing(1, scenario.prompt, scenario.solve)
    turn = scenario.turns[min(number, len(scenario.turns) + 1) - 2]
    return Standing(number, turn.prompt, turn.solve)


def standing(scenario: Scenario, view: View) -> Standing | None:
    """The newest of the scenario's messages that the view shows; None when it shows none.

    A message that was said again, since its turn had been interrupted, stands where it was said first: what
    was done by then is done.
    """
    shown = [*(((view.task, 0),) if view.task is not None else ()), *view.said]
    texts = [(_words(text), place) for text, place in shown]
    for number in range(len(scenario.turns) + 1, 1, -1):
        turn = scenario.turns[number - 2]
        places = [place for text, place in texts if _words(turn.prompt) in text]
        if places:
            return Standing(number, turn.prompt, turn.solve, places[0])
    known = any(_words(scenario.prompt) in text for text, _ in texts)
    return Standing(1, scenario.prompt, scenario.solve) if known else None


def _words(text: str) -> str:
    return " ".join(text.split())


__all__ = ["Standing", "said", "standing"]
