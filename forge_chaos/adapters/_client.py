"""The model seat of a trial behind the official `openai` clients, in-process: no socket, so time stays
virtual and nothing leaves the machine."""

from __future__ import annotations

from typing import Any

from forge_chaos.adapters._threads import Blocking
from forge_chaos.modelserver.transport import http, transports

NAME = "scripted"
KEY = "scripted"
BASE = "http://model/v1"  # never looked up: the transport is the model


def asynchronous(model: Any) -> Any:
    """`openai.AsyncOpenAI` whose every request is answered by the trial's model seat. Nothing is retried by
    the client: how a framework meets a provider's refusal is what is tested."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=KEY, base_url=BASE, http_client=http_client(model), max_retries=0)


def http_client(model: Any) -> Any:
    """What carries the requests of `asynchronous`, for a framework that makes the official client itself."""
    return http().AsyncClient(transport=transports(model.door)[1])


def synchronous(model: Any, door: Blocking) -> Any:
    """`openai.OpenAI` for a framework that runs on a thread of its own."""
    from openai import OpenAI

    async def here(path: str, body: bytes) -> tuple[int, bytes]:
        return door.wait(lambda: model.door(path, body))  # the thread waits; this coroutine never does

    client = http().Client(transport=transports(here)[0])
    return OpenAI(api_key=KEY, base_url=BASE, http_client=client, max_retries=0)


def refusal() -> type[BaseException]:
    """What the clients raise when the provider answers with an error status."""
    from openai import APIStatusError

    return APIStatusError


__all__ = ["BASE", "KEY", "NAME", "asynchronous", "http_client", "refusal", "synchronous"]
