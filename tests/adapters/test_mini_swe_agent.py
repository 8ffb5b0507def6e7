"""What the adapter leans on in mini-swe-agent, and what it must leave as it was."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from forge_chaos.adapters.mini_swe_agent import adapter
from forge_chaos.errors import Misuse
from forge_chaos.events import Abandoned, Called, Executed, Finished, Injected, Trace, find
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool
from tests.conformance.frameworks.play import raising, trial_of
from tests.gates import Planned

adapter.framework()  # the framework says less while it is imported, then
local: Any = pytest.importorskip("minisweagent.environments.local")
default: Any = pytest.importorskip("minisweagent.agents.default")
models: Any = pytest.importorskip("minisweagent.models.test_models")

DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo DONE"
TEMPLATES = {"system_template": "You work.", "instance_template": "{{task}}"}


def agent(*lines: str, **more: Any) -> Any:
    """One that runs these commands whatever it sees, then submits DONE."""
    outputs = [models.make_output(line, [{"command": line}]) for line in (*lines, DONE)]
    model = models.DeterministicModel(outputs=outputs)
    return default.DefaultAgent(model, local.LocalEnvironment(), **TEMPLATES, **{"cost_limit": 0.0, **more})


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def shown(made: Any, task: str = "Go.") -> list[str]:
    """What its model is shown of each command."""
    made.run(task)
    return [str(m["content"]) for m in made.messages if m["role"] == "user"][1:]


def seen(trace_of: Any, rules: list[Any]) -> tuple[list[str], Trace]:
    """The same of a trial: the model keeps what it is handed."""
    kept: list[list[str]] = []
    inner = type(trace_of.model).query

    class Keeping(type(trace_of.model)):  # type: ignore[misc]  # the framework's own class
        def query(self, messages: list[dict[str, Any]], **more: Any) -> Any:
            kept.append([str(m["content"]) for m in messages if m["role"] == "user"][1:])
            return inner(self, messages, **more)

    trace_of.model.__class__ = Keeping
    trace = trial_of(adapter.seat(trace_of), rules)
    return kept[-1], trace


def test_the_seams_that_the_adapter_leans_on_are_there() -> None:
    source = inspect.getsource(local.LocalEnvironment.execute)
    assert "_run(command, cwd, os.environ | self.config.env, timeout or self.config.timeout)" in source
    assert {"extra_template_vars", "messages", "env", "model", "config"} <= set(vars(agent()))


def test_a_command_passes_the_gate_once_and_shows_what_it_shows_without_us() -> None:
    plain = shown(agent("echo one", "false"))
    gated, trace = seen(agent("echo one", "false"), [])
    assert gated == plain
    assert "one" in plain[0]
    assert [body.args["command"] for _, body in find(trace, Called)] == ["echo one", "false"]
    assert len(list(find(trace, Executed))) == 2
    assert finished(trace).answer.strip() == "DONE"
    assert finished(trace).status == "done"


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file or directory"),
        TimeoutError("slow"),
        ValueError("bad"),
        OSError(28, "No space left"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_injected_error_is_shown_as_one_of_the_process_itself(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated, trace = seen(agent("echo one"), [raising(error)])
    assert len(list(find(trace, Injected))) == 1
    real, calls = local._run, []

    def fails(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 1:
            raise error
        return real(*args)

    monkeypatch.setattr(local, "_run", fails)
    assert shown(agent("echo one")) == gated


def test_what_no_process_can_print_is_read_as_the_framework_reads_a_process() -> None:
    async def half(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        return Ok("half a pair: \udcff")

    gated, _ = seen(agent("echo one"), [Planned(Rule("malformed_output"), half)])
    gated[0].encode()
    assert "half a pair: \ufffd" in gated[0]


def test_the_users_agent_is_left_as_it_was() -> None:
    made, run = agent("echo one"), local._run
    before = (made.model, made.env, list(made.messages), made.n_calls, dict(made.extra_template_vars))
    trial_of(adapter.seat(made), [raising(ValueError("x"))])
    assert (made.model, made.env, list(made.messages), made.n_calls, dict(made.extra_template_vars)) == before
    assert local._run is run


def test_the_step_limit_is_told_as_one() -> None:
    assert finished(trial_of(adapter.seat(agent("echo one", "echo two", step_limit=2)))).status == "limit"


def test_a_command_that_never_ends_is_cut_with_the_trial() -> None:
    async def hang(call: Call, tool: Tool, env: Any) -> Ok | Err:
        env.fire()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    trace = trial_of(adapter.seat(agent("echo one")), [Planned(Rule("timeout"), hang)])
    assert finished(trace).end == "hung"
    assert list(find(trace, Abandoned))


def test_an_environment_elsewhere_is_refused() -> None:
    made = agent()
    made.env = object()
    with pytest.raises(Misuse, match="LocalEnvironment"):
        adapter.seat(made)


@pytest.mark.parametrize("thing", [local.LocalEnvironment(), default.DefaultAgent, "agent"])
def test_other_things_are_not_taken_for_an_agent(thing: object) -> None:
    assert not adapter.recognises(thing)
