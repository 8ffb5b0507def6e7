from __future__ import annotations

import pytest

from forge_chaos.events import Abandoned, Called, Executed
from forge_chaos.reading import key, matches, only_reads, own_changes, read, touched, world_touched
from tests.traces import did, failed, finished, injected, left_open, snapshot, started, trace


def test_each_call_from_asking_to_answer() -> None:
    reading = read(
        trace(started("f@1"), failed(1, "read_file", {"path": "a"}, rule="f@1"), did(2, "charge", {}))
    )
    first, second = reading.steps
    assert (first.seq, first.closed, [n for n, _ in first.injected], first.executed) == (1, 3, [2], [])
    assert first.told is not None
    assert not first.told.ok
    assert [n for n, _ in second.executed] == [5]
    assert (second.at, second.closed_at) == (4.0, 6.0)


def test_a_call_left_open_was_told_nothing() -> None:
    reading = read(trace(started(), left_open(1, "read_file", {}), [Called(2, "read_file", {})]))
    assert [(step.told, step.closed) for step in reading.steps] == [(None, 2), (None, None)]


def test_events_of_calls_that_were_never_made_are_left_out() -> None:
    reading = read(trace(Executed(9, did(9, "t", {})[2].result), Abandoned(9), injected("f@1", 9)))  # type: ignore[union-attr]  # Returned
    assert reading.steps == []
    assert len(reading.injected) == 1


def test_the_last_snapshot_counts_and_one_that_is_not_known_is_none() -> None:
    assert read(trace(snapshot({"a": "1"}), snapshot({"a": "2"}))).snapped == 1
    assert read(trace(snapshot({"a": "1"}), snapshot(known=False))).snapshot is None


def test_the_end_of_the_run() -> None:
    reading = read(trace(started(), finished("x")))
    assert (reading.ended, reading.finished) == (1, finished("x"))


def test_canonical_arguments() -> None:
    assert key("t", {"b": 1, "a": "é", "c": None}) == 't {"a":"é","b":1}'


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("a", "a"),
        ("lib/x/y", "lib"),
        ("lib/x", "lib/"),
        ("lib/x/y", "lib/*"),
        ("d/x.bak", "*.bak"),
        ("a[1]", "a[1]"),
    ],
)
def test_patterns_that_match(name: str, pattern: str) -> None:
    assert matches(name, ["other", pattern])


@pytest.mark.parametrize(
    ("name", "pattern"), [("library", "lib"), ("a", "a/b"), ("a", ""), ("A", "a"), ("a1", "a[2]")]
)
def test_patterns_that_do_not(name: str, pattern: str) -> None:
    assert not matches(name, [pattern])


def test_only_a_tool_with_roles_is_known_to_only_read() -> None:
    reading = read(trace(started()))
    assert only_reads(reading, "read_file")
    assert not only_reads(reading, "append_file")
    assert not only_reads(reading, "run_command")
    assert not only_reads(reading, "unheard_of")
    assert not only_reads(read(trace()), "read_file")


def test_what_a_call_touched() -> None:
    wrote = [*did(1, "write_file", {"path": "a"}, touched=["a", "b"]), injected("f@1", 1, changed=("a", "b"))]
    reading = read(trace(started(), wrote))
    assert touched(reading, reading.steps[0]) == {"a": 2}  # a was aimed at, b was the fault's doing


def test_own_changes() -> None:
    begin = started(resources={"a": "1", "b": "1"})
    wrote = did(1, "write_file", {"path": "a"}, touched=["a"])
    end = snapshot({"a": "2", "c": ""})
    assert own_changes(read(trace(begin, wrote, end))) == {"a": ("changed", (2, 4))}
    silent = read(trace(begin, did(1, "write_file", {"path": "a"}), end))
    assert not world_touched(silent)
    assert {name: kind for name, (kind, _) in own_changes(silent).items()} == {
        "a": "changed",
        "b": "deleted",
        "c": "created",
    }
    assert own_changes(read(trace(begin, wrote))) == {}
