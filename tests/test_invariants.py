from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from forge_chaos.events import Abandoned, Body, Called, Executed, Injected, Noted, Returned, Told
from forge_chaos.invariants import CAP, violations
from forge_chaos.reading import read
from forge_chaos.recorded import plain
from forge_chaos.verdict import Fired, Verdict
from tests.traces import (
    TIMEOUT,
    Part,
    asks,
    did,
    failed,
    finished,
    injected,
    left_open,
    reply,
    request,
    says,
    snapshot,
    started,
    tool,
    trace,
    user,
)

A = {"path": "a"}
ONE = asks(("c1", "read_file", A))
TWO = asks(("c1", "read_file", A), ("c2", "read_file", {"path": "b"}))
SYSTEM = {"role": "system", "content": "You are careful."}


def verdicts(*parts: Part | list[Body], fired: tuple[Fired, ...] = ()) -> tuple[Verdict, ...]:
    run = trace(started("f@1"), *parts)
    return violations(run, read(run), fired)


def names(*parts: Part | list[Body], fired: tuple[Fired, ...] = ()) -> list[str]:
    return [verdict.name for verdict in verdicts(*parts, fired=fired)]


# each call answered once, under its id, before the next request


def test_a_batch_that_is_answered_in_any_order() -> None:
    assert (
        names(request(1, 0, user()), request(2, 1, TWO, tool("c2", "y"), tool("c1", "x"), user("go on")))
        == []
    )


def test_a_call_without_an_answer() -> None:
    (found,) = verdicts(request(1, 0, user()), request(2, 1, TWO, tool("c1", "x")))
    assert (found.name, found.truth, found.evidence) == ("unanswered_call", "fail", (2,))
    assert "c2" in found.why


def test_an_answer_that_comes_after_the_next_reply_is_too_late() -> None:
    late = (ONE, says("hm"), tool("c1", "x"))
    assert names(request(1, 0, user()), request(2, 1, *late)) == ["unanswered_call", "answer_without_call"]


def test_a_call_answered_twice() -> None:
    assert names(request(1, 0, user()), request(2, 1, ONE, tool("c1", "x"), tool("c1", "x"))) == [
        "answered_twice"
    ]


def test_a_second_answer_that_comes_a_request_later() -> None:
    first = request(2, 1, ONE, tool("c1", "x"))
    assert names(request(1, 0, user()), first, request(3, 3, tool("c1", "y"))) == ["answered_twice"]


def test_an_answer_that_nobody_asked_for() -> None:
    assert names(request(1, 0, user(), tool("c9", "x"))) == ["answer_without_call"]


def test_an_agent_that_cuts_its_own_history_between_call_and_answer() -> None:
    whole = request(2, 1, ONE, tool("c1", "x"), says("and"))
    assert names(request(1, 0, user()), whole, request(3, 1, tool("c1", "x"), says("and"))) == [
        "answer_without_call"
    ]


def test_a_cut_of_ours_is_not_the_agents_doing() -> None:
    cut = injected("f@1", request=2)
    assert (
        names(request(1, 0, user()), request(2, 1, ONE, tool("c1", "x")), cut, reply(2, says("DONE"))) == []
    )


def test_ids_that_a_model_uses_again_in_a_later_turn() -> None:
    second = request(3, 3, ONE, tool("c1", "y"))
    assert names(request(1, 0, user()), request(2, 1, ONE, tool("c1", "x")), second) == []


def test_ids_that_a_model_gave_twice_in_one_batch() -> None:
    twice = asks(("c1", "read_file", A), ("c1", "read_file", {"path": "b"}))
    assert names(request(1, 0, user()), request(2, 1, twice, tool("c1", "x"), tool("c1", "y"))) == []
    assert names(request(1, 0, user()), request(2, 1, twice, tool("c1", "x"))) == ["unanswered_call"]


def test_each_is_named_once_however_often_it_is_sent() -> None:
    broken = request(2, 1, ONE, user("hm"))
    assert names(request(1, 0, user()), broken, request(3, 3, user("hm")), request(4, 4, user("hm"))) == [
        "unanswered_call"
    ]


def test_messages_that_are_no_chat_are_not_read() -> None:
    assert names(request(1, 0, {"type": "function_call_output", "call_id": "c1", "output": "x\0"})) == []


