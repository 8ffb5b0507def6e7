"""The model seat of a trial behind the official `openai` clients, in-process: no socket, so time stays
virtual and nothing leaves the machine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from forge_chaos.adapters._threads import Blocking
from forge_chaos.clock import VirtualLoop
from forge_chaos.modelserver.transport import http, transports

NAME = "scripted"
KEY = "scripted"
BASE = "http://model/v1"  # never looked up: the transport is the model
MISTAKEN, TOO_LONG = "invalid_request_error", "context_length_exceeded"  # as the provider's error says
Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Reply = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]


def same(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return body


def told(body: Mapping[str, Any], completion: Mapping[str, Any]) -> Mapping[str, Any]:
    return completion


def asynchronous(model: Any, **settings: Any) -> Any:
    """`openai.AsyncOpenAI` whose every request is answered by the trial's model seat. It tries a refused request
    again as often as it does by default, or as `settings` say: the waits between take trial time."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=KEY, base_url=BASE, http_client=http_client(model), **settings)


def ready() -> None:
    """Load what the official client loads at its first request alone: on a busy machine that takes so long that the
    first trial would count as hung. Without the client there is nothing to load."""
    with suppress(ImportError):
        from openai import OpenAI

        with OpenAI(api_key=KEY, base_url=BASE) as client:
            _ = client.chat.completions, getattr(client, "responses", None)


def http_client(model: Any) -> Any:
    """What carries the requests of `asynchronous`, for a framework that makes the official client itself."""
    _wait_evenly()
    return http().AsyncClient(transport=transports(model.door)[1])


def synchronous(model: Any, door: Blocking, ask: Ask = same, answer: Reply = told) -> Any:
    """`openai.OpenAI` for a framework that runs on a thread of its own, with the retries of `asynchronous`. `ask`
    carries a request into the form that the model knows, for a framework that tells calls in words, and `answer`
    its completion back."""
    from openai import OpenAI

    class Client(OpenAI):
        """What it waits between two tries is trial time."""

        def _sleep_for_retry(
            self, *, retries_taken: int, max_retries: int, options: Any, response: Any
        ) -> None:
            headers = None if response is None else response.headers

            async def pause() -> None:  # on the loop, whose kind of time says how the client draws
                await asyncio.sleep(
                    self._calculate_retry_timeout(max_retries - retries_taken, options, headers)
                )

            door.wait(pause)

    async def here(path: str, body: bytes) -> tuple[int, bytes]:
        if ask is same:
            passed: tuple[int, bytes] = door.wait(
                lambda: model.door(path, body)
            )  # the thread waits, not this coroutine
            return passed
        asked: dict[str, Any] = json.loads(body)
        status, reply = door.wait(lambda: model.door(path, json.dumps(ask(asked)).encode()))
        return status, json.dumps(answer(asked, json.loads(reply))).encode() if status == 200 else reply

    _wait_evenly()
    client = http().Client(transport=transports(here)[0])
    return Client(api_key=KEY, base_url=BASE, http_client=client)


class _Even:
    """How the official client draws its waits: in virtual time always the longest, so that equal plans give equal
    traces, and as ever elsewhere."""

    def __init__(self, draw: Callable[[], float]) -> None:
        self._draw = draw

    def __call__(self) -> float:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return self._draw()
        return 0.0 if isinstance(loop, VirtualLoop) else self._draw()


def _wait_evenly() -> None:
    """Also where a framework makes the client by itself."""
    from openai import _base_client

    module: Any = _base_client
    if not isinstance(module.random, _Even):
        module.random = _Even(module.random)


def refusal(*told: type[BaseException]) -> type[BaseException]:
    """The provider refused: what the clients raise when it answers with an error status, and what a framework puts
    in its place (`told`). A request that no provider would take is no refusal but the framework's own mistake,
    such as a history with a call that has no result; one that is too long may be the task's.

    Raises ImportError without the official clients, unless `told` may come of others.
    """
    try:
        from openai import APIStatusError
    except ImportError:
        if not told:
            raise
        return told[0]
    kinds: tuple[Any, ...] = (APIStatusError, *told)

    class Refusal(type):
        def __instancecheck__(cls, error: object) -> bool:
            return isinstance(error, kinds) and not any(map(_mistaken, _behind(error)))

    class Refused(Exception, metaclass=Refusal):
        """Nothing is ever raised as this."""

    return Refused


def _mistaken(error: Any) -> bool:
    """Does the provider say that the request itself is wrong?"""
    from openai import APIStatusError

    return (
        isinstance(error, APIStatusError)
        and getattr(error, "status_code", None) in (400, 422)
        and error.type == MISTAKEN
        and error.code != TOO_LONG
    )


def _behind(error: Any) -> Iterator[BaseException]:
    """The exception and those that it came of."""
    met: set[int] = set()
    while isinstance(error, BaseException) and id(error) not in met:
        met.add(id(error))
        yield error
        error = error.__cause__ if error.__suppress_context__ else error.__cause__ or error.__context__


__all__ = ["BASE", "KEY", "NAME", "asynchronous", "http_client", "ready", "refusal", "synchronous"]
