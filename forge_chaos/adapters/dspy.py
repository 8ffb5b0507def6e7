"""dspy: a scenario's tools round its stock `ReAct`, or a user's finished `ReAct` module with its own tools.

The framework is synchronous: it runs on a thread whose tools and model requests come to the gates through a door,
so time stays virtual. Faults are raised inside `Tool.func`. A module for each trial is a shallow copy with copies
of the tools. dspy talks to its model in text fields (`_fields`); our model is reached through the framework's own
client for OpenAI's API, or litellm's where it still has none, whose transport is the door. What the model is shown of an exception holds the places of
its traceback: those of ours are taken out. dspy has no word for its step limit: it asks for the answer then as it
does at the end of the task, and so the answer is all there is to judge. Not reached: other modules than `ReAct`,
and tools that are `async def`, which its synchronous way does not run either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from forge_chaos.adapters import _fields, _releases
from forge_chaos.adapters._threads import Blocking, blocking, sleeps
from forge_chaos.adapters._through import gated, offered_blocking
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[dspy]'."
RELEASES = ("3.1", "4")
OURS = str(Path(__file__).parents[1])
TOO_LONG = ("The context window was exceeded even after", "The trajectory is too long")
SLEEPS = (
    "dspy.clients.execution",
    "tenacity.nap",
)  # where it waits between two tries; litellm's way the second
SHOWS = ("format_error_for_lm", "_fmt_exc")  # what words an exception for the model, as it is called
Post = Callable[[str, bytes], "tuple[int, bytes]"]


class Dspy:
    """The adapter. Nothing of the framework is imported before a module of it is used."""

    name = "dspy"
    time = "virtual"
    order = "asking order, by tool and target: a call has no id"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.partition(".")[0] == "dspy" and base.__name__ == "ReAct"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished module with one input, which is given the prompt; its first output is the answer."""
        if not self.recognises(thing):
            raise Misuse(f"adapter dspy: {type(thing).__name__} is no dspy.ReAct.")
        _releases.supported(self.name, "dspy", *RELEASES)
        if len(thing.signature.input_fields) != 1:
            raise Misuse(
                f"adapter dspy: the signature has the inputs {', '.join(thing.signature.input_fields)}. "
                "Take one with a single input, for the prompt."
            )
        return Seat(_own(thing), self.name, specs=_specs(thing), honest=_honest(), claims=True)

    def framework(self) -> Seat:
        """The stock loop, `dspy.ReAct("task -> answer", tools, max_iters)`, round a scenario's tools."""
        try:
            import dspy  # noqa: F401  # only to fail early, with the way out
        except ImportError as error:
            raise Misuse(f"framework:dspy does not import: {error}. {WAY}") from None
        _releases.supported(self.name, "dspy", *RELEASES)
        return Seat(_bench, self.name, honest=_honest())


def _honest() -> tuple[type[BaseException], ...]:
    """A provider that refused, a model without a readable reply, a history that cannot be made short enough."""
    from dspy.utils.exceptions import AdapterParseError

    try:
        from dspy import LMError
    except ImportError:
        from forge_chaos.adapters import _client

        refused: tuple[type[BaseException], ...] = (_client.refusal(),)  # litellm's errors are openai's
    else:
        refused = tuple(each for each in LMError.__subclasses__() if each.__name__ == "LMProviderError")
    return (*refused, AdapterParseError, TooLong)


class _Told(type):
    def __instancecheck__(cls, error: object) -> bool:
        return type(error) is ValueError and str(error).startswith(TOO_LONG)


class TooLong(Exception, metaclass=_Told):
    """A ValueError whose text tells that the trajectory stays too long; nothing is ever raised as this."""


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    import dspy

    async with blocking() as door:
        offered = [offered_blocking(specs[name], tools[name], gate, door) for name in specs if name in tools]
        made = dspy.ReAct("task -> answer", tools=offered, max_iters=task.max_steps)
        return await _run(made, task.prompt, door, model)


