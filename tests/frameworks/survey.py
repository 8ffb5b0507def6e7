"""What the model is shown for each kind of trouble, and what happens at the step limit: one framework's
stock loop, measured in the framework's own environment.

python -m tests.frameworks.survey NAME       one JSON object on standard output
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

from forge_chaos import agents, chat, trial
from forge_chaos.clock import VirtualLoop
from forge_chaos.events import Asked, Called, Finished, Trace, find
from forge_chaos.extras import installed
from forge_chaos.gate import Resolved
from forge_chaos.nouns import Call, Err, Limits, Ok, Rule, Scenario, Tool
from forge_chaos.worlds.files import files
from tests.conformance.frameworks.wire import PROMPT, Turn, Wire
from tests.gates import Planned

SHOWN = 400  # characters of a text
STEPS = 10
FILE = "a.csv"
READ: tuple[str, dict[str, Any]] = ("read_file", {"path": FILE})


class Row:
    """What no wire can hold."""

    def __repr__(self) -> str:
        return "<Row 1>"


RAISED: dict[str, Callable[[], BaseException]] = {
    "FileNotFoundError": lambda: FileNotFoundError(2, "No such file or directory", FILE),
    "TimeoutError": lambda: TimeoutError("'read_file' timed out after 30 seconds"),
    "PermissionError": lambda: PermissionError(13, "Permission denied", FILE),
    "ConnectionResetError": lambda: ConnectionResetError(104, "Connection reset by peer"),
    "OSError (ENOSPC)": lambda: OSError(28, "No space left on device"),
    "ValueError": lambda: ValueError("could not convert string to float: ''"),
    "RuntimeError without text": lambda: RuntimeError(),
    "CancelledError": lambda: asyncio.CancelledError("cancelled by the tool"),
}
GIVEN: dict[str, Any] = {
    "None": None,
    "empty text": "",
    "empty list": [],
    "NaN in a dict": {"rows": float("nan")},
    "bytes": b"\xff\xfe\x00",
    "lone surrogate": "caf\udce9",
    "an object": Row(),
}


def raising(error: BaseException) -> Planned:
    async def raise_it(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        return Err("runtime", str(error), error)

    return Planned(Rule("tool_exception"), raise_it)


def giving(value: Any) -> Planned:
    async def give(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        return Ok(value)

    return Planned(Rule("malformed_output"), give)


def played(name: str, turns: list[Turn], rules: list[Resolved]) -> Trace:
    """The framework's stock loop against a model that asks for these turns, whatever it is shown."""
    scenario = Scenario(
        "survey", PROMPT, tools=("read_file",), limits=Limits(steps=STEPS), files={FILE: b"id,amount\n1,2\n"}
    )
    wire = Wire(turns)
    setting = trial.Setting(
        scenario,
        agents.seat(f"framework:{name}"),
        files,
        rules,
        server=lambda world: wire.answer,
        contract=False,
    )
    loop = VirtualLoop()
    try:
        return trial.play(loop, setting)
    finally:
        loop.close()


def shown(trace: Trace) -> str | None:
    """What the model was told after the first call; None when it was never asked again."""
    requests = [body for _, body in find(trace, Asked)]
    if len(requests) < 2:
        return None
    news = [message for message in requests[1].messages if message.get("role") != "assistant"]
    direct = [message for message in news if chat.answers(message)]
    text = "\n".join(chat.text(message.get("content")) for message in direct or news)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"


def ended(trace: Trace) -> str:
    (end,) = [body for _, body in find(trace, Finished)]
    if end.error is not None:
        return f"raised {end.error['type']}{' (an honest end)' if end.honest else ''}"
    return f"{end.end}{f', status {end.status}' if end.status else ''}{f' ({end.why})' if end.why else ''}"


def limit(name: str) -> dict[str, Any]:
    """A model that asks for ever, each time for something else, and a limit of STEPS tool calls given to the
    framework where it takes one; we stop it after twice as many."""
    turns: list[Turn] = [[("read_file", {"path": f"{n}.csv"})] for n in range(6 * STEPS)]
    rule = giving("nothing yet")
    trace = played(name, turns, [Planned(Rule("empty_output", last=None), rule.mechanism)])
    (end,) = [body for _, body in find(trace, Finished)]
    return {"calls": len(list(find(trace, Called))), "end": ended(trace), "answer": end.answer[:SHOWN]}


def survey(name: str) -> dict[str, Any]:
    texts = {}
    kinds = {f"raises {k}": raising(make()) for k, make in RAISED.items()} | {
        f"returns {k}": giving(value) for k, value in GIVEN.items()
    }
    for kind, rule in kinds.items():
        trace = played(name, [[READ], [READ]], [rule])
        texts[kind] = {"shown": shown(trace), "end": ended(trace)}
    return {"name": name, "packages": dict(installed(name)), "texts": texts, "limit": limit(name)}


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):  # some frameworks print
        measured = survey(sys.argv[1])
    json.dump(measured, sys.stdout, indent=1, default=str)
