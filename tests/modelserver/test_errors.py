from __future__ import annotations

import pytest

from forge_chaos.modelserver.errors import ProviderError


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
