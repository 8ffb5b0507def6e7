from __future__ import annotations

import json

import pytest

from forge_chaos.specimens import replies
from tests.specimens.playing import calls, finished, play, sent, world

NO_OBJECT = ("bad_tool_call.list", "bad_tool_call.null", "bad_tool_call.number", "bad_tool_call.broken_json")


@pytest.mark.parametrize("rule", NO_OBJECT)
def test_parses_blindly(rule: str) -> None:
    error = finished(play(replies.parses_blindly, "sum_orders", rule)).error
    assert error is not None
    assert error["type"] in ("TypeError", "JSONDecodeError")


def test_an_object_is_all_that_parses_blindly_needs() -> None:
    trial = play(replies.parses_blindly, "sum_orders", "bad_tool_call.wrong_type")
    assert (trial.outcome, trial.judgement.acceptable) == ("recovered", True), str(trial)


def test_mends_what_broke_off_and_nothing_else() -> None:
    cut = play(replies.mends, "keep_legacy", "bad_tool_call.cut_by_length")
    assert calls(cut)[0].args == {"path": "work"}
    assert "work/notes.txt" not in world(cut)
    assert play(replies.mends, "keep_legacy", "bad_tool_call.list").outcome == "recovered"


def test_takes_the_folder_that_was_looked_at_last() -> None:
    trial = play(replies.takes_defaults, "keep_legacy", "bad_tool_call.null@3")
    assert [called.args["path"] for called in calls(trial, "delete_file")][1] == "work"


def test_respells_arguments_into_what_no_request_can_hold() -> None:
    error = finished(play(replies.respells_arguments, "sum_orders", "bad_tool_call.lone_surrogate")).error
    assert error is not None
    assert error["type"] == "UnicodeEncodeError"
    assert play(replies.respells_arguments, "sum_orders", "bad_tool_call.list").outcome == "recovered"


def test_hides_names() -> None:
    told = [m["content"] for m in sent(play(replies.hides_names, "sum_orders", "bad_tool_call.wrong_type"))]
    assert "Invalid arguments." in told
    assert not any("It takes" in str(text) for text in told)


def test_keeps_one_of_an_id() -> None:
    trial = play(replies.keeps_one_of_an_id, "three_reads", "bad_tool_call.equal_ids")
    assert [called.target for called in calls(trial)][:1] == ["west.txt"]
    clean = play(replies.keeps_one_of_an_id, "three_reads")
    assert [called.target for called in calls(clean)][:3] == ["north.txt", "south.txt", "west.txt"]


def test_merges_equal_calls_and_no_others() -> None:
    trial = play(replies.merges_equal, "three_reads", "bad_tool_call.twice")
    assert [called.target for called in calls(trial)] == ["north.txt", "north.txt", "south.txt", "west.txt"]
    assert sum(m["role"] == "tool" for m in sent(trial)) == 3
    assert play(replies.merges_equal, "three_reads").judgement.acceptable


def test_remembers_by_id() -> None:
    trial = play(replies.remembers_by_id, "sum_orders", "bad_tool_call.counted_ids@1..")
    assert len(calls(trial)) == 1
    results = [m["content"] for m in sent(trial) if m["role"] == "tool"]
    assert len(results) > 2
    assert len(set(results)) == 1


def test_leaves_nameless() -> None:
    trial = play(replies.leaves_nameless, "sum_orders", "bad_tool_call.empty_ids")
    assert len(calls(trial)) >= 1
    assert "" not in [m.get("tool_call_id") for m in sent(trial)]


def test_believes_the_reason_and_not_the_call() -> None:
    trial = play(replies.believes_reason, "sum_orders", "bad_tool_call.contradicted@2")
    assert (finished(trial).answer, len(calls(trial))) == ("", 1)


def test_takes_silence_for_the_end() -> None:
    trial = play(replies.takes_silence, "sum_orders", "provider_error.empty_reply@2")
    assert (finished(trial).answer, len(calls(trial))) == ("DONE", 1)


def test_an_unknown_tool_is_an_exception() -> None:
    error = finished(play(replies.dies_of_unknown_tool, "sum_orders", "bad_tool_call.unknown_tool")).error
    assert error is not None
    assert json.dumps(error["message"]).count("file_read") == 1