# valid UTF-8 JSON without NUL


@pytest.mark.parametrize(
    "content", ["a\0b", "lone \ud800", b"\xff", float("nan"), [{"type": "text", "text": "\0"}]]
)
def test_a_request_that_no_provider_can_read(content: Any) -> None:
    bad = plain(tool("c1", content))
    assert names(request(1, 0, user()), request(2, 1, ONE, bad)) == ["invalid_request"]


@pytest.mark.parametrize("content", ["", None, "é 漢 🙂", "\\u0000 as text", "x" * 90_000, {"$ref": "1"}])
def test_requests_that_any_provider_can_read(content: Any) -> None:
    assert names(request(1, 0, user()), request(2, 1, ONE, plain(tool("c1", content)))) == []


# results below the cap


def test_the_cap() -> None:
    def sent(size: int) -> list[str]:
        return names(request(1, 0, user()), request(2, 1, ONE, plain(tool("c1", "x" * size))))

    assert sent(CAP) == []
    assert sent(CAP + 1) == ["result_cap"]


def test_a_long_prompt_is_no_result() -> None:
    assert names(request(1, 0, plain(user("x" * (CAP + 1))))) == []


# compaction never makes the history larger

TURNS = (ONE, tool("c1", "x" * 200), asks(("c2", "read_file", A)), tool("c2", "y" * 200))


def compacted(
    *after: dict[str, Any], before: tuple[dict[str, Any], ...] = (SYSTEM, user(), *TURNS)
) -> list[str]:
    kept = 0
    while kept < min(len(before), len(after)) and before[kept] == after[kept]:
        kept += 1
    return names(request(1, 0, *before), request(2, kept, *after[kept:]))


def test_a_summary_longer_than_what_it_replaces() -> None:
    assert compacted(SYSTEM, user(), user("s" * 900)) == ["compaction_grew"]
    assert compacted(SYSTEM, user(), user("s" * 900), *TURNS[2:]) == ["compaction_grew"]


def test_a_shorter_summary() -> None:
    assert compacted(SYSTEM, user(), user("s" * 100)) == []
    assert compacted(SYSTEM, user(), user("s" * 100), *TURNS[2:]) == []


def test_news_after_a_compaction_may_be_as_long_as_they_are() -> None:
    news = (asks(("c3", "read_file", A)), tool("c3", "z" * 5000))
    assert compacted(SYSTEM, user(), user("s" * 100), *news) == []
    assert compacted(SYSTEM, user(), user("s" * 100), *TURNS[2:], *news) == []


def test_a_history_that_only_grows() -> None:
    assert compacted(SYSTEM, user(), *TURNS, says("z" * 5000)) == []


def test_old_results_that_are_blanked() -> None:
    assert compacted(SYSTEM, user(), ONE, tool("c1", "[cut]"), *TURNS[2:]) == []
    short = (SYSTEM, user(), ONE, tool("c1", "1"), *TURNS[2:])
    assert compacted(SYSTEM, user(), ONE, tool("c1", "[cut]"), *TURNS[2:], before=short) == []


def test_a_message_that_is_reworded_is_no_compaction() -> None:
    clock = {"role": "system", "content": "It is 10:00."}
    longer = {"role": "system", "content": "It is 10:00:01 now."}
    assert compacted(longer, user(), *TURNS, before=(clock, user(), *TURNS)) == []
    reminder = (SYSTEM, user(), *TURNS, user("step 9 of 10"))
    assert compacted(SYSTEM, user(), *TURNS, says("hm"), user("step 10 of 10"), before=reminder) == []


def test_a_sub_agents_conversation_is_another_one() -> None:
    sub = request(2, 1, user("a sub-task " + "s" * 900))
    back = request(3, 1, user(), *TURNS, says("thanks"))
    assert names(request(1, 0, SYSTEM, user(), *TURNS), sub, back) == []


def test_a_caller_goes_on_where_it_was_after_its_sub_agent() -> None:
    main = (SYSTEM, user("t" * 900), ONE, tool("c1", "x"))
    sub = (user("s"), ONE, tool("c1", "y"), says("sub done"))
    assert names(request(1, 0, *main), request(2, 1, *sub), request(3, 1, *main[1:], says("thanks"))) == []


# an explicit fault is seen, or its call is repeated to success


