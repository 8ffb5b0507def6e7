"""mini-swe-agent, as https://mini-swe-agent.com/latest/advanced/cookbook/ shows it.

Its tool is `bash`; here a command is no process but a call of the function that is tested.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from subprocess import CompletedProcess
from typing import Any

from tests.conformance.frameworks.kit import Kit
from tests.conformance.frameworks.wire import Wire

TEMPLATES = {"system_template": "You are a helpful assistant.", "instance_template": "{{task}}"}


def build(functions: Sequence[Callable[..., Any]], wire: Wire) -> Any:
    os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
    import litellm
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments import local
    from minisweagent.models.litellm_model import LitellmModel
    from minisweagent.models.utils.actions_toolcall import BASH_TOOL

    from forge_chaos.adapters import _shell

    function, client = functions[0], wire.synchronous()

    class Model(LitellmModel):
        def _query(self, messages: list[dict[str, str]], **more: Any) -> Any:
            done = litellm.completion(
                model="openai/gpt-4o", messages=messages, tools=[BASH_TOOL], client=client, api_key="none"
            )
            return litellm.ModelResponse(**_shell.told(done.model_dump()))

    def run(command: str, *_: Any) -> CompletedProcess[str]:
        submitted = _shell.read(command, ())
        printed = function(command) if submitted is None else "\n".join(submitted)
        return CompletedProcess(command, 0, stdout=printed)

    local._run = run
    model = Model(model_name="openai/gpt-4o", cost_tracking="ignore_errors")
    return DefaultAgent(model, local.LocalEnvironment(), **TEMPLATES)


def play(agent: Any, prompt: str) -> str:
    return str(agent.run(prompt)["submission"])


KIT = Kit(
    "mini-swe-agent",
    "minisweagent",
    build,
    play,
    kinds=("sync",),
    parallel=False,
    tool="bash",
    argument="command",
    role="execute",
    warns=("ignore:.*ReadOnly.* qualifier:UserWarning",),  # litellm, when it is first asked for something
)
