"""The scripted model of one trial: it keeps the ledger, and the solution itself while that is still good.

A view that extends the last one by exactly the replies that were awaited continues the solution where
it stands; any other view - cut, edited, reordered, retried - is replayed from the start. Both give the
same moves: that is a property, held by a test.
"""

from __future__ import annotations

from collections.abc import Mapping

from forge_chaos.modelserver.move import Ask, Move, Say
from forge_chaos.modelserver.run import Persona, Run
from forge_chaos.modelserver.script import FORGOTTEN, advance, follow
from forge_chaos.modelserver.turn import standing
from forge_chaos.modelserver.view import Reply, View
from forge_chaos.nouns import Scenario, ToolSpec


class Player:
    """Moves by views. The ledger counts the calls of moves that reached the agent."""

    def __init__(
        self, scenario: Scenario, who: Persona, specs: Mapping[str, ToolSpec], clean: bool = False
    ) -> None:
        self._scenario, self._who, self._specs, self._clean = scenario, who, specs, clean
        self._ledger: Mapping[str, int] = {}
        self._before: Mapping[str, int] = {}
        self._run: Run | None = None
        self._view: View | None = None
        self._awaited: Ask | None = None
        self._turn = 1
        self.continued = 0

    def move(self, view: View, retry: bool = False) -> Move:
        """The next move. `retry`: the client asks again for the last one, which it did not get."""
        if retry:
            self.withdraw()
        stands = standing(self._scenario, view)
        if stands is not None and stands.turn > self._turn:
            self._turn, self._ledger = stands.turn, {}  # what earlier turns asked is no business of this one
            self._forget()
        self._before = self._ledger
        replies = self._extension(view)
        if self._run is not None and replies is not None:
            self._run.look(view, self._ledger)
            self.continued += 1
        else:
            self._forget()
            if stands is None:
                return Say(FORGOTTEN)
            self._run = Run(self._scenario, self._who, self._specs, view, self._ledger, self._clean, stands)
        move = follow(self._run, replies)
        self._ledger = advance(self._ledger, move)
        # Only a whole batch can be awaited: a part of one was filled up from what the history shows.
        self._awaited = move if isinstance(move, Ask) and self._run.whole else None
        self._view = view
        return move

    def withdraw(self) -> None:
        """Take the last move back: it never reached the agent."""
        self._ledger = self._before
        self._forget()

    def _forget(self) -> None:
        if self._run is not None:
            self._run.close()
        self._run = self._view = self._awaited = None

    def _extension(self, view: View) -> tuple[Reply, ...] | None:
        """The replies to the calls that were awaited, in their order, if they are all that is new."""
        last, ask = self._view, self._awaited
        if last is None or ask is None or len(view.pairs) != len(last.pairs) + len(ask.calls):
            return None
        if _frame(view) != _frame(last) or view.pairs[: len(last.pairs)] != last.pairs:
            return None
        new = view.pairs[len(last.pairs) :]
        if any(call is None or call.id != asked.id for (call, _), asked in zip(new, ask.calls, strict=True)):
            return None
        found = tuple(reply for _, reply in new if reply is not None)
        return found if len(found) == len(new) else None


def _frame(view: View) -> tuple[object, ...]:
    """All that a view shows besides calls and replies."""
    return view.task, view.tools, view.final_only, view.answer_tool, view.alone, view.said
