"""A provider's refusal, or a reply that breaks off, as a client raises it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil
from typing import Any

from forge_chaos.modelserver.trouble import retry_after

SHOWN = 200  # bytes


class ProviderError(Exception):
    """The model's provider answered with an HTTP status other than 200, or with what is no completion.

    `body` is what it sent, `error` the error object in it (`{"message", "type", "param", "code"}`), `{}`
    when there is none. 429 and 5xx may pass when tried again; other 4xx say that the request itself is
    wrong.
    """

    def __init__(self, status: int, body: bytes = b"") -> None:
        self.status, self.body = status, body
        self.error = _error(body)
        super().__init__(f"Error code: {status} - {self.error.get('message') or _start(body)}")

    @property
    def transient(self) -> bool:
        """May the same request pass later?"""
        return self.status == 429 or self.status >= 500

    @property
    def retry_after(self) -> float:
        """The seconds that the provider asks to wait, 0 when it asks for none."""
        return retry_after(str(self.error.get("message") or ""), float("inf"))


class BrokenOff(ConnectionError):
    """The connection was lost in the midst of a reply. `came` is what had come by then, as a completion: who
    reads a stream has seen that much of it."""

    def __init__(self, message: str, came: Mapping[str, Any]) -> None:
        self.came = came
        super().__init__(message)


def waiting(status: int, body: bytes) -> dict[str, str]:
    """The header in which a refusal says how long to wait; none where its text asks for no wait."""
    seconds = ProviderError(status, body).retry_after if status in (429, 503, 529) else 0.0
    return {"retry-after": f"{ceil(seconds)}"} if seconds else {}


def _start(body: bytes) -> str:
    """Of a body in no known form, enough to recognise it: a proxy's page, another program's JSON."""
    return " ".join(body[:SHOWN].decode(errors="replace").split()) or "no message"


def _error(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, dict) else {}
