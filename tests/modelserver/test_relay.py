"""Whole HTTP requests through the application: what reaches the other side, what comes back, and when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, IncompleteRead
from threading import Event

import pytest

from forge_chaos.modelserver.loopback import served
from forge_chaos.modelserver.relay import METHODS, application
from forge_chaos.modelserver.upstream import Incoming, Reply

WAIT = 20


@contextmanager
def relayed(handle: Callable[[Incoming], Awaitable[Reply]]) -> Iterator[HTTPConnection]:
    with served(application(handle)) as number:
        connection = HTTPConnection("127.0.0.1", number, timeout=WAIT)
        try:
            yield connection
        finally:
            connection.close()


async def told(*parts: bytes) -> AsyncGenerator[bytes, None]:
    for part in parts:
        yield part


def test_method_target_headers_and_body_reach_it() -> None:
    came: list[Incoming] = []

    async def handle(incoming: Incoming) -> Reply:
        came.append(incoming)
        return Reply(204, (), told())

    with relayed(handle) as connection:
        for method in METHODS:
            connection.request(method, "/a%2Fb/v1?q=%20&c", b"\xff{}", {"X-Mine": "\xe9"})
            response = connection.getresponse()
            assert (response.status, response.read()) == (204, b"")
    assert [one.method for one in came] == list(METHODS)
    assert {(one.target, one.path, one.body) for one in came} == {
        ("/a%2Fb/v1?q=%20&c", "/a%2Fb/v1", b"\xff{}")
    }
    assert all((b"x-mine", b"\xe9") in one.headers for one in came)


def test_status_headers_and_body_come_back_as_they_are_and_nothing_beside() -> None:
    given = ((b"content-type", b"text/x; charset=y"), (b"x-request-id", b"r"), (b"set-cookie", b"a"))
    more = ((b"set-cookie", b"b"), (b"content-length", b"4"))

    async def handle(incoming: Incoming) -> Reply:
        return Reply(429, (*given, *more), told(b"a\0", b"\xffb"))

    with relayed(handle) as connection:
        connection.request("GET", "/")
        response = connection.getresponse()
        assert (response.status, response.read()) == (429, b"a\0\xffb")
        assert [(name.encode(), value.encode()) for name, value in response.getheaders()] == [*given, *more]


def test_an_answer_passes_while_it_still_comes() -> None:
    first, over = Event(), Event()

    async def slow() -> AsyncGenerator[bytes, None]:
        yield b"one"
        assert await asyncio.to_thread(first.wait, WAIT)
        yield b"two"

    async def ended() -> None:
        over.set()

    async def handle(incoming: Incoming) -> Reply:
        return Reply(200, (), slow(), ended)

    with relayed(handle) as connection:
        connection.request("GET", "/")
        response = connection.getresponse()
        assert response.read(3) == b"one"
        assert not over.is_set()
        first.set()
        assert response.read() == b"two"
        assert over.wait(WAIT)


def test_an_answer_that_breaks_off_is_cut() -> None:
    async def broken() -> AsyncGenerator[bytes, None]:
        yield b"one"
        raise ConnectionError("gone")

    async def handle(incoming: Incoming) -> Reply:
        return Reply(200, (), broken())

    with relayed(handle) as connection:
        connection.request("GET", "/")
        with pytest.raises(IncompleteRead):
            connection.getresponse().read()


@pytest.mark.parametrize("error", [TimeoutError, ConnectionResetError])
def test_where_no_answer_comes_the_connection_is_cut(error: type[Exception]) -> None:
    async def handle(incoming: Incoming) -> Reply:
        raise error("gone")

    with relayed(handle) as connection:
        connection.request("POST", "/v1/x", b"{}")
        with pytest.raises((IncompleteRead, HTTPException, ConnectionError)):
            connection.getresponse().read()


def test_what_breaks_behind_it_is_told() -> None:
    async def handle(incoming: Incoming) -> Reply:
        raise ZeroDivisionError("oops")

    with relayed(handle) as connection:
        connection.request("POST", "/v1/x", b"{}")
        response = connection.getresponse()
        assert response.status == 500
        assert b"ZeroDivisionError: oops" in response.read()


@pytest.mark.parametrize("begun", [False, True])
def test_a_client_that_goes_away_ends_it(begun: bool) -> None:
    came, ended = Event(), Event()

    async def forever() -> AsyncGenerator[bytes, None]:
        try:
            yield b"one"
            came.set()
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    async def handle(incoming: Incoming) -> Reply:
        if begun:
            return Reply(200, (), forever())
        async for _ in forever():
            pass
        raise AssertionError

    with relayed(handle) as connection:
        connection.request("POST", "/", b"{}")
        assert came.wait(WAIT)
        connection.close()
        assert ended.wait(WAIT)
