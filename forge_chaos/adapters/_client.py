"""The model seat of a trial behind the official `openai` clients, in-process: no socket, so time stays
virtual and nothing leaves the machine."""

from __future__ import annotations

from collections.abc import Coroutine
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

    client = http().AsyncClient(transport=transports(model.door)[1])
    return AsyncOpenAI(api_key=KEY, base_url=BASE, http_client=client, max_retries=0)


def synchronous(model: Any, door: Blocking) -> Any:
    """`openai.OpenAI` for a framework that runs on a thread of its own."""
    from openai import OpenAI

    def wait(answer: Coroutine[Any, Any, tuple[int, bytes]]) -> tuple[int, bytes]:
        return door.wait(lambda: answer)

    client = http().Client(transport=transports(model.door, wait)[0])
    return OpenAI(api_key=KEY, base_url=BASE, http_client=client, max_retries=0)


__all__ = ["BASE", "KEY", "NAME", "asynchronous", "synchronous"]
