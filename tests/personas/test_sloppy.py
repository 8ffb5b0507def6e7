from __future__ import annotations

import json
from typing import Any

from forge_chaos.events import Called, Replied, find
from forge_chaos.modelserver.chat import view
from forge_chaos.modelserver.move import Ask
from forge_chaos.modelserver.run import persona
from forge_chaos.modelserver.script import next_move
from forge_chaos.modelserver.view import UNREAD
from forge_chaos.personas.sloppy import ending
from tests.conformance import table
from tests.modelserver import small
from tests.modelserver.test_live import live


def test_it_does_its_task_where_nothing_goes_wrong() -> None:
    world = small.World()
    assert live(small.SUM, "sloppy", world)[0].endswith("DONE")
    assert all(UNREAD not in args for _, args in world.calls)


def test_after_trouble_its_arguments_are_no_json_and_never_the_same() -> None:
    world = small.World(small.hits("read_file", "timeout", 1, 1))
    assert live(small.SUM, "sloppy", world)[0].startswith("FAILED: read_file")
    first, *others = [args for _, args in world.calls]
    assert first == {"path": "orders.csv"}
    assert [list(args) for args in others] == [[UNREAD]] * 2
    texts = [args[UNREAD] for args in others]
    assert all(json.dumps(first).startswith(text) for text in texts)
    assert len(texts[0]) < len(texts[1]) < len(json.dumps(first))


def test_over_the_wire_they_go_out_as_they_are() -> None:
    trial = table.play("sum_orders", "tool_exception.runtime:read_file(orders.csv)", by=table.bench("sloppy"))
    replies = [body.message for _, body in find(trial.trace, Replied)]
    calls = [call["function"] for reply in replies for call in (reply or {}).get("tool_calls", ())]
    assert [call["arguments"] for call in calls] == [
        '{"path": "orders.csv"}',
        '{"path": "o',
        '{"path": "orders',
    ]
    assert [body.args for _, body in find(trial.trace, Called)] == [{"path": "orders.csv"}]


def test_a_broken_call_in_the_conversation_is_copied() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "or'}}
    messages = [
        {"role": "user", "content": small.SUM.prompt},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "ValueError: the arguments are no JSON object"},
    ]
    tools = [spec.openai() for spec in small.SPECS.values()]
    shown = view({"messages": messages, "tools": tools})
    move = next_move(small.SUM, persona("sloppy"), shown, {}, small.SPECS)
    assert isinstance(move, Ask)
    assert [list(asked.args) for asked in move.calls] == [[UNREAD]]
    good = next_move(small.SUM, persona("expert"), shown, {}, small.SPECS)
    assert isinstance(good, Ask)
    assert [asked.args for asked in good.calls] == [{"path": "orders.csv"}]


def test_its_ending_is_honest() -> None:
    assert ending(ValueError("no")) == "FAILED: ValueError: no"


def test_a_good_call_of_before_is_not_asked_for_again() -> None:
    """What it has seen since does not change what it asked then."""
    first = {"name": "read_file", "arguments": '{"path": "orders.csv"}'}
    broken = {"name": "write_file", "arguments": '{"path": "to'}
    messages: list[dict[str, Any]] = [{"role": "user", "content": small.SUM.prompt}]
    for id, function, text in (
        ("a", first, "id,amount\nA,1\nB,2\n"),
        ("b", broken, "ValueError: no JSON object"),
    ):
        call = {"id": id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": id, "content": text})
    shown = view({"messages": messages, "tools": [spec.openai() for spec in small.SPECS.values()]})
    move = next_move(small.SUM, persona("sloppy"), shown, {}, small.SPECS)
    assert isinstance(move, Ask)
    assert [(call.name, list(call.args)) for call in move.calls] == [("write_file", [UNREAD])]
