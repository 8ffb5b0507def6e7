from __future__ import annotations

from forge_chaos.specimens import pairing
from tests.specimens.playing import play, sent

ONE = "tool_exception.runtime:read_file(orders.csv)"
OF_THREE = "tool_exception.runtime:read_file(south.txt)"


def answered(messages: list[dict[str, object]]) -> list[object]:
    return [message.get("tool_call_id") for message in messages if message["role"] == "tool"]


def test_drops_id_of_errors_alone() -> None:
    messages = sent(play(pairing.drops_id, "sum_orders", ONE))
    assert answered(messages)[0] is None
    assert None not in answered(sent(play(pairing.drops_id, "sum_orders")))


def test_loses_siblings_keeps_the_error() -> None:
    messages = sent(play(pairing.loses_siblings, "three_reads", OF_THREE))
    first = next(n for n, message in enumerate(messages) if message["role"] == "tool")
    assert "internal error" in messages[first]["content"]
    assert [message["role"] for message in messages].count("tool") == 1


def test_answers_twice() -> None:
    ids = answered(sent(play(pairing.answers_twice, "sum_orders", ONE)))
    assert ids[0] == ids[1]


def test_swaps_nothing_while_all_come_in_order() -> None:
    trial = play(pairing.swaps, "three_reads", OF_THREE)
    assert trial.judgement.acceptable, str(trial)