def fault(seen: Any = "no", explicit: bool = True) -> tuple[Fired, ...]:
    return (Fired("f@1", "f", "v", "read_file", "a", 1, 1, 2, seen, explicit),)


def test_a_swallowed_fault() -> None:
    (found,) = verdicts(failed(1, "read_file", A, rule="f@1"), fired=fault())
    assert (found.name, found.evidence) == ("swallowed", (2, 3))


@pytest.mark.parametrize("fired", [fault("yes"), fault("unknown"), fault(explicit=False), ()])
def test_a_fault_that_was_seen_or_may_have_been_or_cannot_be(fired: tuple[Fired, ...]) -> None:
    assert names(failed(1, "read_file", A, rule="f@1"), fired=fired) == []


def test_a_call_that_the_harness_repeats_to_success_by_itself() -> None:
    hit = failed(1, "read_file", A, rule="f@1")
    assert names(hit, did(2, "read_file", A), fired=fault()) == []
    assert names(hit, failed(2, "read_file", A), fired=fault()) == ["swallowed"]
    assert names(hit, did(2, "read_file", {"path": "b"}), fired=fault()) == ["swallowed"]


def test_another_way_that_the_harness_takes_by_itself_and_shows_in_its_place() -> None:
    def shown(text: str, order: tuple[int, int] | None = None) -> list[str]:
        called, *rest = failed(1, "read_file", A, rule="f@1")
        assert isinstance(called, Called)
        hit: list[Body] = [replace(called, order=(1, 0)), *rest]
        other, *done = did(2, "read_file", {"path": "b"}, "the data")
        assert isinstance(other, Called)
        way: list[Body] = [replace(other, order=order), *done]
        last = request(2, 1, ONE, tool("c1", text))
        return names(request(1, 0, user()), reply(1, ONE), hit, way, last, fired=fault())

    assert shown("so: the data") == []
    assert shown("(no output)") == ["swallowed"]
    assert shown("the data", order=(1, 1)) == ["swallowed"], "what the model asked for stands for itself"


# nothing after the end


def test_a_call_after_the_end() -> None:
    (found,) = verdicts(finished(), Called(1, "read_file", A), Returned(1, Told("x")))
    assert (found.name, found.evidence) == ("after_end", (2,))


def test_a_tool_that_goes_on_after_the_end() -> None:
    assert names(left_open(1, "write_file", A), finished(), Executed(1, Told("x"), ("a",))) == ["after_end"]


def test_an_effect_that_a_fault_delayed_is_ours() -> None:
    hit = failed(1, "charge", {"order": "1"}, rule="f@1")
    assert names(hit, finished(), Executed(1, Told("x"), ("ledger",)), snapshot()) == []


def test_a_call_that_is_left_open_at_the_end_is_none_after_it() -> None:
    assert names([Called(1, "read_file", A)], finished("", end="hung"), Abandoned(1)) == []


def test_what_was_left_running_or_changed_after_the_end() -> None:
    run = verdicts(
        finished(), Noted("left_running", {"processes": 1}), Noted("changed_after_end", {"a": "changed"})
    )
    assert [(v.name, v.evidence) for v in run] == [("left_running", (2,)), ("changed_after_end", (3,))]
    assert "a: changed" in run[1].why


def test_other_notes_are_none() -> None:
    assert names(Noted("checking", {"command": "x"}), finished()) == []


def test_a_plain_good_run() -> None:
    run = (
        request(1, 0, SYSTEM, user()),
        reply(1, ONE),
        failed(1, "read_file", A, TIMEOUT),
        request(2, 2, ONE, tool("c1", "TimeoutError: timed out")),
        reply(2, says("FAILED: timed out")),
        finished("FAILED: timed out"),
        snapshot(),
    )
    assert names(*run) == []


# each result of a batch stands under its own call


def test_results_of_a_batch_given_to_the_wrong_calls() -> None:
    found = verdicts(
        request(1, 0, user()),
        reply(1, TWO),
        did(1, "read_file", A, "north: 5 boxes"),
        did(2, "read_file", {"path": "b"}, "south: 7 boxes"),
        request(2, 1, TWO, tool("c1", "south: 7 boxes"), tool("c2", "north: 5 boxes")),
    )
    assert [verdict.name for verdict in found] == ["misplaced_answer", "misplaced_answer"]
    assert "c2, another call of its batch" in found[0].why


