"""The application behind a port: what HTTP makes of an answer, and of none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from threading import Event
from typing import Any

import pytest

from forge_chaos.modelserver.loopback import port

BODY = b'{"a": "\\u00e4"}'
EVENTS = b'data: {"a":1}\n\ndata: [DONE]\n\n'


@contextmanager
def served(answer: Callable[..., Any], close: bool = False) -> Iterator[HTTPConnection]:
    with port(answer, close=close) as number:
        connection = HTTPConnection("127.0.0.1", number, timeout=10)
        try:
            yield connection
        finally:
            connection.close()


def got(connection: HTTPConnection, path: str = "/v1/x", tries: str = "0") -> HTTPResponse:
    connection.request("POST", path, BODY, {"x-stainless-retry-count": tries})
    return connection.getresponse()


def test_path_body_and_retry_reach_the_door() -> None:
    asked: list[Any] = []

    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        asked.append((path, body, client))
        return 418, BODY

    with served(answer) as connection:
        response = got(connection, "/t/7/v1/x?y=1")
        assert (response.status, response.read()) == (418, BODY)
        assert response.headers["content-type"] == "application/json"
        got(connection, tries="2").read()
        mine = connection.sock.getsockname()[1]
        connection.request("GET", "/v1/models")
        assert connection.getresponse().read() == BODY
    assert asked == [("/t/7/v1/x", BODY, mine), ("/v1/x?retry=2", BODY, mine), ("/v1/models", b"", mine)]


@pytest.mark.parametrize("close", [False, True])
def test_events_come_as_a_stream(close: bool) -> None:
    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        return 200, EVENTS

    with served(answer, close) as connection:
        response = got(connection)
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["content-length"] is None
        assert response.read() == EVENTS
        assert response.headers.get("connection", "") == ("close" if close else "")


@pytest.mark.parametrize("error", [TimeoutError, ConnectionResetError])
def test_where_no_answer_comes_the_connection_is_cut(error: type[Exception]) -> None:
    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        raise error("gone")

    with served(answer) as connection, pytest.raises((IncompleteRead, HTTPException, ConnectionError)):
        got(connection).read()


def test_what_breaks_behind_it_is_told() -> None:
    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        raise ZeroDivisionError("oops")

    with served(answer) as connection:
        response = got(connection)
        assert response.status == 500
        assert json.loads(response.read())["error"]["message"] == "ZeroDivisionError: oops"


def test_a_client_that_goes_away_cancels_its_request() -> None:
    begun, cancelled = Event(), Event()

    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return 200, b""

    with served(answer) as connection:
        connection.request("POST", "/v1/x", BODY)
        assert begun.wait(10)
        connection.close()
        assert cancelled.wait(10)


def test_a_refusal_that_asks_to_wait_says_so_in_its_header() -> None:
    async def answer(path: str, body: bytes, client: int) -> tuple[int, bytes]:
        return 429, b'{"error": {"message": "Please try again in 20 seconds."}}'

    with served(answer) as connection:
        assert got(connection).headers["retry-after"] == "20"
