"""A real endpoint as a proxy meets it: a request goes there as it came, and the answer comes back as it comes.

Nothing is tried again, followed or read here: that is for the client in front.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from forge_chaos.errors import Misuse
from forge_chaos.modelserver import wires

CONNECT, SILENCE = 10.0, 600.0  # real seconds; as long as the official clients wait for a model
LIKE = "It looks like https://api.openai.com/v1."
WAY = "Install it with: pip install 'forge-chaos[serve]'."
# Those of one connection (RFC 9110, 7.6.1), and those that follow from the body and the address.
HOP = frozenset(
    (
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection"),
        *(b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    )
)
OURS = frozenset((b"host", b"content-length", b"expect"))

Header = tuple[bytes, bytes]
Headers = tuple[Header, ...]


class Unreached(ConnectionError):
    """The endpoint gave no answer, or broke it off."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A client's request. `target`: path and query, as they were written."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


async def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client gets. `body` is passed on part by part; where it raises, the connection is cut. `over` is
    awaited at the end, however that comes about."""

    status: int
    headers: Headers
    body: AsyncGenerator[bytes, None]
    over: Callable[[], Awaitable[None]] = _nothing


@dataclass(frozen=True, slots=True)
class Came:
    """The head of an answer, and its body, part by part as it comes. `parts` raises Unreached where it breaks
    off; `leave` gives up what has not come yet."""

    status: int
    headers: Headers
    _response: Any = field(repr=False)
    _host: str = ""

    async def parts(self) -> AsyncGenerator[bytes, None]:
        import httpx

        try:
            async for part in self._response.aiter_raw():
                yield part
        except httpx.TransportError as error:
            raise _unreached(self._host, error) from None
        finally:
            await self._response.aclose()

    async def leave(self) -> None:
        await self._response.aclose()

    def read(self, raw: bytes) -> bytes:
        """The body without the encoding in which it came; as it is, where that cannot be undone."""
        import httpx

        if not any(name == b"content-encoding" for name, _ in self.headers):
            return raw
        try:
            return httpx.Response(self.status, headers=list(self.headers), content=raw).content
        except httpx.DecodingError:
            return raw


class Upstream:
    """The endpoint at an address, on one event loop. Raises Misuse for an address that cannot be, and without
    httpx."""

    def __init__(self, url: str) -> None:
        try:
            import httpx
        except ImportError:
            raise Misuse(f"--upstream needs httpx, which is not installed. {WAY}") from None
        parts = _address(url)
        self.base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
        self.host = parts.netloc
        try:
            httpx.URL(self.base)
        except httpx.InvalidURL:
            raise Misuse(f"--upstream {url!r} is no address. {LIKE}") from None
        self._near = _near(parts.hostname or "")
        self._client: httpx.AsyncClient | None = None

    async def ask(self, asked: Incoming, body: bytes, plain: bool = False) -> Came:
        """The answer to `asked` with this body. `plain`: it is to come without an encoding, so that it can be
        read. Raises Unreached."""
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(SILENCE, connect=CONNECT),
                limits=httpx.Limits(max_connections=None),
                trust_env=not self._near,  # a proxy has no way to this machine
            )
        headers = passed_on(asked.headers, OURS | ({b"accept-encoding"} if plain else set()))
        if plain:
            headers = (*headers, (b"accept-encoding", b"identity"))
        try:
            request = httpx.Request(
                asked.method, f"{self.base}{asked.target}", headers=list(headers), content=body or None
            )
            response = await self._client.send(request, stream=True)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise _unreached(self.host, error) from None
        return Came(response.status_code, passed_on(response.headers.raw), response, self.host)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def passed_on(headers: Iterable[Header], without: Iterable[bytes] = ()) -> Headers:
    """The headers that are not about one connection alone, nor about what `without` names."""
    given = [(name.lower(), value) for name, value in headers]
    named = (value.lower() for name, value in given if name == b"connection")
    dropped = {*HOP, *without, *(word.strip() for value in named for word in value.split(b","))}
    return tuple((name, value) for name, value in given if name not in dropped)


def _address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", url)
    except ValueError:
        good = False
    if not good:
        raise Misuse(f"--upstream {url!r} is no address. {LIKE}")
    if parts.username is not None or parts.password is not None:
        raise Misuse(
            "--upstream holds a name or a password. Leave it out: the client's own key goes through with its "
            "requests."
        )
    if parts.query or parts.fragment:
        raise Misuse(f"--upstream holds more than an address, behind ? or #. Leave that out. {LIKE}")
    if wires.at(parts.path) is not None:
        raise Misuse(
            f"--upstream {url!r} is the address of one kind of request. Name what stands before it. {LIKE}"
        )
    return parts


def _near(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _unreached(host: str, error: Exception) -> Unreached:
    import httpx

    kind = type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return Unreached(f"{host} gave no answer in time ({kind})")
    return Unreached(f"{host} cannot be reached: {error or kind}")


__all__ = ["Came", "Headers", "Incoming", "Reply", "Unreached", "Upstream", "passed_on"]