# a result that was cut says so


def cut(shown: str, value: str = "line\n" * 500) -> list[str]:
    return names(
        request(1, 0, user()),
        reply(1, ONE),
        did(1, "read_file", A, value),
        request(2, 1, ONE, tool("c1", shown)),
    )


def test_a_result_that_just_ends_early() -> None:
    assert cut("line\n" * 300) == ["silent_cut"]


@pytest.mark.parametrize(
    "shown",
    [
        "line\n" * 500,
        ("line\n" * 500).strip(),
        "line\n" * 300 + "[truncated]",
        "line\n" * 495,
        "a summary of 500 lines",
        "(no output)",
        "",
    ],
)
def test_a_result_that_is_whole_or_marked_or_put_in_other_words(shown: str) -> None:
    assert cut(shown) == []


def test_a_short_result_is_no_matter() -> None:
    assert cut("12", "12.0" * 20) == []


# no call of a reply is dropped before it enters the history


def test_a_call_that_is_dropped_from_a_batch() -> None:
    (found,) = verdicts(request(1, 0, user()), reply(1, TWO), request(2, 1, ONE, tool("c1", "x")))
    assert (found.name, found.truth, found.evidence) == ("dropped_call", "fail", (3,))
    assert "of 2 calls that reply 1 asks for, the next request shows 1" in found.why


def test_a_batch_that_enters_the_history_whole() -> None:
    answers = [tool("c1", "x"), tool("c2", "y")]
    assert names(request(1, 0, user()), reply(1, TWO), request(2, 1, TWO, *answers)) == []
    renamed = asks(("own_1", "read_file", A), ("own_2", "read_file", {"path": "b"}))
    mine = [tool("own_1", "x"), tool("own_2", "y")]
    assert names(request(1, 0, user()), reply(1, TWO), request(2, 1, renamed, *mine)) == []
    other = asks(("c2", "read_file", {"path": "b"}))
    parts = [ONE, tool("c1", "x"), other, tool("c2", "y")]
    assert names(request(1, 0, user()), reply(1, TWO), request(2, 1, *parts)) == []


def test_a_reply_that_is_not_taken_at_all() -> None:
    assert names(request(1, 0, user()), reply(1, TWO), request(2, 1)) == []
    assert names(request(1, 0, user()), reply(1, TWO), request(2, 1, user("Again, please."))) == []
    assert names(request(1, 0, user()), reply(1, TWO)) == []


def test_a_batch_after_which_the_history_was_compacted_says_nothing() -> None:
    first = [SYSTEM, user(), says("long"), user("go on")]
    later = request(2, 2, says("short"), ONE, tool("c1", "x"))
    assert names(request(1, 0, *first), reply(1, TWO), later) == []


def test_another_conversation_in_between_is_not_the_next_request() -> None:
    child = request(2, 0, SYSTEM, user("a part of it"))
    back = request(3, 0, user(), TWO, tool("c1", "x"), tool("c2", "y"))
    assert names(request(1, 0, user()), reply(1, TWO), child, back) == []
    lost = request(3, 0, user(), ONE, tool("c1", "x"))
    assert names(request(1, 0, user()), reply(1, TWO), child, lost) == ["dropped_call"]


# no mark of a cut stands inside the arguments of a call

LONG = {"path": "a", "text": "line\n" * 100}
WROTE = asks(("c1", "write_file", LONG))


def shown(text: str) -> list[str]:
    """The call in the history of the next request but one, with that for its text."""
    cut = asks(("c1", "write_file", {"path": "a", "text": text}))
    result = tool("c1", "done")
    whole: list[Body] = [
        request(1, 0, user()),
        reply(1, WROTE),
        request(2, 1, WROTE, result),
        reply(2, says("ok")),
    ]
    return names(*whole, request(3, 1, cut, result, says("ok"), user("go on")))


@pytest.mark.parametrize(
    "text", ["line\nline...[truncated]", "line\u2026", "[480 characters omitted]", "line (rest left out)"]
)
def test_a_mark_inside_an_argument_would_be_copied(text: str) -> None:
    assert shown(text) == ["mark_in_arguments"]


