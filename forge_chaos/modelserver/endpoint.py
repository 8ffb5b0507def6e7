"""A real model: `openai:NAME` (any provider of that form) or `anthropic:NAME`.

Nothing is tried again here: how an agent meets a provider's refusal is what is tested.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from forge_chaos.errors import Misuse
from forge_chaos.modelserver import _anthropic
from forge_chaos.modelserver.errors import ProviderError
from forge_chaos.modelserver.refusals import invalid

if TYPE_CHECKING:
    import httpx

CONNECT, READ = 10.0, 120.0  # real seconds
WHOLE = 130.0  # real seconds for a request in all: a reply that trickles would reset READ for ever
WATCHDOG = 150.0  # real seconds without an event after which a trial with a real model hangs
FORMS = "scripted, own, openai:NAME, anthropic:NAME"


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a provider is reached, and the variables that say otherwise."""

    url: str
    path: str
    url_from: str
    key_from: str


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "/chat/completions", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": Provider(
        "https://api.anthropic.com", "/v1/messages", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"
    ),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A model at its provider, as SPEC and environment say. `key` is None where there is none."""

    provider: str
    name: str
    url: str
    host: str
    key: str | None = field(repr=False)

    @property
    def loopback(self) -> bool:
        """On this machine: nobody is paid, and no key is needed."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def place(model: str, environment: Mapping[str, str]) -> Place:
    """Read a SPEC. Raises Misuse for one of no known form, and for an address or a key that cannot be."""
    word, _, name = model.partition(":")
    provider = PROVIDERS.get(word)
    if provider is None or not name:
        near = get_close_matches(word, (*PROVIDERS, "scripted", "own"), n=1, cutoff=0.5)
        meant = near[0] + (f":{name or 'NAME'}" if near[0] in PROVIDERS else "") if near else ""
        hint = f" Did you mean {meant!r}?" if meant else ""
        raise Misuse(f"no model {model!r}.{hint} Known: {FORMS}.")
    base = (environment.get(provider.url_from) or provider.url).rstrip("/")
    key = environment.get(provider.key_from) or None
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise Misuse(f"{provider.key_from} holds a space, a line break or a character that no key has.")
    return Place(word, name, base + provider.path, _host(base, provider.url_from), key)


def _host(base: str, variable: str) -> str:
    try:
        parts = urlsplit(base)
        if parts.scheme in ("http", "https") and parts.hostname:
            return parts.hostname
    except ValueError:
        pass
    raise Misuse(f"{variable} is no address. It looks like http://127.0.0.1:8000/v1.")


def keyed(model: str, environment: Mapping[str, str]) -> bool:
    """Can this model be asked: is there a key, or is it on this machine? Raises Misuse as `place`."""
    where = place(model, environment)
    return where.key is not None or where.loopback


def keyless(model: str, environment: Mapping[str, str]) -> str:
    """What to say of a model that has no key."""
    key = PROVIDERS[place(model, environment).provider].key_from
    return f"no key for {model!r}: set {key} in the environment or .env."


def paid(model: str, environment: Mapping[str, str]) -> bool:
    """May a request to this model cost money? Raises Misuse as `place`."""
    return not place(model, environment).loopback


def endpoint(model: str, environment: Mapping[str, str]) -> Endpoint:
    """The model behind a SPEC. Raises Misuse as `place`, without a key, and without httpx."""
    where = place(model, environment)
    if not keyed(model, environment):
        raise Misuse(keyless(model, environment))
    try:
        import httpx
    except ImportError:
        raise Misuse(
            f"the model {model!r} needs httpx, which is not installed. "
            "Install it with: pip install 'forge-chaos[model]'"
        ) from None
    try:
        httpx.URL(where.url)
    except httpx.InvalidURL:
        raise Misuse(f"{PROVIDERS[where.provider].url_from} is no address.") from None
    return Endpoint(where)


class Endpoint:
    """A chat-completions request in, the reply to it out. One client for each event loop.

    Raises ProviderError for every answer that is no chat completion, with its status and body;
    TimeoutError and ConnectionError where no answer came; ValueError (UnicodeEncodeError among them)
    for a request that cannot be written.
    """

    def __init__(self, where: Place) -> None:
        self._place = where
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if request.get("stream"):
            refusal = invalid("This model does not support streaming.", "stream", "unsupported_value")
            raise ProviderError(400, json.dumps(refusal).encode())
        asked: dict[str, Any] = {**request, "model": self._place.name}
        if self._place.provider == "anthropic":
            asked = _anthropic.request(asked)
        status, body = await self._post(json.dumps(asked, ensure_ascii=False, allow_nan=False).encode())
        reply = self._read(body) if status < 300 else None
        if reply is None:
            raise ProviderError(status, body)
        return reply

    async def close(self) -> None:
        """Close the connections of the running loop."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _post(self, body: bytes) -> tuple[int, bytes]:
        import httpx

        host = self._place.host
        try:
            async with asyncio.timeout(WHOLE):
                response = await self._here().post(self._place.url, content=body)
        except (httpx.TimeoutException, TimeoutError) as error:
            raise TimeoutError(f"no reply from {host} in time ({type(error).__name__})") from None
        except httpx.RequestError as error:
            raise ConnectionError(f"{host}: {error or type(error).__name__}") from None
        return response.status_code, response.content

    def _here(self) -> httpx.AsyncClient:
        import httpx

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = httpx.AsyncClient(
                headers=_headers(self._place),
                timeout=httpx.Timeout(READ, connect=CONNECT),
                trust_env=not self._place.loopback,  # a proxy has no way to this machine
            )
        return self._client

    def _read(self, body: bytes) -> dict[str, Any] | None:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            return None
        return _completion(_anthropic.reply(found) if self._place.provider == "anthropic" else found)


def _headers(where: Place) -> dict[str, str]:
    headers = {"content-type": "application/json", "accept": "application/json"}
    if where.provider == "anthropic":
        headers["anthropic-version"] = "2023-06-01"
    if where.key is None:
        return headers
    if where.provider == "anthropic":
        return {**headers, "x-api-key": where.key}
    return {**headers, "authorization": f"Bearer {where.key}"}


def _completion(found: Any) -> dict[str, Any] | None:
    """`found`, when it is a chat completion whose first choice is a message with well-formed calls."""
    choices = found.get("choices") if isinstance(found, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        return None
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list) or not all(map(_is_call, calls)):
        return None
    return dict(found)


def _is_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(call.get("id"), str):
        return False
    return isinstance(function.get("name"), str) and isinstance(function.get("arguments"), str)
