from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.events import SHELL, Body, Called, Returned, Told
from forge_chaos.reading import read
from forge_chaos.recorded import plain
from forge_chaos.seen import misplaced, seen
from tests.traces import asks, failed, left_open, reply, request, says, started, tool, trace, user

A = {"path": "a.csv"}
TEXT = "FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'"
ERROR = {"code": "not_found", "type": "FileNotFoundError", "message": TEXT.split(": ", 1)[1], "text": TEXT}


def after(content: Any, error: bool = True, value: Any = None, id: str = "c1") -> str:
    """`seen` of a call that was told the error (or `value`), when this tool message followed."""
    told = Told(error=ERROR) if error else Told(plain(value))
    run = trace(
        started(),
        request(1, 0, user()),
        reply(1, asks(("c1", "read_file", A))),
        [Called(1, "read_file", A), Returned(1, told)],
        request(2, 1, asks(("c1", "read_file", A)), tool(id, content)),
    )
    reading = read(run)
    return seen(reading, reading.steps[0])


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        ERROR["message"],
        f"Tool failed.\n```\n{TEXT}\n```",
        TEXT.upper(),
        json.dumps({"error": TEXT}),
        json.dumps(json.dumps({"error": TEXT})),
        TEXT[:70],
        "\n".join(TEXT[n : n + 20] for n in range(0, len(TEXT), 20)),
        [{"type": "text", "text": TEXT}],
        "An error occurred while running the tool.",
    ],
)
def test_an_error_that_was_shown(content: Any) -> None:
    assert after(content) == "yes"


@pytest.mark.parametrize("content", ["", "ok", "None", "id,amount\n1,2", None])
def test_an_error_that_was_swallowed(content: Any) -> None:
    assert after(content) == "no"


def test_an_answer_under_another_id_is_no_answer_but_its_text_is_looked_for() -> None:
    assert after("ok", id="other") == "no"
    assert after(TEXT, id="other") == "yes"
    assert after(TEXT.upper(), id="other") == "yes"


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ('{"items": [1, 2', '{"items": [1, 2'),
        ("caf\ud800e and more", "caf?e and more"),
        ("12\x0034", "1234"),
        ('\udcff{\n  "count": 7,\n  "payments": []}\n', '?{\n  "count": 7,\n  "payments": []}\n'),
        ('{\n\t"count": 7}\n', json.dumps({"content": '{\n\t"count": 7}\n'})),
        ({"b": 1, "a": ["wide", 2]}, "{'b': 1, 'a': ['wide', 2]}"),
        ("x" * 200_000, "x" * 1000 + " [cut]"),
        ("", "(no output)"),
        (None, "null"),
        (b"\xff\xfe", "some bytes"),
        ('{"items": [1, 2', "the reply is malformed"),
        (7, "7"),
    ],
)
def test_a_value_that_was_shown(value: Any, content: str) -> None:
    assert after(content, error=False, value=value) == "yes"


def test_a_value_that_was_replaced() -> None:
    assert after("all is well", error=False, value='{"items": [1, 2') == "no"


def test_a_text_too_short_to_be_told_from_others_is_unknown_without_its_id() -> None:
    assert after("7", error=False, value=7, id="other") == "unknown"


def test_unknown_when_no_request_followed_or_the_call_was_abandoned() -> None:
    def of(*parts: Body | list[Body]) -> str:
        reading = read(trace(started(), *parts))
        return seen(reading, reading.steps[0])

    assert of(failed(1, "read_file", A, ERROR)) == "unknown"
    assert of(request(1, 0, user(TEXT)), failed(1, "read_file", A, ERROR)) == "unknown"
    assert of(left_open(1, "read_file", A), request(1, 0, user())) == "unknown"


def test_without_chat_messages_the_text_is_looked_for() -> None:
    def of(message: dict[str, Any]) -> str:
        reading = read(trace(started(), failed(1, "read_file", A, ERROR), request(1, 0, message)))
        return seen(reading, reading.steps[0])

    assert of({"type": "function_call_output", "output": TEXT}) == "yes"
    assert of(user(f"Error executing tool 'read_file': {TEXT}")) == "yes"
    assert of(user("go on")) == "no"
    assert of(says(TEXT)) == "no"  # what the model says itself has not been shown to it


def two_calls(first: str, second: str, order: bool) -> list[str]:
    batch = [("c1", "read_file", A), ("c2", "read_file", A)]
    places: list[Any] = [(1, 1), (1, 0)] if order else [None, None]
    reading = read(
        trace(
            started(),
            request(1, 0, user()),
            reply(1, asks(*batch)),
            Called(1, "read_file", A, order=places[0]),
            Called(2, "read_file", A, order=places[1]),
            Returned(1, Told(error=ERROR)),
            Returned(2, Told(error=ERROR)),
            request(2, 1, asks(*batch), tool("c1", first), tool("c2", second)),
        )
    )
    return [seen(reading, step) for step in reading.steps]


