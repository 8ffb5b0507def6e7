"""The endpoint behind a proxy: which addresses can be, what of a request reaches it, what of its answer comes."""

from __future__ import annotations

import asyncio
import gzip
import re
import sys
from collections.abc import Awaitable, Callable
from threading import Event
from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.modelserver.upstream import Came, Headers, Incoming, Unreached, Upstream, passed_on
from tests.modelserver.raw import answer, begun, chunk, nobody, raw

SENT: Headers = (
    (b"host", b"proxy.example"),
    (b"authorization", b"Bearer abc"),
    (b"x-api-key", b"k\xe9y"),
    (b"accept-encoding", b"gzip, br"),
    (b"connection", b"keep-alive, X-Hop"),
    (b"x-hop", b"1"),
    (b"te", b"trailers"),
    (b"content-length", b"9"),
)


def asked(url: str, incoming: Incoming, use: Callable[[Came], Awaitable[Any]], **how: Any) -> Any:
    async def main() -> Any:
        upstream = Upstream(url)
        try:
            return await use(await upstream.ask(incoming, incoming.body, **how))
        finally:
            await upstream.close()

    return asyncio.run(asyncio.wait_for(main(), 30))


async def whole(came: Came) -> bytes:
    return b"".join([part async for part in came.parts()])


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://api.openai.com", "https://api.openai.com"),
        ("https://api.openai.com/v1", "https://api.openai.com"),
        ("https://api.openai.com/v1/", "https://api.openai.com"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("https://router.example/api/v1", "https://router.example/api"),
        ("https://models.example/v1beta/openai/", "https://models.example/v1beta/openai"),
    ],
)
def test_an_address_may_be_spelled_with_or_without_v1(url: str, base: str) -> None:
    assert Upstream(url).base == base


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("api.openai.com", "'api.openai.com' is no address. It looks like https://"),
        ("ftp://x.example", "is no address"),
        ("http://", "is no address"),
        ("http://x.example:port", "is no address"),
        ("http://x.example:99999", "is no address"),
        ("http://[::1", "is no address"),
        ("http://ex ample", "is no address"),
        ("https://api.openai.com/v1/chat/completions", "is the address of one kind of request"),
        ("https://x.example?key=1", "behind ? or #"),
        ("https://x.example/#a", "behind ? or #"),
    ],
)
def test_an_address_that_cannot_be_is_told(url: str, says: str) -> None:
    with pytest.raises(Misuse, match=re.escape(says)):
        Upstream(url)


def test_a_key_in_the_address_is_refused_and_not_shown() -> None:
    with pytest.raises(Misuse, match="the client's own key goes through") as told:
        Upstream("https://me:hunter22@x.example")
    assert "hunter22" not in str(told.value)


def test_without_httpx_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(Misuse, match=r"forge-chaos\[serve\]"):
        Upstream("http://127.0.0.1:1")


def test_headers_of_the_connection_stay_behind() -> None:
    assert passed_on(SENT, (b"host", b"content-length")) == (
        (b"authorization", b"Bearer abc"),
        (b"x-api-key", b"k\xe9y"),
        (b"accept-encoding", b"gzip, br"),
    )


def test_a_request_goes_there_as_it_came() -> None:
    body = b'{"a":  "\\u00e4"}'
    incoming = Incoming("POST", "/v1/a%2Fb/x?beta=true&q=%20", SENT, body)
    with raw([answer(b"hi", "X-Request-Id: r1", "Retry-After: 7", "Server: s", status="429 No")]) as there:

        async def use(came: Came) -> Any:
            return came.status, came.headers, await whole(came)

        status, headers, text = asked(f"{there.url}/v1", incoming, use)
    assert (status, text) == (429, b"hi")
    assert headers == (
        (b"content-length", b"2"),
        (b"x-request-id", b"r1"),
        (b"retry-after", b"7"),
        (b"server", b"s"),
    )
    [sent] = there.asked
    head, _, came = sent.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert first == b"POST /v1/a%2Fb/x?beta=true&q=%20 HTTP/1.1"
    assert came == body
    names = sorted(line.partition(b":")[0].lower() for line in lines)
    assert names == [b"accept-encoding", b"authorization", b"content-length", b"host", b"x-api-key"]
    assert b"x-api-key: k\xe9y" in [line.lower() for line in lines]
    assert there.url.removeprefix("http://").encode() in head


@pytest.mark.parametrize("plain", [False, True])
def test_an_encoded_answer_comes_raw_and_can_be_read(plain: bool) -> None:
    packed = gzip.compress(b"hello", mtime=0)
    with raw([answer(packed, "content-encoding: gzip")]) as there:

        async def use(came: Came) -> tuple[bytes, bytes, bytes]:
            got = await whole(came)
            return got, came.read(got), came.read(b"no gzip")

        assert asked(there.url, Incoming("GET", "/x", SENT), use, plain=plain) == (
            packed,
            b"hello",
            b"no gzip",
        )
    assert (b"accept-encoding: identity" in there.asked[0].lower()) is plain
    assert (b"gzip, br" in there.asked[0]) is not plain


def test_what_comes_is_there_before_the_rest() -> None:
    rest = Event()
    with raw([begun(), chunk(b"one"), rest, chunk(b"two"), b"0\r\n\r\n"]) as there:

        async def use(came: Came) -> list[bytes]:
            found = []
            async for part in came.parts():
                found.append(part)
                rest.set()
            return found

        assert asked(there.url, Incoming("GET", "/x"), use) == [b"one", b"two"]


def test_what_is_given_up_is_closed() -> None:
    with raw([begun(), chunk(b"one"), Event()]) as there:

        async def use(came: Came) -> bool:
            await came.leave()
            return await asyncio.to_thread(there.left.wait, 20)

        assert asked(there.url, Incoming("GET", "/x"), use)


@pytest.mark.parametrize("parts", [[b""], [b"HTTP/1.1 200 OK\r\ncontent-le"], [b"nonsense\r\n\r\n"]])
def test_no_answer_is_told(parts: list[bytes]) -> None:
    with raw(parts) as there, pytest.raises(Unreached, match=r"127\.0\.0\.1:\d+ cannot be reached: \w+"):
        asked(there.url, Incoming("GET", "/x"), whole)


def test_an_answer_that_breaks_off_is_told() -> None:
    with raw([begun(), chunk(b"one")]) as there, pytest.raises(Unreached, match="cannot be reached"):
        asked(there.url, Incoming("GET", "/x"), whole)


def test_nobody_there_is_told() -> None:
    with pytest.raises(Unreached, match="cannot be reached: All connection attempts failed"):
        asked(nobody(), Incoming("GET", "/x"), whole)


def test_a_port_without_tls_is_told() -> None:
    with raw([answer(b"plain")]) as there, pytest.raises(Unreached, match=r"cannot be reached: .*SSL"):
        asked(there.url.replace("http:", "https:"), Incoming("GET", "/x"), whole)
