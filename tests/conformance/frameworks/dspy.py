"""dspy, as https://dspy.ai/learn/programming/modules/ and https://dspy.ai/api/modules/ReAct/ show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    import dspy

    from forge_chaos.adapters.dspy import language_model
    from forge_chaos.modelserver.transport import drive

    made = dspy.ReAct("task -> answer", tools=list(functions))
    tools = [t.format_as_litellm_function_call() for name, t in made.tools.items() if name != "finish"]
    made.set_lm(language_model(lambda path, body: drive(wire.door(path, body)), "task", tools))
    return made


def play(module: Any, prompt: str) -> str:
    return str(module(task=prompt).answer)


KIT = Kit("dspy", "dspy", build, play, kinds=("sync",), stock="stock/dspy_files.py:agent")
