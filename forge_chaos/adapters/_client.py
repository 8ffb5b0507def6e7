"""The model seat of a trial behind the official `openai` clients, in-process: no socket, so time stays
virtual and nothing leaves the machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from forge_chaos.adapters._threads import Blocking
from forge_chaos.modelserver.transport import http, transports

NAME = "scripted"
KEY = "scripted"
BASE = "http://model/v1"  # never looked up: the transport is the model
Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Reply = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]


def same(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return body


def told(body: Mapping[str, Any], completion: Mapping[str, Any]) -> Mapping[str, Any]:
    return completion


def asynchronous(model: Any) -> Any:
    """`openai.AsyncOpenAI` whose every request is answered by the trial's model seat. Nothing is retried by
    the client: how a framework meets a provider's refusal is what is tested."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=KEY, base_url=BASE, http_client=http_client(model), max_retries=0)


def http_client(model: Any) -> Any:
    """What carries the requests of `asynchronous`, for a framework that makes the official client itself."""
    return http().AsyncClient(transport=transports(model.door)[1])


def synchronous(model: Any, door: Blocking, ask: Ask = same, answer: Reply = told) -> Any:
    """`openai.OpenAI` for a framework that runs on a thread of its own. `ask` carries a request into the form that
    the model knows, for a framework that tells calls in words, and `answer` its completion back."""
    from openai import OpenAI

    async def here(path: str, body: bytes) -> tuple[int, bytes]:
        if ask is same:
            passed: tuple[int, bytes] = door.wait(
                lambda: model.door(path, body)
            )  # the thread waits, not this coroutine
            return passed
        asked: dict[str, Any] = json.loads(body)
        status, reply = door.wait(lambda: model.door(path, json.dumps(ask(asked)).encode()))
        return status, json.dumps(answer(asked, json.loads(reply))).encode() if status == 200 else reply

    client = http().Client(transport=transports(here)[0])
    return OpenAI(api_key=KEY, base_url=BASE, http_client=client, max_retries=0)


def refusal() -> type[BaseException]:
    """What the clients raise when the provider answers with an error status."""
    from openai import APIStatusError

    return APIStatusError


__all__ = ["BASE", "KEY", "NAME", "asynchronous", "http_client", "refusal", "synchronous"]
