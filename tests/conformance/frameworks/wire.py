"""A model behind the real wire formats that asks for what a test says, whatever it is answered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from forge_chaos.modelserver.server import Response, ScriptedModel
from forge_chaos.modelserver.transport import http, transports
from forge_chaos.nouns import Scenario, Solve, ToolSpec
from forge_chaos.nouns import Turn as UserTurn

PROMPT = "Read what you are told to read, then say DONE."
THEN = "Now read what you are told to read next, then say DONE."
Turn = Sequence[tuple[str, dict[str, Any]]]


def anything(text: str) -> str:
    return text


def _asking(turns: Sequence[Turn]) -> Solve:
    async def solve(task: Any, tools: Any) -> str:
        for turn in turns:
            calls = [getattr(tools, name)(**args, expect=anything) for name, args in turn]
            await tools.together(*calls)
        return "DONE"

    return solve


class Wire:
    """The scripted model of one run: each turn of `turns` is a batch of calls (tool, arguments); after the
    last one it says DONE. `then` are those of the user's second message, THEN. `bodies` are the requests that
    came, in order, as they came."""

    def __init__(self, turns: Sequence[Turn], then: Sequence[Turn] = ()) -> None:
        self.bodies: list[dict[str, Any]] = []
        names = sorted({name for turn in (*turns, *then) for name, _ in turn})
        self._specs = {name: ToolSpec(name, "", {"type": "object"}, frozenset()) for name in names}
        self.further = (UserTurn(THEN, _asking(then)),) if then else ()
        self._scenario = Scenario("wire", PROMPT, solve=_asking(turns), turns=self.further)
        self.rewind()

    def rewind(self) -> None:
        """The model of a new conversation."""
        self.bodies.clear()
        self._model = ScriptedModel(self._scenario, "naive", self._specs)

    def answer(self, path: str, body: bytes) -> Response:
        if body:
            self.bodies.append(json.loads(body))
        return self._model(path, body)

    async def door(self, path: str, body: bytes) -> tuple[int, bytes]:
        response = self.answer(path, body)
        return response.status, response.body

    def asynchronous(self) -> Any:
        """An `openai.AsyncOpenAI` of this model, in-process."""
        from openai import AsyncOpenAI

        client = self.http_client()
        return AsyncOpenAI(api_key="none", base_url="http://model/v1", http_client=client, max_retries=0)

    def http_client(self) -> Any:
        """What carries the requests of `asynchronous`."""
        return http().AsyncClient(transport=transports(self.door)[1])

    def synchronous(self) -> Any:
        """An `openai.OpenAI` of this model, in-process."""
        from openai import OpenAI

        client = http().Client(transport=transports(self.door)[0])
        return OpenAI(api_key="none", base_url="http://model/v1", http_client=client, max_retries=0)
