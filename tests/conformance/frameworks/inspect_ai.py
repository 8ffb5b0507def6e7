"""inspect-ai's `react()`, as https://inspect.aisi.org.uk/react-agent.html and https://inspect.aisi.org.uk/tools-custom.html
show it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire


def model(wire: Wire) -> Any:
    from inspect_ai.model import get_model

    return get_model(
        "openai-api/own/own",
        base_url="http://model/v1",
        api_key="none",
        memoize=False,
        http_client=wire.http_client(),
        max_retries=0,
    )


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    from inspect_ai.agent import react
    from inspect_ai.tool import ToolDef

    return react(tools=[ToolDef(each, parallel=True) for each in functions], model=model(wire))


async def play(agent: Any, prompt: str) -> str:
    os.environ["INSPECT_DISPLAY"] = "none"
    from inspect_ai import Task, eval_async
    from inspect_ai.dataset import Sample
    from inspect_ai.util import display_type

    display_type()
    task = Task(dataset=[Sample(input=prompt)], solver=agent)
    [log] = await eval_async(task, model=None, log_dir="memory://plain", ctl_server=False, debug_errors=True)
    [sample] = log.samples
    return str(sample.output.completion)


KIT = Kit(
    "inspect-ai",
    "inspect_ai",
    build,
    play,
    kinds=("async",),
    stock="stock/inspect_ai_files.py:files",
    warns=(
        "ignore:The 'initial' parameter is deprecated:DeprecationWarning",  # of its retries
        "ignore:Unclosed <MemoryObject:ResourceWarning",  # left by a call that failed
    ),
)
