"""Every fault of the model's replies over every wire, plain and streamed: what a client gets there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos import catalog
from forge_chaos.events import Injected, find
from forge_chaos.modelgate import ModelSeat
from forge_chaos.modelserver import sse, wires
from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Rule
from tests.modelserver import small
from tests.modelserver.test_server import CHAT, FIRST, MESSAGES, PATHS, RESPONSES, asking
from tests.test_modelgate import drive

FAULTS = catalog.faults()
WIRES = [(path, streamed) for path in PATHS for streamed in (False, True)]
CALLS = [
    variant.id
    for variant in FAULTS["bad_tool_call"].variants
    if variant.mechanism == "misword" and variant.id != "equal_ids"
]
BROKEN = {
    "broken_json": "{path: orders.csv}",
    "cut_by_length": '{"path": "o',
    "wrong_type": '{"path": {"value": "orders.csv"}}',
    "missing_argument": "{}",
}
REFUSED = {
    "rate_limited": (429, "rate_limit_error", "rate_limit_error"),
    "rate_limited_bare": (429, "rate_limit_error", "rate_limit_error"),
    "internal_error": (500, "server_error", "api_error"),
    "overloaded": (529, "overloaded_error", "overloaded_error"),
    "context_too_long": (400, "invalid_request_error", "invalid_request_error"),
    "quota_gone": (429, "insufficient_quota", "rate_limit_error"),
}


def replied(
    fault: str, variant: str, path: str, streamed: bool, history: list[dict[str, Any]] = FIRST
) -> tuple[int, bytes]:
    """(status, body) of the one reply that the fault hits."""
    rule: Any = catalog.resolve(Rule(fault, variant), FAULTS)

    async def script(seat: ModelSeat, gate: Any, tools: Any) -> tuple[int, bytes]:
        return await seat.door(path, asking(path, history, stream=streamed))

    model = ScriptedModel(small.SUM, "expert", small.SPECS)
    answer, trace = drive(script, [rule], server=model)
    assert len(list(find(trace, Injected))) == 1
    found: tuple[int, bytes] = answer
    return found


def shown(path: str, body: bytes) -> dict[str, Any]:
    """The choice that a client reads out of it, in chat form."""
    wire = wires.at(path)
    assert wire is not None
    native = wire.gather(body) if sse.content_type(body) == sse.EVENTS else json.loads(body)
    completion = wire.completion(native or {}) or {}
    return dict(completion["choices"][0])


def written(call: dict[str, Any]) -> str:
    """Its arguments. Over the messages wire broken ones are a text instead of an object."""
    text = str(call["function"]["arguments"])
    return str(json.loads(text)) if text.startswith('"') else text


@pytest.mark.parametrize(("path", "streamed"), WIRES)
@pytest.mark.parametrize("variant", CALLS)
def test_a_call_that_is_worded_badly_comes_over_every_wire(variant: str, path: str, streamed: bool) -> None:
    status, body = replied("bad_tool_call", variant, path, streamed)
    assert status == 200
    assert (sse.content_type(body) == sse.EVENTS) is streamed
    choice = shown(path, body)
    (call,) = choice["message"]["tool_calls"]
    assert (call["function"]["name"] == "read_file") is (variant != "unknown_tool")
    assert (choice["finish_reason"] == "length") is (variant == "cut_by_length")
    given = written(call)
    if variant in BROKEN:
        assert given == BROKEN[variant]
    elif variant == "huge":
        assert len(given) > 50_000
    elif variant.endswith("_ids"):
        assert call["id"] == {"empty_ids": "", "counted_ids": "call_0"}[variant]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("variant", "written"), [("list", "[]"), ("null", "null"), ("number", "7")])
def test_json_that_is_no_object_stands_in_the_stream_as_it_is(path: str, variant: str, written: str) -> None:
    _, body = replied("bad_tool_call", variant, path, True)
    field = "partial_json" if path == MESSAGES else "delta" if path == RESPONSES else "arguments"
    pieces: list[Any] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            pieces.extend(v for k, v in value.items() if k == field and isinstance(v, str))
            list(map(look, value.values()))
        elif isinstance(value, list):
            list(map(look, value))

    list(map(look, sse.read(body)))
    assert written in pieces


@pytest.mark.parametrize(("path", "streamed"), WIRES)
@pytest.mark.parametrize("variant", sorted(REFUSED))
def test_a_refusal_has_the_status_and_the_form_of_its_provider(
    variant: str, path: str, streamed: bool
) -> None:
    status, body = replied("provider_error", variant, path, streamed)
    expected, ours, theirs = REFUSED[variant]
    told = json.loads(body)
    assert (status, told["error"]["type"]) == (expected, theirs if path == MESSAGES else ours)
    assert (told.get("type") == "error") is (path == MESSAGES)
    assert told["error"]["message"]


@pytest.mark.parametrize(("path", "streamed"), WIRES)
@pytest.mark.parametrize("variant", ["no_choices", "empty_reply", "null_reply"])
def test_a_reply_with_nothing_in_it_comes_over_every_wire(variant: str, path: str, streamed: bool) -> None:
    status, body = replied("provider_error", variant, path, streamed)
    assert status == 200
    assert b"call_" not in body
    if variant == "no_choices" and path == CHAT:
        assert b'"message"' not in body
        assert b'"delta"' not in body
    else:
        assert not shown(path, body)["message"].get("content")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("fault", "variant"), [("bad_tool_call", "stream_cut"), ("provider_error", "cut_after_call")]
)
def test_a_stream_that_breaks_ends_without_its_end(fault: str, variant: str, path: str) -> None:
    status, body = replied(fault, variant, path, True)
    assert status == 200
    assert sse.content_type(body) == sse.EVENTS
    assert b"[DONE]" not in body
    kinds = [str(event.get("type")) for event in sse.read(body)]
    assert not {"message_stop", "message_delta", "response.completed"} & set(kinds)
    assert b'"finish_reason":"' not in body
    assert (b"orders.csv" in body) is (variant == "cut_after_call")


@pytest.mark.parametrize("path", PATHS)
def test_who_does_not_stream_gets_no_answer_when_the_connection_breaks(path: str) -> None:
    with pytest.raises(ConnectionError, match="before the reply was complete"):
        replied("bad_tool_call", "stream_cut", path, False)
