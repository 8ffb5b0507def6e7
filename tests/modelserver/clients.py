"""Plain tool loops over the official clients, one for each wire: sync or async, plain or streamed.

A talk says what to send and reads what came; `Agent` drives it, as a trial's agent that does all that is asked
of it, side by side, and hands every error back to the model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai

from forge_chaos.modelserver.loopback import loopback
from forge_chaos.modelserver.transport import http, transports
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Gate, Seat
from forge_chaos.reference import perform

Asked = tuple[str, str, str]  # id, tool, arguments
Tools = Sequence[Mapping[str, Any]]


class Chat:
    """Chat completions."""

    package, url = openai, "/v1"

    def __init__(self, prompt: str, tools: Tools) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        self.tools = list(tools)

    def of(self, client: Any) -> Any:
        return client.chat.completions

    def request(self) -> dict[str, Any]:
        return {"model": "m", "messages": self.messages, "tools": self.tools}

    final = "get_final_completion"

    def read(self, reply: Any) -> tuple[list[Asked], str]:
        message = reply.choices[0].message
        calls = message.tool_calls or []
        fields = {"id", "type", "function"}
        said = {"tool_calls": [call.model_dump(include=fields) for call in calls]} if calls else {}
        for call in said.get("tool_calls", ()):
            call["function"] = {name: call["function"][name] for name in ("name", "arguments")}
        self.messages.append({"role": "assistant", "content": message.content, **said})
        return [(c.id, c.function.name, c.function.arguments) for c in calls], message.content or ""

    def answer(self, told: Sequence[tuple[str, str, bool]]) -> None:
        self.messages += [{"role": "tool", "tool_call_id": id, "content": text} for id, text, _ in told]


class Responses:
    """Responses, with the whole input every time."""

    package, url = openai, "/v1"
    final = "get_final_response"

    def __init__(self, prompt: str, tools: Tools) -> None:
        self.input: Any = [{"role": "user", "content": prompt}]
        self.tools = [{"type": "function", "strict": False, **tool["function"]} for tool in tools]

    def of(self, client: Any) -> Any:
        return client.responses

    def request(self) -> dict[str, Any]:
        return {"model": "m", "input": self.input, "tools": self.tools}

    def read(self, reply: Any) -> tuple[list[Asked], str]:
        calls = [item for item in reply.output if item.type == "function_call"]
        self.keep(reply)
        return [(c.call_id, c.name, c.arguments) for c in calls], reply.output_text

    def keep(self, reply: Any) -> None:
        self.input += [
            item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in reply.output
        ]

    def answer(self, told: Sequence[tuple[str, str, bool]]) -> None:
        self.input += [
            {"type": "function_call_output", "call_id": id, "output": text} for id, text, _ in told
        ]


class Stored(Responses):
    """Responses that go on by `previous_response_id` and send what is new alone."""

    before: str | None = None

    def request(self) -> dict[str, Any]:
        goes_on = {"previous_response_id": self.before} if self.before else {}
        return {**super().request(), **goes_on}

    def keep(self, reply: Any) -> None:
        self.before, self.input = reply.id, []


class Messages:
    """Messages."""

    package, url = anthropic, ""
    final = "get_final_message"

    def __init__(self, prompt: str, tools: Tools) -> None:
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        offered = [tool["function"] for tool in tools]
        self.tools = [
            {"name": t["name"], "description": t["description"], "input_schema": t["parameters"]}
            for t in offered
        ]

    def of(self, client: Any) -> Any:
        return client.messages

    def request(self) -> dict[str, Any]:
        return {"model": "m", "max_tokens": 1000, "messages": self.messages, "tools": self.tools}

    def read(self, reply: Any) -> tuple[list[Asked], str]:
        uses = [block for block in reply.content if block.type == "tool_use"]
        fields = {"type", "text", "id", "name", "input"}
        said = [block.model_dump(include=fields) for block in reply.content]
        self.messages.append({"role": "assistant", "content": said})
        text = "".join(block.text for block in reply.content if block.type == "text")
        return [(use.id, use.name, json.dumps(use.input)) for use in uses], text

    def answer(self, told: Sequence[tuple[str, str, bool]]) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}
            for id, text, failed in told
        ]
        self.messages.append({"role": "user", "content": blocks})


Talk = Chat | Responses | Messages
TALKS: Mapping[str, type[Talk]] = {
    "chat": Chat,
    "responses": Responses,
    "stored responses": Stored,
    "messages": Messages,
}


@dataclass
class Hands:
    """The tools of a trial, in the shape that `perform` takes."""

    specs_: Mapping[str, ToolSpec]
    real: Mapping[str, Tool]
    gate: Gate
    offered: list[dict[str, Any]] = field(default_factory=list)

    @property
    def specs(self) -> list[dict[str, Any]]:
        return [self.specs_[name].openai() for name in self.specs_ if name in self.real]

    async def call(self, name: str, args: Mapping[str, Any], id: str | None = None) -> Any:
        from forge_chaos import natural
        from forge_chaos.nouns import Ok

        result = await self.gate(name, args, self.real[name], id=id)
        if isinstance(result, Ok):
            return result.value
        raise natural.exception(result)


async def loop(talk: Talk, once: Callable[[Talk], Any], hands: Any, steps: int) -> str:
    """`once` makes one request: it gives the reply."""
    for _ in range(steps):
        calls, text = talk.read(await once(talk))
        if not calls:
            return text
        asked = [{"id": id, "function": {"name": name, "arguments": given}} for id, name, given in calls]
        told = await asyncio.gather(*(perform(hands, call) for call in asked))
        talk.answer([(id, said, failed) for (id, _, _), (said, failed) in zip(calls, told, strict=True)])
    return "FAILED: out of steps"


def asking(client: Any, streamed: bool) -> Callable[[Talk], Any]:
    """One request by an async client."""

    async def once(talk: Talk) -> Any:
        if not streamed:
            return await talk.of(client).create(**talk.request())
        async with talk.of(client).stream(**talk.request()) as events:
            return await getattr(events, talk.final)()

    return once


def asking_blocked(client: Any, streamed: bool) -> Callable[[Talk], Any]:
    """One request by a sync client, on the loop's own thread."""

    async def once(talk: Talk) -> Any:
        if not streamed:
            return talk.of(client).create(**talk.request())
        with talk.of(client).stream(**talk.request()) as events:
            return getattr(events, talk.final)()

    return once


def seat(kind: type[Talk], streamed: bool = False, way: str = "async") -> Seat:
    """A trial's agent. `way`: an `async` or a `sync` client in-process, or an async one by a `port`."""

    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        hands = Hands(specs, tools, gate)
        talk = kind(task.prompt, hands.specs)
        name = kind.package.__name__
        one, other = transports(model.door, name)
        library = http(name)
        given: dict[str, Any] = {"api_key": "none", "max_retries": 0}
        with loopback(model.door) if way == "port" else nullcontext("http://model") as url:
            given["base_url"] = url + kind.url
            if way == "sync":
                with library.Client(transport=one) as plain:
                    client = kind.package.Client(http_client=plain, **given)
                    return Answer(await loop(talk, asking_blocked(client, streamed), hands, task.max_steps))
            carrier = {} if way == "port" else {"http_client": library.AsyncClient(transport=other)}
            async with kind.package.AsyncClient(**carrier, **given) as client:
                return Answer(await loop(talk, asking(client, streamed), hands, task.max_steps))

    return Seat(run, "client")
