"""The next move of a scripted model: a pure function of what the request shows and of a ledger.

The solution is run from its start. Each call that it wants takes the oldest unused visible reply of the
same key; the first calls without a reply ARE the next move. Reordered results, calls that a framework
added, cut histories and dropped calls all fall out of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from forge_chaos.modelserver import keys
from forge_chaos.modelserver.move import Ask, Move, Say
from forge_chaos.modelserver.run import Persona, Run
from forge_chaos.modelserver.trouble import Stuck
from forge_chaos.modelserver.turn import standing
from forge_chaos.modelserver.view import Reply, ToolCall, View
from forge_chaos.nouns import Scenario, ToolSpec

FORGOTTEN = "FAILED: I no longer know the task"


def next_move(
    scenario: Scenario,
    who: Persona,
    view: View,
    ledger: Mapping[str, int],
    specs: Mapping[str, ToolSpec],
    clean: bool = False,
) -> Move:
    """What the persona does in this conversation. `ledger` counts the calls of earlier moves by key.

    Raises SolutionError when `clean` and the solution raised by itself, Misuse when there is none.
    """
    stands = standing(scenario, view)
    if stands is None:
        return Say(FORGOTTEN)
    run = Run(scenario, who, specs, view, ledger, clean, stands)
    try:
        return follow(run, None)
    finally:
        run.close()


def follow(run: Run, replies: tuple[Reply, ...] | None) -> Move:
    """The next move of a solution that is given these replies (None: it is at its start), and after
    them whatever else the conversation shows.

    Waits before calls that are already answered are dropped: that time has passed.
    """
    move = run.send(replies)
    while isinstance(move, Ask):
        found = _answered(run, move)
        if not isinstance(found, tuple):
            return found
        move = run.send(found)
    return move


def _answered(run: Run, ask: Ask) -> tuple[Reply, ...] | Move:
    """The visible replies to all calls that are wanted, or else the move: to ask for those without one."""
    found = [run.mind.take(call) for call in ask.calls]
    replies = tuple(reply for reply in found if reply is not None)
    if len(replies) == len(found):
        return replies
    missing = [call for call, reply in zip(ask.calls, found, strict=True) if reply is None]
    view = run.mind.view or View(None)
    missing = missing[:1] if view.alone else missing
    run.whole = len(missing) == len(found)
    if view.final_only:
        return run.end(Stuck("no more calls are allowed"))
    for call in missing:
        if call.name not in view.tools:
            return run.end(Stuck(f"there is no tool {call.name}"))
    return Ask(_numbered(missing, run.mind.ledger, view, run.turn), ask.wait, ask.text)


def advance(ledger: Mapping[str, int], move: Move) -> Mapping[str, int]:
    """The ledger after this move."""
    if isinstance(move, Say):
        return ledger
    return Counter(ledger) + Counter(call.key for call in move.calls)


def _numbered(
    calls: list[ToolCall], ledger: Mapping[str, int], view: View, turn: int
) -> tuple[ToolCall, ...]:
    """The calls with ids of ours, never the same twice in a trial: each turn has a thousand of its own."""
    used = Counter(call.key for call, _ in view.pairs if call is not None) | Counter(ledger)
    first = 1000 * (turn - 1)
    named = []
    for call in calls:
        named.append(replace(call, id=keys.call_id(call.key, first + used[call.key])))
        used[call.key] += 1
    return tuple(named)
