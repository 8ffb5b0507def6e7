"""mini-swe-agent: its stock loop with a scenario's tools as commands, or a user's finished agent with its shell.

The framework is synchronous: it runs on a thread whose commands and model requests come to the gates through a
door, so time stays virtual. Its one tool is `bash`, and a fault takes the place of the process that would run, in
`LocalEnvironment._run`, below what that makes of an exception. In the stock loop the shell knows the scenario's
tools as its only commands (`_shell`). A trial has a copy of the agent, with messages and counts of its own. Our
model is reached through `LitellmModel` and the official client; a budget is the agent's `cost_limit`, and each reply
costs what the task says. Not reached: environments in containers, which a
Misuse says.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

from forge_chaos.adapters import _shell
from forge_chaos.adapters._threads import Blocking, blocking, sleeps
from forge_chaos.adapters._through import gated, value
from forge_chaos.errors import Misuse
from forge_chaos.inference import spec
from forge_chaos.nouns import Answer, Task, Tool, ToolSpec
from forge_chaos.ports import Agent, Gate, Seat

WAY = "Install it with: pip install 'forge-chaos[mini-swe-agent]'."
COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
STATUS = {"LimitsExceeded": "limit", "TimeExceeded": "limit", "RepeatedFormatError": "failed"}
QUIET = {"MSWEA_SILENT_STARTUP": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
Run = Callable[..., "CompletedProcess[str]"]


class MiniSweAgent:
    """The adapter. Nothing of the framework is imported before an agent of it is used."""

    name = "mini-swe-agent"
    time = "virtual"
    order = "asking order: its commands are run one after the other"

    def recognises(self, thing: object) -> bool:
        return any(
            base.__module__.partition(".")[0] == "minisweagent" and base.__name__ == "DefaultAgent"
            for base in type(thing).__mro__
        )

    def seat(self, thing: Any) -> Seat:
        """A finished agent, whose one tool is its shell."""
        if not self.recognises(thing):
            raise Misuse(
                f"adapter mini-swe-agent: {type(thing).__name__} is no DefaultAgent of minisweagent."
            )
        if not any(base.__name__ == "LocalEnvironment" for base in type(thing.env).__mro__):
            raise Misuse(
                f"adapter mini-swe-agent: the environment {type(thing.env).__name__} runs commands where no fault "
                "reaches them. Take LocalEnvironment."
            )
        declared = {"limit": thing.env.config.timeout, **(getattr(thing.env, "chaos", None) or {})}
        shell = spec(_shell.BASH, "Execute a bash command", COMMAND, declared)
        return Seat(
            _own(thing),
            self.name,
            specs={_shell.BASH: shell},
            honest=_honest(),
            claims=True,
            cancels=False,
            costs=True,
        )

    def framework(self) -> Seat:
        """The stock loop, `DefaultAgent(LitellmModel(...), LocalEnvironment(), ...)` with the settings of `mini`."""
        for name, text in QUIET.items():
            os.environ.setdefault(name, text)
        try:
            import minisweagent.models.litellm_model  # noqa: F401  # early: it takes seconds, and may be missing
        except ImportError as error:
            raise Misuse(f"framework:mini-swe-agent does not import: {error}. {WAY}") from None
        return Seat(_bench, self.name, honest=_honest(), cancels=False, costs=True)


def _honest() -> tuple[type[BaseException], ...]:
    """A provider that refused. The step limit is no exception here but an exit status."""
    from forge_chaos.adapters import _client

    return (_client.refusal(),)


async def _bench(
    task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
) -> Answer:
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.config import get_config_from_spec
    from minisweagent.environments.local import LocalEnvironment

    settings = get_config_from_spec("mini.yaml")
    async with blocking() as door:
        names = [name for name in specs if name in tools]

        def run(line: str, *_: Any) -> CompletedProcess[str]:
            name, arguments = _shell.read(line, names) or ("", "")
            if name == _shell.MARK:
                return CompletedProcess(line, 0, stdout=f"{name}\n{arguments}\n")
            if not name:
                return CompletedProcess(
                    line, 127, stdout=f"bash: {line.partition(' ')[0]}: command not found\n"
                )
            args = json.loads(arguments)
            told = door.wait(lambda: gate(name, args, tools[name]))
            return CompletedProcess(line, 0, stdout=_printed(value(told, args, specs[name])))

        offered = [specs[name].openai() for name in names]
        made = DefaultAgent(
            _scripted(model, door, offered, settings["model"], price=task.price),
            LocalEnvironment(**settings["environment"]),
            **{**settings["agent"], "step_limit": task.max_steps, **_budget(task)},
        )
        return await _run(made, task.prompt, door, run)


def _own(agent: Any) -> Agent:
    async def run(
        task: Task, specs: Mapping[str, ToolSpec], tools: Mapping[str, Tool], gate: Gate, model: Any
    ) -> Answer:
        from minisweagent.environments import local

        real: Run = getattr(local, "_run", None) or _started
        async with blocking() as door:
            twin = copy(agent)
            twin.config = agent.config.model_copy(update={"output_path": None, **_budget(task)})
            twin.extra_template_vars = dict(agent.extra_template_vars)
            if model.taken:
                twin.model = _scripted(model, door, [], {}, agent.model, task.price)

            def process(line: str, *rest: Any) -> CompletedProcess[str]:
                if _shell.MARK in line:  # the framework's own way to end; it passes no gate
                    return real(line, *rest)
                codes = [0]

                def bash(command: str) -> str:
                    done: CompletedProcess[str] = real(command, *rest)
                    codes.append(done.returncode)
                    return done.stdout

                text = gated(bash, specs[_shell.BASH], gate, door)(line)
                return CompletedProcess(line, codes[-1], stdout=_printed(text))

            return await _run(twin, task.prompt, door, process)

    return run


def _budget(task: Task) -> dict[str, float]:
    """What may be spent, where the task says so; else as the agent has it."""
    return {} if task.max_cost is None else {"cost_limit": task.max_cost}


async def _run(agent: Any, prompt: str, door: Blocking, process: Run) -> Answer:
    """The end of a run: what was submitted, or the exit status."""
    with _processes(process), sleeps(door, import_module("tenacity.nap")):
        done = await door.run(lambda: agent.run(prompt))
    status: Any = STATUS.get(str(done.get("exit_status")))
    return Answer(str(done.get("submission") or done.get("exit_status") or ""), status, agent.messages)


@contextmanager
def _processes(process: Run) -> Iterator[None]:
    """What `LocalEnvironment` runs a command with; before 2.4.1 that was `subprocess.run` itself."""
    from minisweagent.environments import local

    def run(line: str, *, cwd: str, env: dict[str, str], timeout: float, **_: Any) -> CompletedProcess[str]:
        return process(line, cwd, env, timeout)

    name = "_run" if hasattr(local, "_run") else "subprocess"
    held = getattr(local, name)
    setattr(local, name, process if name == "_run" else SimpleNamespace(**{**vars(subprocess), "run": run}))
    try:
        yield
    finally:
        setattr(local, name, held)


def _started(line: str, cwd: str, env: dict[str, str], timeout: float) -> CompletedProcess[str]:
    """A command as `LocalEnvironment` of the old releases runs it."""
    return subprocess.run(
        line,
        shell=True,
        text=True,
        cwd=cwd,
        env=env,
        timeout=timeout,
        encoding="utf-8",
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _printed(told: Any) -> str:
    """What a command whose result is that prints: read as the framework reads a process."""
    if told is None or isinstance(told, str):
        told = (told or "").encode("utf-8", "surrogatepass")
    if isinstance(told, bytes):
        return told.decode("utf-8", errors="replace")
    try:
        return json.dumps(told)
    except (TypeError, ValueError):
        return str(told)


def _scripted(
    model: Any,
    door: Blocking,
    tools: list[dict[str, Any]],
    settings: Mapping[str, Any],
    like: Any = None,
    price: float = 0.0,
) -> Any:
    """Our model seat behind `LitellmModel`; with the settings of `like`, if that is one. Each reply costs `price`."""
    import litellm
    from minisweagent.models.litellm_model import LitellmModel
    from minisweagent.models.utils.actions_toolcall import BASH_TOOL

    from forge_chaos.adapters import _client

    client = _client.synchronous(
        model, door, ask=lambda body: _shell.chat(body, tools), answer=lambda _, done: _shell.told(done)
    )

    class Scripted(LitellmModel):
        def _query(self, messages: list[dict[str, str]], **more: Any) -> Any:
            return litellm.completion(
                model=self.config.model_name,
                messages=messages,
                tools=[BASH_TOOL],
                client=client,
                api_key=_client.KEY,
                **(self.config.model_kwargs | more),
            )

        def _calculate_cost(self, response: Any) -> dict[str, float]:
            return {"cost": price}

    held = dict(settings) if not isinstance(like, LitellmModel) else _templates(like)
    return Scripted(**{**held, "model_name": f"openai/{_client.NAME}", "cost_tracking": "ignore_errors"})


def _templates(model: Any) -> dict[str, Any]:
    """How a user's model shows results and mistakes."""
    return {key: getattr(model.config, key) for key in ("observation_template", "format_error_template")}


adapter = MiniSweAgent()
