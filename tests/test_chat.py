from __future__ import annotations

from forge_chaos import chat
from forge_chaos.reading import key, read
from tests.traces import asks, request, says, started, tool, trace, user


def test_the_calls_of_a_message_with_their_keys() -> None:
    (call,) = chat.asked_for(asks(("c1", "read_file", {"path": "a"})))
    assert chat.key_of(call) == ("read_file", key("read_file", {"path": "a"}))
    assert chat.asked_for(says("no calls")) == []
    assert chat.asked_for(None) == []


def test_arguments_that_are_no_json_object_have_no_key() -> None:
    for arguments in ("{", "[]", "null", 7):
        assert chat.key_of({"function": {"name": "t", "arguments": arguments}}) == ("t", None)


def test_calls_without_an_id_are_left_out() -> None:
    assert chat.asked_for({"tool_calls": [{"function": {}}, "x", {"id": None}]}) == []


def test_answers() -> None:
    assert chat.answers(tool("c1", "x")) == "c1"
    assert chat.answers(user()) is None


def test_text_of_parts_and_of_nothing() -> None:
    assert chat.text([{"type": "text", "text": "a"}, "b"]) == "a\nb"
    assert chat.text(None) == ""


def test_length_counts_cut_text_in_full() -> None:
    assert chat.length({"role": "user", "content": "12345"}) == 9
    assert chat.length({"$type": "str", "$head": "ab", "$length": 70_000, "$hash": ""}) == 70_000
    assert chat.length([None, 12]) == 2


def test_histories_put_together_what_was_kept_and_what_is_new() -> None:
    run = trace(
        started(), request(1, 0, user("a"), user("b")), request(2, 1, user("c")), request(3, 2, user("d"))
    )
    texts = [[m["content"] for m in history] for _, _, history in chat.histories(read(run))]
    assert texts == [["a", "b"], ["a", "c"], ["a", "c", "d"]]


def test_a_request_that_keeps_more_than_there_was_ends_the_reading() -> None:
    assert [*chat.histories(read(trace(started(), request(1, 3, user()))))] == []
