"""tear: half of a write stands in the file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.mechanisms.tear import _half, tear
from forge_chaos.nouns import Call, Err, Ok

from .env import Answers, Files, Trial, call, run


def torn(asked: Call, *, tells: bool = True, share: float = 0.5) -> tuple[Ok | Err, str | bytes, Trial]:
    files = Files({"log.txt": "one\n", "conf.ini": "[a]\nport = 1200\n[b]\n"})
    trial = Trial("EIO", files.world)
    result = run(tear(asked, files.tools[asked.tool], trial, tells=tells, share=share))
    assert files.ran == [asked.tool]
    files.workspace.touched()
    return result, files.workspace.texts().get(str(asked.target), ""), trial


def test_of_a_whole_file_the_first_half_stands_there() -> None:
    asked = call("write_file", path="log.txt", text="one\nmore\n")
    result, text, trial = torn(asked)
    assert result == Err("io", "EIO")
    assert text == "one\n"
    assert trial.fired == [{"changed": ["log.txt"], "kept": 4, "total": 9}]


def test_without_an_error_the_tools_own_reply_is_told() -> None:
    result, text, _ = torn(call("write_file", path="new.txt", text="12345\n"), tells=False)
    assert (result, text) == (Ok("wrote 6 characters to new.txt"), "12")


def test_of_what_is_appended_half_is_added() -> None:
    _, text, _ = torn(call("append_file", path="log.txt", text="two\n"))
    assert text == "one\nt"


def test_of_an_edit_the_rest_of_the_file_is_spared() -> None:
    _, text, _ = torn(call("edit_file", path="conf.ini", old="port = 1200", new="port = 8088"))
    assert text == "[a]\nport = 80\n[b]\n"


def test_the_tear_is_not_the_agents_doing() -> None:
    files = Files({"log.txt": "one\n"})
    asked = call("write_file", path="log.txt", text="12345\n")

    async def written(given: Call) -> Ok | Err:
        result = await files.tools["write_file"](given)
        assert files.workspace.touched() == ("log.txt",)
        return result

    run(tear(asked, written, Trial(world=files.world)))
    assert files.workspace.read("log.txt") == b"12"
    assert files.workspace.touched() == ()


@pytest.mark.parametrize(
    "asked",
    [
        call("write_file", path="log.txt", text="one\n"),
        call("write_file", path="../out.txt", text="x"),
        call("delete_file", path="log.txt"),
    ],
)
def test_what_changes_no_text_at_its_target_is_left_alone(asked: Call) -> None:
    _, _, trial = torn(asked)
    assert trial.fired == []


def test_a_tool_without_a_workspace_is_left_alone() -> None:
    trial: Any = Trial()
    assert run(tear(call("write_file", path="a", text="x"), Answers("ok"), trial)) == Ok("ok")
    assert trial.fired == []


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_one_piece_is_lost_whenever_something_is_new(before: bytes, after: bytes) -> None:
    half = _half(before, after, 0.5)
    cuts = range(len(half) + 1)
    assert any(after.startswith(half[:cut]) and after.endswith(half[cut:]) for cut in cuts)
    assert _half(after, after, 0.5) == after
    if after.rstrip():
        assert _half(b"", after, 0.5).rstrip() != after.rstrip()