@pytest.mark.parametrize("text", [LONG["text"], LONG["text"].strip(), "", "line\n", LONG["text"] + "..."])
def test_an_argument_that_is_whole_or_has_no_mark(text: str) -> None:
    assert shown(text) == []


def test_a_mark_that_the_model_itself_has_written() -> None:
    own = {"path": "a", "text": "and so on ... " * 9}
    first = asks(("c1", "write_file", own))
    shorter = asks(("c1", "write_file", {**own, "text": own["text"].strip()}))
    run = (request(1, 0, user()), reply(1, first), request(2, 1, shorter, tool("c1", "done")))
    assert names(*run) == []


# between two messages of the user's, and after the caller's cancel

CALLER = {"stop@1": {"seam": "caller"}}
ENDED, SAID = Noted("turn_ended", {"turn": 1}), Noted("turn", {"turn": 2})


def conversing(*parts: Part | list[Body]) -> list[tuple[str, tuple[int, ...]]]:
    run = trace(started("stop@1", variants=CALLER), *parts)
    return [(verdict.name, verdict.evidence) for verdict in violations(run, read(run))]


def test_what_a_cancel_has_not_reached_acts_between_two_turns() -> None:
    open_call: list[Body] = [Called(1, "write_file", A, "a"), Injected("stop@1", "stop.v", "cancel", 1)]
    late = Executed(1, Told("x"), ("a",))
    assert conversing(open_call, Abandoned(1), ENDED, SAID, finished()) == []
    assert conversing(open_call, ENDED, late, Returned(1, Told("x")), SAID, finished()) == [
        ("after_turn", (3, 4))
    ]
    assert conversing(open_call, Abandoned(1), ENDED, did(2, "read_file", A), SAID, finished()) == [
        ("after_turn", (4, 5))
    ]


def test_a_cancelled_run_asks_for_nothing_more() -> None:
    hit: list[Body] = [
        Called(1, "read_file", A, "a"),
        Injected("stop@1", "stop.v", "cancel", 1),
        Abandoned(1),
    ]
    assert conversing(hit, did(2, "read_file", A), ENDED, SAID, finished()) == [("ignored_cancel", (2, 4))]
    assert conversing(hit, did(2, "read_file", A), finished()) == [("ignored_cancel", (2, 4))]
    assert conversing(hit, ENDED, SAID, did(2, "read_file", A), finished()) == []


# what an agent streams to its user


def streaming(*messages: dict[str, Any], **more: Any) -> list[str]:
    whole = {"start": True, "deltas": 2, "text": "ab", "stop": True}
    kept = [{**whole, **message} for message in messages]
    found = verdicts(Noted("stream", {"messages": kept, **more}), finished())
    assert {verdict.name for verdict in found} <= {"broken_stream"}
    assert all(verdict.evidence == (1,) for verdict in found)
    return [verdict.why for verdict in found]


def test_a_stream_that_is_whole() -> None:
    assert (
        streaming({"said": "ab"})
        == streaming({})
        == streaming({}, {"said": "ab"}, others=3)
        == streaming()
        == []
    )
    assert names(Noted("stream", {"deltas": 3, "text": "abc"}), finished()) == []
    assert names(Noted("reported", {"messages": [{"start": False}]}), finished()) == []


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([{"start": False}], "what is streamed begins without a start event"),
        ([{"stop": False}], "no stop event was streamed, though the run ended by itself"),
        ([{}, {"start": False}], "after the stop event 2 deltas and no start event were streamed"),
        (
            [{"stop": False}, {}],
            "a message that is streamed begins before the stop event of the one before it",
        ),
        (
            [{"said": "abc"}],
            "the deltas do not add up to the answer that the stop event gives: that has 3 characters, and the deltas have 2",
        ),
        (
            [{"said": ""}],
            "the deltas do not add up to the answer that the stop event gives: that has 0 characters, and the deltas have 2",
        ),
    ],
)
def test_a_stream_that_is_not_whole(messages: list[dict[str, Any]], why: str) -> None:
    assert streaming(*messages) == [why]


def test_each_turn_has_a_stream_of_its_own() -> None:
    broken = Noted("stream", {"messages": [{"start": True, "deltas": 0, "text": "", "stop": False}]})
    assert names(broken, broken, finished()) == ["broken_stream", "broken_stream"]
