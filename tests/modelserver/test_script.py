from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from forge_chaos.modelserver.move import Ask, Move, Say
from forge_chaos.modelserver.run import persona
from forge_chaos.modelserver.script import FORGOTTEN, advance, next_move
from forge_chaos.modelserver.view import Pair, Reply, ToolCall, View
from forge_chaos.nouns import Scenario
from tests.modelserver import small

EXPERT = persona("expert")
TOOLS = frozenset(small.SPECS)
ORDERS = ToolCall("read_file", {"path": "orders.csv"})
WRITE = ToolCall("write_file", {"path": "out/total.txt", "text": "42"})
TABLE = Reply("id,amount\nA,10\nB,32\n")
ORDER = ToolCall("read_file", {"path": "order.json"})
CHARGE = ToolCall("charge", {"order": "O7", "amount": 30})


def moved(
    pairs: tuple[Pair, ...],
    ledger: Mapping[str, int] | None = None,
    scenario: Scenario = small.SUM,
    who: str = "expert",
) -> Move:
    return next_move(scenario, persona(who), View(scenario.prompt, pairs, TOOLS), ledger or {}, small.SPECS)


def asked(move: Move) -> list[str]:
    assert isinstance(move, Ask)
    return [call.name for call in move.calls]


def test_the_first_call_without_a_reply_is_the_next_move() -> None:
    assert asked(moved(())) == ["read_file"]
    move = moved(((ORDERS, TABLE),))
    assert isinstance(move, Ask)
    assert move.calls[0].args == WRITE.args


def test_one_call_a_turn_where_the_wire_wants_no_more() -> None:
    first: list[list[str]] = []
    rest: tuple[Pair, ...] = ()
    for alone in (False, True, True):
        view = View(small.BATCH.prompt, rest if alone else (), TOOLS, alone=alone)
        move = next_move(small.BATCH, persona("expert"), view, {}, small.SPECS)
        assert isinstance(move, Ask)
        first.append([call.args["path"] for call in move.calls])
        rest = ((move.calls[0], Reply("1")),)
    assert first == [["a.txt", "b.txt", "c.txt"], ["b.txt"], ["a.txt"]]


def test_ids_carry_the_key_and_are_never_the_same_twice() -> None:
    first = moved(())
    assert isinstance(first, Ask)
    assert first.calls[0].id == f"call_{ORDERS.key}_0"
    ledger = advance({}, first)
    again = moved((), ledger)  # the reply was cut from the history
    assert isinstance(again, Ask)
    assert again.calls[0].id == f"call_{ORDERS.key}_1"


def test_replies_are_matched_by_key_not_by_place_or_arguments() -> None:
    mangled = ToolCall("read_file", {"raw": "?"}, f"call_{ORDERS.key}_0")
    foreign = ToolCall("think", {"about": "it"})
    pairs = ((foreign, Reply("hm")), (WRITE, Reply("wrote 2 characters to out/total.txt")), (mangled, TABLE))
    assert asked(moved(pairs)) == ["read_file"]  # the write's read-back
    move = moved(pairs)
    assert isinstance(move, Ask)
    assert move.calls[0].args == {"path": "out/total.txt"}


def test_equal_calls_take_their_replies_in_order() -> None:
    pairs = ((ORDERS, Reply("timed out")), (ORDERS, TABLE))
    assert asked(moved(pairs)) == ["write_file"]
    assert asked(moved(pairs[:1])) == ["read_file"]


def test_what_is_said_goes_with_the_calls_that_are_left_to_ask() -> None:
    async def solve(task: Any, tools: Any) -> str:
        await tools.say("First.")
        await tools.read_file(path="a")
        await tools.say("Then.")
        await tools.read_file(path="b")
        return "DONE"

    scenario = small.scenario("aloud", solve)
    first = next_move(scenario, EXPERT, View(scenario.prompt, (), TOOLS), {}, small.SPECS)
    assert isinstance(first, Ask)
    shown = View(scenario.prompt, ((first.calls[0], Reply("text")),), TOOLS)
    second = next_move(scenario, EXPERT, shown, {}, small.SPECS)
    assert isinstance(second, Ask)
    assert (first.text, second.text) == ("First.", "Then.")


def test_waits_before_answered_calls_are_dropped() -> None:
    busy = Reply("503, retry after 7 s")
    move = moved(((ORDERS, busy),))
    assert isinstance(move, Ask)
    assert move.wait == 7.0
    move = moved(((ORDERS, busy), (ORDERS, TABLE)))
    assert isinstance(move, Ask)
    assert move.wait == 0.0


@pytest.mark.parametrize("task", [None, "", "something else", "Task sum: do"])
def test_a_model_without_its_task_says_so(task: str | None) -> None:
    assert next_move(small.SUM, EXPERT, View(task, (), TOOLS), {}, small.SPECS) == Say(FORGOTTEN)


def test_the_task_is_known_with_other_white_space_and_more_around_it() -> None:
    told = "You are helpful.\n\n" + small.SUM.prompt.replace(" ", "\n  ") + "\n\nEnd with DONE."
    assert next_move(small.SUM, EXPERT, View(told, (), TOOLS), {}, small.SPECS) != Say(FORGOTTEN)


def test_an_answer_that_is_lost_again_and_again_is_given_up() -> None:
    assert asked(moved((), {ORDERS.key: 2})) == ["read_file"]
    move = moved((), {ORDERS.key: 3})
    assert move == Say("FAILED: read_file: lost: the conversation keeps losing this answer")


def test_before_an_effect_an_incomplete_history_is_looked_into() -> None:
    whole = ((ORDER, Reply('{"id": "O7", "amount": 30}')),)
    assert asked(moved(whole, {ORDER.key: 1}, small.CHARGE)) == ["charge"]
    assert asked(moved(whole, {ORDER.key: 1, CHARGE.key: 1}, small.CHARGE)) == ["list_charges"]
    back = ToolCall("list_charges", {"order": "O7"})
    done = (*whole, (back, Reply('[{"order": "O7", "amount": 30}]')))
    assert moved(done, {ORDER.key: 1, CHARGE.key: 1, back.key: 1}, small.CHARGE) == Say("DONE")


def test_a_lost_effect_without_a_read_back_is_not_repeated() -> None:
    remove = ToolCall("remove", {"path": "order.json"})
    move = moved((), {remove.key: 1}, small.REMOVE)
    assert isinstance(move, Say)
    assert move.text.startswith("FAILED: remove: unclear: ")


def test_a_last_answer_is_given_without_calls() -> None:
    view = View(small.SUM.prompt, ((ORDERS, TABLE),), frozenset(), final_only=True)
    assert next_move(small.SUM, EXPERT, view, {}, small.SPECS) == Say("FAILED: no more calls are allowed")
    assert next_move(small.SUM, persona("naive"), view, {}, small.SPECS) == Say("DONE")


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    view = View(small.SUM.prompt, ((ORDERS, TABLE),), frozenset({"read_file"}))
    assert next_move(small.SUM, EXPERT, view, {}, small.SPECS) == Say("FAILED: there is no tool write_file")


def test_the_ledger_counts_calls_by_key() -> None:
    move = Ask((ORDERS, ORDERS, WRITE))
    assert advance({ORDERS.key: 1}, move) == {ORDERS.key: 3, WRITE.key: 1}
    assert advance({ORDERS.key: 1}, Say("DONE")) == {ORDERS.key: 1}