def _own(module: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        async with blocking() as door:
            return await _run(_twin(module, specs, gate, door, model.taken), task.prompt, door, model)

    return run


async def _run(module: Any, prompt: str, door: Blocking, model: Any) -> Answer:
    import dspy

    (given,) = module.signature.input_fields
    held = {}
    if model.taken:
        tools = [
            t.format_as_litellm_function_call() for name, t in module.tools.items() if name != _fields.FINISH
        ]
        held["lm"] = language_model(
            lambda path, body: door.wait(lambda: model.door(path, body)), given, tools
        )

    def play() -> Any:
        with dspy.context(**held):
            return module(**{given: prompt})

    with sleeps(door, _first(SLEEPS)), _places_of_ours_left_out():
        done = await door.run(play)
    answer = getattr(done, next(iter(module.signature.output_fields)))
    return Answer("" if answer is None else str(answer), session=done)


def language_model(post: Post, field: str, tools: Sequence[Mapping[str, Any]]) -> Any:
    """`dspy.LM` over a model that speaks chat form: `post` takes a path and a body, `field` holds the task."""
    import dspy

    try:
        from dspy.lm15 import OpenAIChatLM
    except ImportError:
        return dspy.LM("openai/scripted", client=_openai(post, field, tools), cache=False)
    engine = OpenAIChatLM(
        api_key="scripted", transport=_Transport(post, field, tools), base_url="http://model/v1"
    )
    return dspy.LM("openai/scripted", engine=engine, cache=False)


def _openai(post: Post, field: str, tools: Sequence[Mapping[str, Any]]) -> Any:
    """The official client, which litellm takes instead of one of its own."""
    from openai import OpenAI

    from forge_chaos.adapters import _client
    from forge_chaos.modelserver.transport import http, transports

    async def door(path: str, body: bytes) -> tuple[int, bytes]:
        return _posted(post, json.loads(body), field, tools)

    carrier = http().Client(transport=transports(door)[0])
    return OpenAI(api_key=_client.KEY, base_url=_client.BASE, http_client=carrier, max_retries=0)


def _posted(
    post: Post, body: Mapping[str, Any], field: str, tools: Sequence[Mapping[str, Any]]
) -> tuple[int, bytes]:
    """The answer in fields to a request in fields. Raises OSError for a connection that was lost."""
    asked = json.dumps(_fields.chat(body, field, tools)).encode()
    status, answer = post("/v1/chat/completions", asked)
    if status == 200:
        answer = json.dumps(_fields.fields(body, json.loads(answer))).encode()
    return status, answer


class _Transport:
    """What the framework's client has for a network."""

    def __init__(self, post: Post, field: str, tools: Sequence[Mapping[str, Any]]) -> None:
        self._post, self._field, self._tools = post, field, tools

    def stream(self, request: Any) -> Any:
        from dspy._vendor.lm15.transports import ReadError, TransportResponse

        try:
            status, answer = _posted(self._post, json.loads(request.body), self._field, self._tools)
        except OSError as error:
            raise ReadError(str(error)) from error
        return TransportResponse(
            status=status,
            reason="",
            headers=[("content-type", "application/json")],
            http_version="HTTP/1.1",
            chunks=iter([answer]),
            release=lambda consumed: None,
        )


@contextmanager
def _places_of_ours_left_out() -> Iterator[None]:
    """In the text that the framework makes of an exception for its model."""
    from dspy.predict import react

    name = next(each for each in SHOWS if hasattr(react, each))
    held = getattr(react, name)

    def shown(error: BaseException, **options: Any) -> Any:
        return held(error.with_traceback(_without_ours(error.__traceback__)), **options)

    setattr(react, name, shown)
    try:
        yield
    finally:
        setattr(react, name, held)


def _first(modules: Sequence[str]) -> Any:
    """The first of these modules that there is."""
    for name in modules[:-1]:
        try:
            return import_module(name)
        except ImportError:
            continue
    return import_module(modules[-1])


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    if trace is None:
        return None
    rest = _without_ours(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(OURS):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _specs(module: Any) -> dict[str, ToolSpec]:
    found = {}
    for name, tool in module.tools.items():
        if name != _fields.FINISH:
            schema = tool.format_as_litellm_function_call()["function"]["parameters"]
            found[name] = spec(name, tool.desc or "", schema, getattr(tool.func, "chaos", None))
    return found


def _twin(module: Any, specs: Mapping[str, ToolSpec], gate: Gate, door: Blocking, taken: bool) -> Any:
    """A copy for one trial with gated tools; `taken`: without language models of its own."""
    twin = copy(module)
    twin.tools = {
        name: tool
        if name == _fields.FINISH
        else tool.model_copy(update={"func": gated(tool.func, specs[name], gate, door)})
        for name, tool in module.tools.items()
    }
    if taken:
        twin.react, twin.extract = copy(module.react), copy(module.extract)
        twin.extract.predict = copy(module.extract.predict)
        twin.react.lm = twin.extract.predict.lm = None
    return twin


adapter = Dspy()
