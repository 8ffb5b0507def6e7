"""What is special to crewai: a copy runs in a trial, its listeners are waited for, tools of every kind are gated, and the
step limit is a last request without tools."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from forge_chaos.adapters.crewai import adapter
from forge_chaos.errors import Misuse
from forge_chaos.events import Called, Finished, Injected, Trace, find
from tests.conformance.frameworks.crewai import KIT, build, model
from tests.conformance.frameworks.play import raising, trial_of, tried
from tests.conformance.frameworks.wire import Wire

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the framework's own, when it is imported
    from crewai import Agent, Crew, Process, Task
    from crewai.events import crewai_event_bus, event_context
    from crewai.llms.providers.openai.completion import OpenAICompletion
    from crewai.tools import BaseTool, tool

pytestmark = [pytest.mark.filterwarnings(each) for each in KIT.warns]
READ = ("read_file", {"path": "a.csv"})
AGAIN = ("read_file", {"path": "b.csv"})


def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


class Reader(BaseTool):
    name: str = "read_file"
    description: str = "Read a file."

    def _run(self, path: str) -> str:
        return f"text of {path}"


def agent(wire: Wire, *tools: Any, **more: Any) -> Any:
    given = {"role": "Assistant", "goal": "Do what you are told.", "backstory": "You are careful.", **more}
    return Agent(**given, llm=model(wire), tools=list(tools))


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def test_the_seams_that_the_adapter_leans_on_are_there() -> None:
    assert callable(crewai_event_bus._track_future)
    assert not any(each.console.stderr for each in (crewai_event_bus._console, event_context._console))
    made = OpenAICompletion(model="gpt-4o", api_key="none")
    made._client = twin = object()
    assert made._get_sync_client() is twin
    assert made.model_copy()._get_sync_client() is twin
    assert tool("read_file")(read_file).func is read_file


def test_an_exception_of_a_tool_is_shown_and_the_run_goes_on() -> None:
    wire = Wire([[READ]])
    seen, trace = tried(build([read_file], wire), wire, [raising(ValueError("bad value"))])
    assert seen.end == "'DONE'"
    assert len(list(find(trace, Injected))) == 1
    assert "Error executing tool: bad value" in str(seen.requests[-1])


def test_a_tool_that_is_a_class_is_gated_and_left_as_it_was() -> None:
    wire = Wire([[READ]])
    reader = Reader()
    before = dict(vars(reader))
    made = agent(wire, reader)
    seen, trace = tried(made, wire, [raising(ValueError("bad value"))])
    assert seen.end == "'DONE'"
    assert "bad value" in str(seen.requests[-1])
    assert len(list(find(trace, Injected))) == 1
    assert (made.tools, dict(vars(reader))) == ([reader], before)


def test_each_agent_of_a_crew_is_gated_and_its_calls_carry_its_role() -> None:
    wire = Wire([[READ]])
    clerk, boss = agent(wire, tool("read_file")(read_file), role="Clerk"), agent(wire, role="Boss")
    work = Task(description="{task}", expected_output="The answer.", agent=clerk)
    trace = trial_of(adapter.seat(Crew(agents=[boss, clerk], tasks=[work])), wire=wire)
    assert [body.by for _, body in find(trace, Called)] == ["Clerk"]


def test_the_scenarios_model_takes_the_place_of_every_model() -> None:
    own, wire = Wire([]), Wire([[READ]])
    made = build([read_file], own)
    before = made.agents[0].llm._client
    assert finished(trial_of(adapter.seat(made), wire=wire)).answer == "DONE"
    assert (own.bodies, made.agents[0].llm._client) == ([], before)
    assert "_track_future" not in vars(crewai_event_bus)


def test_the_step_limit_is_no_status_of_the_frameworks() -> None:
    """It asks for a last answer without tools then; the model's answer is all there is."""
    wire = Wire([[READ], [AGAIN], [READ], [AGAIN]])
    trace = trial_of(adapter.seat(agent(wire, tool("read_file")(read_file), max_iter=2)))
    assert (finished(trace).end, finished(trace).status) == ("answered", "done")
    assert len(list(find(trace, Called))) < 4
    assert "tools" not in wire.bodies[-1]


def test_a_crew_without_an_input_for_the_prompt_is_refused() -> None:
    made = agent(Wire([]))
    work = Task(description="Write {what} about {whom}.", expected_output="A text.", agent=made)
    with pytest.raises(Misuse, match="what, whom"):
        adapter.seat(Crew(agents=[made], tasks=[work], process=Process.sequential))


def test_other_things_are_not_taken_for_an_agent() -> None:
    for thing in (read_file, tool("read_file")(read_file), Crew, "agent"):
        assert not adapter.recognises(thing)