def test_equal_calls_of_a_batch_are_told_apart_by_their_place() -> None:
    assert two_calls(TEXT, "ok", order=False) == ["yes", "no"]
    assert two_calls(TEXT, "ok", order=True) == ["no", "yes"]


def test_a_call_that_the_harness_repeats_by_itself_shares_the_answer() -> None:
    reading = read(
        trace(
            started(),
            request(1, 0, user()),
            reply(1, asks(("c1", "read_file", A))),
            failed(1, "read_file", A, ERROR),
            failed(2, "read_file", A, ERROR),
            request(2, 1, asks(("c1", "read_file", A)), tool("c1", TEXT)),
        )
    )
    assert [seen(reading, step) for step in reading.steps] == ["yes", "yes"]


def test_a_call_that_the_harness_repeats_does_not_take_the_id_of_a_later_one() -> None:
    first, second = asks(("c1", "read_file", A)), asks(("c2", "read_file", A))
    reading = read(
        trace(
            started(),
            request(1, 0, user()),
            reply(1, first),
            failed(1, "read_file", A, ERROR),
            failed(2, "read_file", A, ERROR),
            request(2, 1, first, tool("c1", "ok")),
            reply(2, second),
            failed(3, "read_file", A, ERROR),
            request(3, 3, second, tool("c2", TEXT)),
        )
    )
    assert [seen(reading, step) for step in reading.steps] == ["no", "no", "yes"]


# a call that the harness makes for itself


def own_call(shown: str) -> str:
    """`seen` of a listing that the harness made while the model had asked to read a file."""
    listing = {"path": "."}
    reading = read(
        trace(
            started(),
            request(1, 0, user()),
            reply(1, asks(("c1", "list_files", listing))),
            [Called(1, "list_files", listing), Returned(1, Told("[]"))],
            request(2, 1, asks(("c1", "list_files", listing)), tool("c1", "[]")),
            reply(2, asks(("c2", "read_file", A))),
            [Called(2, "list_files", listing), Returned(2, Told(error=ERROR))],
            request(3, 3, asks(("c2", "read_file", A)), tool("c2", shown)),
        )
    )
    return seen(reading, reading.steps[1])


def test_what_the_harness_asks_for_itself_is_seen_in_the_answer_to_whatever_the_model_asked() -> None:
    assert own_call(TEXT) == "yes"


def test_what_the_harness_asks_for_itself_it_does_not_owe_the_model() -> None:
    assert own_call("id,amount") == "unknown"


# results of a batch under the ids of others


def batch(*answers: tuple[str, str], told: tuple[Any, Any] = ("north: 5 boxes", "south: 7 boxes")) -> Any:
    calls = [("c1", "read_file", A), ("c2", "read_file", {"path": "b"})]
    values = [None if value is None else Returned(n, Told(value)) for n, value in enumerate(told, 1)]
    reading = read(
        trace(
            started(),
            request(1, 0, user()),
            reply(1, asks(*calls)),
            Called(1, "read_file", A, order=(1, 0)),
            Called(2, "read_file", {"path": "b"}, order=(1, 1)),
            *[value for value in values if value is not None],
            request(2, 1, asks(*calls), *(tool(*answer) for answer in answers)),
        )
    )
    return [misplaced(reading, step) for step in reading.steps]


def test_results_that_stand_where_they_belong_in_whatever_order() -> None:
    assert batch(("c2", "south: 7 boxes"), ("c1", "north: 5 boxes")) == [None, None]


def test_results_that_were_swapped() -> None:
    assert batch(("c1", "south: 7 boxes"), ("c2", "north: 5 boxes")) == ["c2", "c1"]


def test_a_result_under_the_id_of_a_call_that_was_given_up() -> None:
    swapped = batch(("c1", "south: 7 boxes"), ("c2", "no answer in time"), told=(None, "south: 7 boxes"))
    assert swapped == [None, "c1"]


def test_a_result_that_is_not_shown_at_all_is_not_misplaced_nor_is_one_that_others_have_too() -> None:
    assert batch(("c1", "ok"), ("c2", "south: 7 boxes")) == [None, None]
    assert batch(("c1", "same text"), ("c2", "ok"), told=("same text", "same text")) == [None, None]


def test_texts_too_short_to_be_told_apart_are_not_misplaced() -> None:
    assert batch(("c1", "7"), ("c2", "5"), told=("5", "7")) == [None, None]


@pytest.mark.parametrize(("by", "shown"), [("", "no"), (f"{SHELL}cat a.csv", "unknown")])
def test_a_program_of_a_shell_owes_the_model_nothing(by: str, shown: str) -> None:
    run = trace(
        started(),
        request(1, 0, user()),
        reply(1, says("looking by myself")),
        [Called(1, "read_file", A, by=by), Returned(1, Told(error=ERROR))],
        request(2, 1, says("looking by myself"), user("go on")),
    )
    reading = read(run)
    assert seen(reading, reading.steps[0]) == shown
