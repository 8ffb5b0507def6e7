from __future__ import annotations

import json
from typing import Any

import pytest

from forge_chaos.modelserver.errors import BrokenOff, ProviderError, waiting


def test_it_tells_status_and_message_and_keeps_the_body() -> None:
    body = b'{"error": {"message": "no", "type": "budget"}}'
    refusal = ProviderError(400, body)
    assert (refusal.status, refusal.body, refusal.error["type"]) == (400, body, "budget")
    assert str(refusal) == "Error code: 400 - no"


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"[" * 100_000, b'{"error": "text"}'])
def test_any_body_will_do(body: bytes) -> None:
    assert ProviderError(500, body).error == {}


def test_a_body_of_no_known_form_is_shown() -> None:
    assert str(ProviderError(502, b"<h1>Bad\n gateway</h1>" + b"x" * 999)).startswith(
        "Error code: 502 - <h1>Bad gateway</h1>xxx"
    )
    assert len(str(ProviderError(200, b"x" * 999))) < 250
    assert str(ProviderError(500)) == "Error code: 500 - no message"


@pytest.mark.parametrize(
    ("status", "transient"), [(429, True), (500, True), (529, True), (400, False), (404, False)]
)
def test_what_may_pass(status: int, transient: bool) -> None:
    assert ProviderError(status).transient is transient


@pytest.mark.parametrize(
    ("status", "text", "seconds", "header"),
    [
        (429, "Please try again in 20 seconds.", 20.0, {"retry-after": "20"}),
        (529, "Overloaded, retry after 1500 ms", 1.5, {"retry-after": "2"}),
        (429, "The quota is gone. Try again in 14400 seconds.", 14400.0, {"retry-after": "14400"}),
        (503, "Unavailable", 0.0, {}),
        (400, "Try again in 20 seconds.", 20.0, {}),
        (200, "try again in 20 seconds", 20.0, {}),
    ],
)
def test_how_long_to_wait_is_said_in_the_header_too(
    status: int, text: str, seconds: float, header: dict[str, str]
) -> None:
    body = json.dumps({"error": {"message": text}}).encode()
    assert ProviderError(status, body).retry_after == seconds
    assert waiting(status, body) == header


def test_a_body_that_says_nothing_of_it_has_no_header() -> None:
    assert [waiting(429, body) for body in (b"", b"<html>", b"[]", b'{"error": {"message": 5}}')] == [{}] * 4


def test_what_broke_off_is_a_lost_connection_and_keeps_what_came() -> None:
    came: dict[str, Any] = {"choices": []}
    lost = BrokenOff("in the midst", came)
    assert isinstance(lost, ConnectionError)
    assert (str(lost), lost.came) == ("in the midst", came)
