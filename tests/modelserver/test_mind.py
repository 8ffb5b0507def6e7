from __future__ import annotations

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.modelserver.mind import Mind
from forge_chaos.modelserver.trouble import Trouble
from forge_chaos.modelserver.view import Reply, ToolCall, View
from forge_chaos.solution import number
from tests.modelserver import small

READ = ToolCall("read_file", {"path": "a.txt"})
OTHER = ToolCall("read_file", {"path": "b.txt"})


def test_an_answer_is_visible_until_it_is_used() -> None:
    mind = Mind(small.SPECS, View("task", ((READ, Reply("1")), (OTHER, None))), {READ.key: 1})
    assert (mind.visible(READ), mind.visible(OTHER)) == (True, False)
    assert mind.take(READ) == Reply("1")
    assert not mind.visible(READ)


def test_what_was_asked_for_and_is_not_shown_is_lost() -> None:
    mind = Mind(small.SPECS, View("task", ((READ, Reply("1")),)), {READ.key: 2, OTHER.key: 1})
    mind.take(READ)
    assert (mind.lost(READ.key), mind.lost(OTHER.key), mind.gaps()) == (1, 1, True)


def test_a_whole_history_has_no_gaps() -> None:
    mind = Mind(small.SPECS, View("task", ((READ, Reply("1")),)), {READ.key: 1})
    assert mind.gaps()  # nobody has used the reply yet
    mind.take(READ)
    assert not mind.gaps()


def test_driven_live_nothing_is_ever_lost() -> None:
    mind = Mind(small.SPECS, None, {READ.key: 5})
    assert (mind.lost(READ.key), mind.gaps()) == (0, False)


def test_a_step_reads_a_good_reply_and_raises_for_any_other() -> None:
    mind = Mind(small.SPECS)
    step = mind.step("read_file", {"path": "a.txt"}, number())
    assert step.value(Reply("42")) == 42
    assert not mind.met
    with pytest.raises(Trouble, match="read_file: unclear: timed out"):
        step.value(Reply("timed out"))
    assert mind.met
    with pytest.raises(Trouble):
        step.value(Reply("42", failed=True))


def test_what_the_task_provides_for_is_no_trouble_to_read() -> None:
    step = Mind(small.SPECS).step("read_file", {"path": "a.txt"}, number(), allow={"missing": None})
    assert step.read(Reply("ENOENT")) is None
    with pytest.raises(Trouble):
        step.read(Reply("timed out"))


def test_a_write_is_good_when_it_returns_what_it_declares() -> None:
    step = Mind(small.SPECS).step("write_file", {"path": "a", "text": "b"})
    assert step.acts
    assert step.value(Reply("wrote 1 characters to a")) == "wrote 1 characters to a"
    with pytest.raises(Trouble):
        step.value(Reply("ok"))


def test_the_wording_of_an_empty_result_is_an_empty_text() -> None:
    assert Mind(small.SPECS).step("read_file", {"path": "a"}).value(Reply("(no output)")) == ""


def test_an_unknown_tool_is_a_mistake_of_the_solution() -> None:
    with pytest.raises(Misuse, match=r"no tool 'read_flie'\. Did you mean 'read_file'"):
        Mind(small.SPECS).step("read_flie", {})
