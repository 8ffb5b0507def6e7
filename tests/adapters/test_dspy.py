"""What the adapter leans on in dspy, and what it must leave as it was."""

from __future__ import annotations

import inspect
from typing import Any

import dspy
import pytest
from dspy.clients import execution
from dspy.predict import react

from forge_chaos.adapters.dspy import _openai, adapter
from forge_chaos.errors import Misuse
from forge_chaos.events import Asked, Finished, Injected, Trace, find
from forge_chaos.mechanisms.hollow import hollow
from forge_chaos.modelserver.transport import drive
from forge_chaos.nouns import Call, Err, Ok, Rule, Tool
from tests.conformance.frameworks.dspy import build, play
from tests.conformance.frameworks.play import raising, trial_of
from tests.conformance.frameworks.wire import PROMPT, Wire
from tests.gates import Planned

READ = ("read_file", {"path": "a.csv"})


def read_file(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


async def null(call: Call, tool: Tool, env: Any) -> Ok | Err:
    return await hollow(call, tool, env, of="content")


def finished(trace: Trace) -> Finished:
    (found,) = [body for _, body in find(trace, Finished)]
    return found


def test_the_seams_that_the_adapter_leans_on_are_there() -> None:
    assert "time.sleep(" in inspect.getsource(execution.execute)
    assert "format_error_for_lm(err, traceback_frames=5)" in inspect.getsource(react.ReAct.forward)
    made = dspy.ReAct("task -> answer", tools=[read_file])
    assert set(made.tools) == {"read_file", "finish"}
    assert made.tools["read_file"].func is read_file


def test_the_users_module_is_left_as_it_was() -> None:
    made = build([read_file], Wire([[READ]]))
    before = (
        dict(made.tools),
        made.tools["read_file"].func,
        made.react,
        made.react.lm,
        react.format_error_for_lm,
    )
    trace = trial_of(adapter.seat(made), [raising(ValueError("x"))], wire=Wire([[READ]]))
    assert len(list(find(trace, Injected))) == 1
    assert before == (
        dict(made.tools),
        made.tools["read_file"].func,
        made.react,
        made.react.lm,
        react.format_error_for_lm,
    )
    assert execution.time.__name__ == "time"


def test_nothing_of_ours_stands_in_the_traceback_that_the_model_is_shown() -> None:
    wire = Wire([[READ]])
    trace = trial_of(adapter.seat(build([read_file], wire)), [raising(ValueError("bad value"))], wire=wire)
    shown = str([body for _, body in find(trace, Asked)])
    assert "Traceback" in shown
    assert "ValueError: bad value" in shown
    assert "forge_chaos" not in shown


def test_the_step_limit_is_no_status_of_the_frameworks() -> None:
    """It asks for the answer then as at the end; the model's answer is all there is."""
    made = build([read_file], Wire([[READ], [READ], [READ]]))
    made.max_iters = 2
    assert finished(trial_of(adapter.seat(made))).end == "answered"


def test_a_model_that_says_nothing_for_good_is_told_by_a_typed_error() -> None:
    wire = Wire([[READ]])
    seat = adapter.seat(build([read_file], wire))
    trace = trial_of(seat, [Planned(Rule("provider_error", last=None), null, "model")], wire=wire)
    end = finished(trace)
    assert (end.end, end.honest) == ("raised", True)
    assert end.error is not None
    assert end.error["type"] == "AdapterParseError"


@pytest.mark.parametrize(
    ("text", "honest"),
    [
        ("The context window was exceeded even after 3 attempts to truncate the trajectory.", True),
        ("The trajectory is too long so your prompt exceeded the context window", True),
        ("bad value", False),
    ],
)
def test_of_value_errors_only_those_that_tell_of_a_full_window_are_an_honest_end(
    text: str, honest: bool
) -> None:
    seat = adapter.seat(build([read_file], Wire([[READ]])))
    assert isinstance(ValueError(text), seat.honest) is honest


def test_litellm_is_handed_a_client_that_tells_calls_in_fields() -> None:
    """What releases use that have no client of their own."""
    wire = Wire([[READ]])
    tools = [t.format_as_litellm_function_call() for t in build([read_file], wire).tools.values()]
    client = _openai(lambda path, body: drive(wire.door(path, body)), "task", tools)
    asked = (
        f"[[ ## task ## ]]\n{PROMPT}\n\n[[ ## trajectory ## ]]\n\n\nRespond with the corresponding output fields, "
        "starting with the field `[[ ## next_thought ## ]]`, then `[[ ## next_tool_name ## ]]`, then "
        "`[[ ## next_tool_args ## ]]`."
    )
    done = client.chat.completions.create(model="m", messages=[{"role": "user", "content": asked}])
    assert "[[ ## next_tool_name ## ]]\nread_file\n" in done.choices[0].message.content


def test_it_runs_as_it_did_after_a_trial() -> None:
    wire = Wire([[READ]])
    made = build([read_file], wire)
    trial_of(adapter.seat(made), [raising(ValueError("x"))])
    wire.rewind()
    assert play(made, PROMPT) == "DONE"


def test_a_module_with_two_inputs_is_refused() -> None:
    with pytest.raises(Misuse, match="context, question"):
        adapter.seat(dspy.ReAct("context, question -> answer", tools=[read_file]))


def test_the_declaration_of_a_function_is_read() -> None:
    def look(path: str) -> str:
        """Look."""
        return path

    declared: Any = look
    declared.chaos = {"roles": ["network"]}
    specs = adapter.seat(dspy.ReAct("task -> answer", tools=[look])).specs
    assert specs is not None
    assert set(specs["look"].roles) == {"network"}


@pytest.mark.parametrize("thing", [read_file, dspy.ReAct, dspy.Predict("a -> b")])
def test_other_things_are_not_taken_for_an_agent(thing: object) -> None:
    assert not adapter.recognises(thing)
