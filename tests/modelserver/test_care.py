"""What careful handling does where the sweep of the personas' tests cannot tell one way from another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from forge_chaos.modelserver.move import Ask, Move, Say
from forge_chaos.modelserver.run import Run, persona
from forge_chaos.modelserver.script import next_move
from forge_chaos.modelserver.view import Reply, ToolCall, View
from forge_chaos.nouns import ToolSpec, Verify
from forge_chaos.solution import matches
from tests.modelserver import small

ORDER = Reply('{"id": "O7", "amount": 30}')
CHARGED = Reply("charged 30 for O7")


def play(solve: Any, replies: list[Reply], specs: Mapping[str, ToolSpec] = small.SPECS) -> tuple[str, str]:
    """The calls made, and the answer; after the given replies nothing more is told."""
    run = Run(small.scenario("care", solve), persona("expert"), specs)
    asked: list[str] = []
    move: Move = run.send(None)
    for reply in replies:
        assert isinstance(move, Ask)
        asked.append(move.calls[0].name)
        move = run.send((reply,))
    run.close()
    if isinstance(move, Ask):
        return " ".join(asked), f"asks {move.calls[0].name} after {move.wait:g}"
    assert isinstance(move, Say)
    return " ".join(asked), move.text


async def charge(task: Any, tools: Any) -> str:
    await tools.charge(order="O7", amount=30)
    return "DONE"


@pytest.mark.parametrize(
    "damaged",
    ['[{"order": "O8", "amount": 30}]', '[{"amount": 30}]', '"O7"', '{"order": "O8"}'],
)
def test_an_effect_is_not_repeated_when_its_good_reply_and_a_damaged_read_back_disagree(damaged: str) -> None:
    _, answer = play(charge, [CHARGED, Reply(damaged), Reply(damaged)])
    assert answer.startswith("FAILED: charge: unclear: told 'charged 30 for O7'")


@pytest.mark.parametrize("honest", ["[]", '[{"order": "O8", "amount": 12}]'])
def test_an_effect_that_is_credibly_absent_is_repeated(honest: str) -> None:
    _, answer = play(charge, [CHARGED, Reply(honest), Reply(honest)])
    assert answer == "asks charge after 0"


@pytest.mark.parametrize("broken", ["[{", "<html>no", "RuntimeError", "timed out", "429, retry after 3 s"])
def test_a_read_back_that_meets_trouble_says_nothing_of_the_effect(broken: str) -> None:
    _, answer = play(charge, [CHARGED, Reply(broken)])
    assert answer.startswith(("asks list_charges", "asks list_files"))


def test_under_an_idempotency_key_it_is_repeated_at_once() -> None:
    async def keyed(task: Any, tools: Any) -> str:
        await tools.charge(order="O7", amount=30, key="k1")
        return "DONE"

    specs = {**small.SPECS, "charge": replace(small.SPECS["charge"], idempotency="key")}
    lost = Reply("timed out")
    assert play(keyed, [lost, Reply("[]")], specs) == ("charge list_charges", "asks charge after 0")
    assert play(keyed, [lost, Reply("[]"), lost], specs)[1] == "asks charge after 0"
    assert (
        play(charge, [lost, Reply("[]")], specs)[1] == "asks list_charges after 60"
    )  # the key was not passed


def test_a_second_look_is_only_at_the_folder_when_the_thing_was_missing() -> None:
    async def write(task: Any, tools: Any) -> str:
        await tools.write_file(path="a", text="b")
        return "DONE"

    gone, empty = Reply("[Errno 2] No such file or directory: 'a'"), Reply("[]")
    asked, answer = play(write, [Reply("timed out"), gone, empty, empty])
    assert (asked, answer) == ("write_file read_file list_files list_files", "asks write_file after 0")


def test_what_is_listed_and_cannot_be_read_is_not_absent() -> None:
    async def write(task: Any, tools: Any) -> str:
        await tools.write_file(path="a", text="b")
        return "DONE"

    gone, listed = Reply("[Errno 2] No such file or directory: 'a'"), Reply('["a"]')
    _, answer = play(write, [Reply("timed out"), gone, listed, gone])
    assert answer.startswith("FAILED: write_file: unclear: could not be read back")


def test_a_check_that_finds_something_gives_it_as_the_value() -> None:
    async def start(task: Any, tools: Any) -> str:
        async def found() -> Any:
            return json.loads(await tools.list_charges(order="O7"))[0]

        entry = await tools.charge(order="O7", amount=30, check=found)
        return f"{entry['n']}\nDONE"

    assert play(start, [Reply("timed out"), Reply('[{"n": 4}]')])[1] == "4\nDONE"


def test_a_text_seen_before_the_act_is_a_credible_denial() -> None:
    specs = dict(small.SPECS)
    specs["append"] = small.spec(
        "append",
        ["write", "effect"],
        "path text",
        target="path",
        returns=r"appended.*",
        verify=Verify("read_file", {"path": "path"}, lambda args, text: args["text"] in text),
    )

    async def append(task: Any, tools: Any) -> str:
        await tools.read_file(path="log")
        await tools.append(path="log", text="new")
        return "DONE"

    old, done = Reply("line: not found\n"), Reply("appended 3")
    assert play(append, [old, done, old, old], specs)[1] == "asks append after 0"
    other = Reply("line\n")
    assert play(append, [old, done, other, other], specs)[1].startswith("FAILED: append: unclear: ")


WHOLE = replace(
    small.SPECS["write_file"],
    verify=Verify("read_file", {"path": "path"}, lambda args, text: args["text"] in text, whole=True),
)


def rewritten(*replies: str, allow: Mapping[str, Any] | None = None, whole: bool = True) -> tuple[str, str]:
    """A file that is read and then written anew, and these replies."""

    async def rewrite(task: Any, tools: Any) -> str:
        before = await tools.read_file(path="a", expect=matches(r"v\d+"))
        told = await tools.write_file(path="a", text=f"{before}+", allow=allow or {})
        return f"{told}\nDONE"

    specs = {**small.SPECS, "write_file": WHOLE} if whole else small.SPECS
    return play(rewrite, [Reply(text) for text in replies], specs)


def test_what_was_read_is_read_again_before_it_is_replaced() -> None:
    asked, answer = rewritten("v1", "v1\n", "wrote 3 characters to a", "v1+")
    assert asked == "read_file read_file write_file read_file"
    assert answer.endswith("DONE")
    assert rewritten("v1", whole=False)[1] == "asks write_file after 0"


def test_what_another_hand_has_changed_meanwhile_is_not_overwritten() -> None:
    assert rewritten("v1", "v2") == (
        "read_file read_file",
        "FAILED: write_file: stale: it has changed since it was read",
    )
    assert rewritten("v1", "v2", allow={"stale": "begin again"})[1] == "begin again\nDONE"


def test_a_damaged_look_is_no_change() -> None:
    assert rewritten("v1", "timed out")[1] == "asks read_file after 0"
    assert rewritten("v1", "timed out", "v1")[1] == "asks write_file after 0"
    answer = rewritten("v1", *["timed out"] * 3, allow={"stale": "begin again"})[1]
    assert answer == "FAILED: write_file: unclear: could not be read again: timed out"


def test_its_own_change_is_no_other_hands() -> None:
    async def twice(task: Any, tools: Any) -> str:
        await tools.read_file(path="a")
        for text in ("one", "two"):
            await tools.write_file(path="a", text=text)
        return "DONE"

    done = [Reply("wrote 3 characters to a"), Reply("one")]
    replies = [Reply("old"), Reply("old"), *done, Reply("one")]
    assert play(twice, replies, {**small.SPECS, "write_file": WHOLE})[1] == "asks write_file after 0"


def test_in_a_cut_history_its_own_change_is_no_other_hands_either() -> None:
    """The first reading is cut off: what is left of two stands for it, and is no second look."""

    async def rewrite(task: Any, tools: Any) -> str:
        before = await tools.read_file(path="a")
        await tools.write_file(path="a", text=f"{before}+")
        return "DONE"

    scenario = small.scenario("care", rewrite)
    read, write = ToolCall("read_file", {"path": "a"}), ToolCall("write_file", {"path": "a", "text": "v1+"})
    shown = ((read, Reply("v1")), (write, Reply("wrote 3 characters to a")), (read, Reply("v1+")))
    specs = {**small.SPECS, "write_file": WHOLE}
    view = View(scenario.prompt, shown, frozenset(specs))
    ledger = {read.key: 3, write.key: 1}
    assert next_move(scenario, persona("expert"), view, ledger, specs) == Say("DONE")
    whole = View(scenario.prompt, ((read, Reply("v1")), *shown), frozenset(specs))
    assert next_move(scenario, persona("expert"), whole, ledger, specs) == Say("DONE")


def test_one_deletion_does_not_empty_a_folder_of_two() -> None:
    def gone(args: Mapping[str, Any], text: str) -> bool:
        return text.startswith("[") and args["path"] not in json.loads(text)

    specs = dict(small.SPECS)
    specs["delete"] = small.spec(
        "delete",
        ["write"],
        "path",
        target="path",
        returns="deleted",
        verify=Verify("list_files", {"path": "=."}, gone),
    )

    async def delete(task: Any, tools: Any) -> str:
        await tools.list_files(path=".")
        await tools.delete(path="a")
        return "DONE"

    two, one, deleted = Reply('["a", "b"]'), Reply('["a"]'), Reply("deleted")
    assert play(delete, [two, deleted, Reply("[]")], specs)[1] == "asks list_files after 0"
    assert play(delete, [one, deleted, Reply("[]")], specs)[1] == "DONE"


def test_a_predicate_that_holds_for_anything_does_not_hold_for_trouble() -> None:
    specs = dict(small.SPECS)
    specs["move"] = small.spec(
        "move",
        ["write"],
        "source path",
        target="source",
        returns="moved",
        verify=Verify("read_file", {"path": "path"}, lambda args, text: True),
    )

    async def move(task: Any, tools: Any) -> str:
        await tools.move(source="a", path="b")
        return "DONE"

    gone = Reply("[Errno 2] No such file or directory: 'b'")
    assert play(move, [Reply("timed out"), gone], specs)[1] == "asks list_files after 0"
    assert play(move, [Reply("timed out"), Reply("content")], specs)[1] == "DONE"
