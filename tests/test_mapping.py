"""Which of an agent's own tools stands for which of a scenario's, and in what words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from forge_chaos import catalog, inference, mapping
from forge_chaos.bench import specs_of
from forge_chaos.nouns import Scenario, ToolSpec

SUM = catalog.load("sum_orders", 1)
WORLD = specs_of(SUM)


def own(**tools: tuple[str, ...]) -> dict[str, ToolSpec]:
    """Tools of an agent's own with these arguments, all text; one that ends in `?` may be left out."""
    found: dict[str, ToolSpec] = {}
    for name, arguments in tools.items():
        schema = {
            "type": "object",
            "properties": {argument.rstrip("?"): {"type": "string"} for argument in arguments},
            "required": [argument for argument in arguments if not argument.endswith("?")],
        }
        found[name] = inference.spec(name, "", schema)
    return found


def pairs(tools: Mapping[str, ToolSpec], scenario: Scenario = SUM) -> dict[str, str]:
    return {name: spec.name for name, spec in mapping.mapped(scenario, WORLD, tools).items()}


def test_a_tool_of_the_same_name_stands_for_itself() -> None:
    assert pairs(own(read_file=("path",), read_text=("path",))) == {"read_file": "read_file"}


@pytest.mark.parametrize(
    ("name", "arguments", "stands_for"),
    [
        ("read_text", ("file_path",), "read_file"),
        ("readFile", ("filename",), "read_file"),
        ("cat", ("file",), "read_file"),
        ("get_document", ("document",), "read_file"),
        ("save_file", ("file_path", "content"), "write_file"),
        ("ls", ("directory?",), "list_files"),
        ("read_text", ("path", "encoding?"), "read_file"),
    ],
)
def test_a_tool_stands_in_by_its_verb_and_arguments(
    name: str, arguments: tuple[str, ...], stands_for: str
) -> None:
    assert pairs(own(**{name: arguments})) == {stands_for: name}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_text", ("path", "encoding")),  # nobody could fill in the encoding
        ("save_file", ("path",)),  # nor say the text
        ("delete_file", ("path",)),
        ("now", ()),
    ],
)
def test_a_tool_that_cannot_be_called_so_stands_for_nothing(name: str, arguments: tuple[str, ...]) -> None:
    assert pairs(own(**{name: arguments})) == {}


def test_of_two_the_nearer_name_is_taken() -> None:
    assert pairs(own(get_file=("path",), get_record=("name",))) == {"read_file": "get_file"}
    assert pairs(own(get_file=("path",), read_file_text=("path",))) == {"read_file": "read_file_text"}


def test_of_two_that_are_as_near_none_is() -> None:
    assert pairs(own(get_file=("path",), load_file=("path",))) == {}


def test_the_nearer_argument_goes_before_the_nearer_name() -> None:
    assert pairs(own(load_text=("file_path",), read_file_at=("url",))) == {"read_file": "load_text"}


def test_arguments_are_called_as_the_agent_calls_them() -> None:
    found = mapping.mapped(SUM, WORLD, own(save_file=("file_path", "content"), read_text=("where",)))
    assert found["write_file"].renames == {"path": "file_path", "text": "content"}
    assert found["read_file"].renames == {"path": "where"}


def test_a_write_is_read_back_by_the_agents_own_tool() -> None:
    found = mapping.mapped(SUM, WORLD, own(save_file=("file_path", "content"), read_text=("file_path",)))
    verify = found["write_file"].verify
    assert verify is not None
    assert verify.tool == "read_file"
    args = {"file_path": "total.txt", "content": "12"}
    assert verify.holds(args, "12")
    assert not verify.holds(args, "13")


def test_without_a_way_to_read_nothing_is_read_back() -> None:
    found = mapping.mapped(SUM, WORLD, own(save_file=("file_path", "content")))
    assert found["write_file"].verify is None


def scenario(solve: Any, *tools: str) -> Scenario:
    return Scenario("s", "", tools=tools, solve=solve)


async def reads(task: Any, tools: Any) -> str:
    return str(await tools.read_file(path="a"))


async def helped(task: Any, tools: Any) -> str:
    return await deeper(tools)


async def deeper(tools: Any) -> str:
    return str([await helper(tools) for _ in range(2)])


async def helper(tools: Any) -> str:
    return str(await tools.write_file(path="a", text="b")) if tools else await deeper(tools)


def test_only_what_the_solution_speaks_of_is_missed() -> None:
    assert mapping.missing(scenario(reads, "read_file", "write_file"), {}) == ("read_file",)
    assert mapping.missing(scenario(reads, "read_file"), WORLD) == ()


def test_it_speaks_of_what_its_helpers_speak_of() -> None:
    assert mapping.missing(scenario(helped, "read_file", "write_file"), {}) == ("write_file",)


def test_without_a_solution_all_of_its_tools_are_missed() -> None:
    assert mapping.missing(scenario(None, "read_file", "write_file"), {}) == ("read_file", "write_file")
