"""What the adapter leans on in smolagents, and what it must leave as it was."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool, utils

from forge_chaos.adapters.smolagents import adapter
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Finished, Injected, Returned, Trace, find
from forge_chaos.modelserver.transport import http, transports
from tests.conformance.frameworks.play import raising, trial_of
from tests.conformance.frameworks.wire import PROMPT, Wire

READ = ("read_file", {"path": "a.csv"})


@tool
def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: The path of the file.
    """
    return f"text of {path}"


def model(wire: Wire) -> Any:
    made = OpenAIModel("gpt-4o", api_key="none")
    made.client = wire.synchronous()
    return made


def agent(wire: Wire, **more: Any) -> Any:
    return ToolCallingAgent(tools=[read_file], model=model(wire), verbosity_level=-1, **more)


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def test_the_seams_that_the_adapter_leans_on_are_there() -> None:
    made = agent(Wire([]))
    assert "forward" not in vars(made.tools["read_file"])
    assert set(made.tools) == {"read_file", "final_answer"}
    assert callable(utils.time.sleep)
    assert "time.sleep(delay)" in inspect.getsource(utils.Retrying)


def test_the_users_agent_is_left_as_it_was() -> None:
    wire = Wire([[READ]])
    made = agent(wire)
    made.state["known"] = 1
    before = (dict(made.tools), list(made.memory.steps), dict(made.state), made.model, utils.time)
    trace = trial_of(adapter.seat(made), [raising(ValueError("x"))])
    assert len(list(find(trace, Injected))) == 1
    assert (dict(made.tools), list(made.memory.steps), dict(made.state), made.model, utils.time) == before
    assert "forward" not in vars(made.tools["read_file"])


def test_the_step_limit_is_told_as_one() -> None:
    made = agent(Wire([[READ], [READ], [READ]]), max_steps=2)
    assert finished(trial_of(adapter.seat(made))).status == "limit"


def test_an_answer_is_no_limit() -> None:
    assert finished(trial_of(adapter.seat(agent(Wire([[READ]]))))).status == "done"


def test_the_tools_of_managed_agents_pass_the_gate_too() -> None:
    """The manager hands over; the one that it manages calls the tool."""
    below = ToolCallingAgent(
        [read_file], model(Wire([[READ]])), name="reader", description="Reads.", verbosity_level=-1
    )
    hand_over = Wire([[("reader", {"task": PROMPT})]])
    above = ToolCallingAgent([], model(hand_over), managed_agents=[below], verbosity_level=-1)
    trace = trial_of(adapter.seat(above), [raising(ValueError("bad value"))])
    assert [(body.tool, body.by) for _, body in find(trace, Called)] == [("read_file", "reader")]
    assert len(list(find(trace, Injected))) == 1
    assert below.memory.steps == []


def test_a_provider_that_refuses_is_an_honest_end() -> None:
    trace = trial_of(adapter.seat(agent(refusing(400))))
    assert (finished(trace).end, finished(trace).status) == ("answered", "failed")


def test_the_pause_before_a_retry_takes_no_real_time() -> None:
    """The framework waits minutes after a 429; in trial time."""
    trace = trial_of(adapter.seat(agent(refusing(429, times=1))))
    assert finished(trace).status == "done"
    assert trace[-1].at > 60


def refusing(status: int, times: int = 9) -> Any:
    class Refusing(Wire):
        left = times

        async def door(self, path: str, body: bytes) -> tuple[int, bytes]:
            self.left -= 1
            if self.left >= 0:
                return status, b'{"error": {"message": "no", "code": "429"}}'
            return await super().door(path, body)

        def synchronous(self) -> Any:
            from openai import OpenAI

            client = http().Client(transport=transports(self.door)[0])
            return OpenAI(api_key="none", base_url="http://model/v1", http_client=client, max_retries=0)

    return Refusing([[READ]])


class Coder:
    """A model that writes code: each text is what it says next."""

    model_id = "coder"

    def __init__(self, *code: str) -> None:
        self.code = list(code)

    def generate(self, messages: Any, **options: Any) -> Any:
        from smolagents import ChatMessage, MessageRole

        return ChatMessage(role=MessageRole.ASSISTANT, content=f"<code>\n{self.code.pop(0)}\n</code>")


def coding(*code: str) -> Any:
    return CodeAgent([read_file], Coder(*code), verbosity_level=-1)


def test_the_tools_of_a_code_agent_pass_the_gate_and_its_variables_do_not_stay() -> None:
    made = coding("x = read_file(path='a.csv')", "final_answer(x)")
    trace = trial_of(adapter.seat(made))
    assert finished(trace).answer == "text of a.csv"
    assert [body.args for _, body in find(trace, Called)] == [READ[1]]
    assert len(list(find(trace, Returned))) == 1
    assert "x" not in made.python_executor.state


def test_what_is_raised_in_a_code_agents_tool_is_raised_in_its_code() -> None:
    made = coding(
        "try:\n    x = read_file('a.csv')\nexcept ValueError as e:\n    x = str(e)\nfinal_answer(x)"
    )
    trace = trial_of(adapter.seat(made), [raising(ValueError("bad value"))])
    assert finished(trace).answer == "bad value"


def test_an_executor_elsewhere_is_refused() -> None:
    made = coding()
    made.executor_type = "docker"
    with pytest.raises(Misuse, match="docker"):
        adapter.seat(made)


@pytest.mark.parametrize("thing", [read_file, ToolCallingAgent, "agent"])
def test_other_things_are_not_taken_for_an_agent(thing: object) -> None:
    assert not adapter.recognises(thing)


def test_a_declaration_on_the_function_is_read() -> None:
    made = agent(Wire([]))
    function: Callable[..., Any] = made.tools["read_file"].forward
    function.chaos = {"roles": ["network"]}  # type: ignore[attr-defined]  # how a user declares
    try:
        specs = adapter.seat(made).specs
        assert specs is not None
        assert set(specs["read_file"].roles) == {"network"}
        assert "final_answer" not in specs
    finally:
        del function.chaos  # type: ignore[attr-defined]  # as above
