from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from forge_chaos.modelserver.move import Ask, Say
from forge_chaos.modelserver.player import Player
from forge_chaos.modelserver.run import persona
from forge_chaos.modelserver.script import advance, next_move
from forge_chaos.modelserver.view import Pair, Reply, View
from forge_chaos.nouns import Scenario
from forge_chaos.reference import use
from tests.modelserver import small

TOOLS = frozenset(small.SPECS)
CUTS = ("", "", "", "oldest", "newest", "half", "swap", "task", "final")


def mangled(pairs: list[Pair], cut: str, task: str) -> View:
    shown = list(pairs)
    if cut == "oldest":
        shown = shown[2:]
    elif cut == "newest":
        shown = shown[:-1]
    elif cut == "half" and shown:
        shown[0] = (None, shown[0][1])
    elif cut == "swap":
        shown.reverse()
    tools = frozenset[str]() if cut == "final" else TOOLS
    return View("lost" if cut == "task" else task, tuple(shown), tools, cut == "final")


@settings(max_examples=150, deadline=None)
@given(
    scenario=st.sampled_from(small.SCENARIOS),
    who=st.sampled_from(small.PERSONAS),
    rules=st.dictionaries(
        st.tuples(st.sampled_from(sorted(small.SPECS)), st.integers(1, 3)),
        st.sampled_from(small.KINDS),
        max_size=4,
    ),
    cuts=st.lists(st.sampled_from(CUTS), max_size=14),
)
def test_a_continued_solution_makes_the_moves_of_a_replayed_one(
    scenario: Scenario, who: str, rules: dict[tuple[str, int], str], cuts: list[str]
) -> None:
    world = small.World(lambda name, args, nth: rules.get((name, nth)))
    player, ledger = Player(scenario, persona(who), small.SPECS), dict[str, int]()
    pairs: list[Pair] = []
    for cut in [*cuts, *[""] * 6]:
        view = mangled(pairs, cut, scenario.prompt)
        expected = next_move(scenario, persona(who), view, ledger, small.SPECS)
        assert player.move(view) == expected
        ledger = dict(advance(ledger, expected))
        if isinstance(expected, Say):
            continue
        world.pass_time(expected.wait)
        for call in expected.calls:
            text, _ = asyncio.run(use(world, call.name, call.args))
            pairs.append((call, Reply(text)))


def conversation(player: Player, world: small.World, prompt: str) -> list[Any]:
    pairs: list[Pair] = []
    moves: list[Any] = []
    while not moves or isinstance(moves[-1], Ask):
        moves.append(player.move(View(prompt, tuple(pairs), TOOLS)))
        if isinstance(moves[-1], Ask):
            for call in moves[-1].calls:
                text, _ = asyncio.run(use(world, call.name, call.args))
                pairs.append((call, Reply(text)))
    return moves


def test_an_undisturbed_conversation_is_continued_not_replayed() -> None:
    player = Player(small.BATCH, persona("expert"), small.SPECS)
    moves = conversation(player, small.World(), small.BATCH.prompt)
    assert player.continued == len(moves) - 1


def test_a_retry_gets_the_same_move_with_the_same_ids() -> None:
    player = Player(small.SUM, persona("expert"), small.SPECS)
    view = View(small.SUM.prompt, (), TOOLS)
    first = player.move(view)
    assert player.move(view, retry=True) == first
    assert player.move(view) != first  # asked anew, so under another id


def test_a_move_that_never_arrived_is_taken_back() -> None:
    player = Player(small.SUM, persona("expert"), small.SPECS)
    view = View(small.SUM.prompt, (), TOOLS)
    first = player.move(view)
    player.withdraw()
    assert player.move(view) == first
