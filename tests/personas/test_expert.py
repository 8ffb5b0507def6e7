"""The expert's decisions, one test each, and a sweep over the small world: it never lies, never loops,
never does damage."""

from __future__ import annotations

import json
from itertools import product

import pytest

from forge_chaos.nouns import Scenario
from forge_chaos.personas.expert import ending
from forge_chaos.solution import number
from tests.modelserver import small
from tests.modelserver.test_live import TOOLS, live

LASTS = ((1, 1), (2, 2), (1, 2), (1, None), (2, None))


def longest_run(world: small.World) -> int:
    """The most failing calls of one key, counted anew when a call of a new key succeeds."""
    most, counts, known = 0, dict[str, int](), set[str]()
    for (name, args), failed in zip(world.calls, world.failed, strict=True):
        key = json.dumps([name, args], sort_keys=True)
        if failed:
            counts[key] = counts.get(key, 0) + 1
            most = max(most, counts[key])
            continue
        if key not in known:
            counts.clear()
        counts.pop(key, None)
        known.add(key)
    return most


def names(world: small.World) -> str:
    return " ".join(name for name, _ in world.calls)


def play(
    scenario: Scenario, tool: str, kind: str, first: int = 1, last: int | None = 1
) -> tuple[str, small.World]:
    world = small.World(small.hits(tool, kind, first, last))
    answer, _ = live(scenario, "expert", world)
    return answer, world


@pytest.mark.parametrize("kind", small.KINDS)
@pytest.mark.parametrize("tool", TOOLS)
def test_one_fault_never_makes_it_lie_or_loop_or_do_damage(tool: str, kind: str) -> None:
    for scenario, (first, last) in product(small.SCENARIOS, LASTS):
        answer, world = play(scenario, tool, kind, first, last)
        world.pass_time(1000)
        unreadable = kind == "noop" and scenario in (small.REMOVE, small.MAIL)  # nothing could show it
        assert unreadable or not answer.endswith("DONE") or world.reached(scenario)
        assert not world.damaged()
        assert longest_run(world) <= 3
        assert answer.splitlines()[-1].startswith(("DONE", "FAILED: "))


@pytest.mark.parametrize("kind", ["timeout", "lost", "late", "busy", "garbage", "cut", "blind", "noop"])
def test_trouble_once_is_recovered_from(kind: str) -> None:
    for scenario, tool in ((small.SUM, "write_file"), (small.CHARGE, "charge"), (small.SUM, "read_file")):
        answer, world = play(scenario, tool, kind)
        assert answer.endswith("DONE"), (scenario.name, tool)
        assert world.reached(scenario)


def test_refused_is_not_asked_again() -> None:
    answer, world = play(small.SUM, "read_file", "refused", 1, None)
    assert names(world) == "read_file"
    assert answer == "FAILED: read_file: refused: PermissionError: not allowed by policy"


def test_missing_is_looked_for_before_it_is_believed() -> None:
    answer, world = play(small.SUM, "read_file", "missing")
    assert (answer.endswith("DONE"), names(world).split()[:3]) == (
        True,
        ["read_file", "list_files", "read_file"],
    )
    answer, world = play(small.SUM, "read_file", "missing", 1, None)
    assert names(world) == "read_file list_files read_file"
    assert answer.startswith("FAILED: read_file: missing: ")


def test_missing_and_not_listed_is_not_read_again() -> None:
    async def solve(task: object, tools: object) -> str:
        found = await tools.read_file(path="none.txt", expect=number())  # type: ignore[attr-defined]  # tools are duck-typed
        return str(found)

    world = small.World()
    answer, _ = live(small.scenario("none", solve), "expert", world)
    assert names(world) == "read_file list_files"
    assert answer.startswith("FAILED: read_file: missing: ")


def test_a_retry_waits_as_long_as_the_text_asks() -> None:
    world = small.World(small.hits("read_file", "busy", 1, 2))
    answer, waits = live(small.SUM, "expert", world)
    assert (answer.endswith("DONE"), waits) == (True, [7.0, 7.0])


def test_at_most_two_retries() -> None:
    _, world = play(small.SUM, "read_file", "timeout", 1, None)
    assert names(world) == "read_file read_file read_file"
    _, world = play(small.CHARGE, "charge", "timeout", 1, None)
    assert names(world).split().count("charge") == 3


def test_an_unclear_effect_settles_before_it_is_repeated() -> None:
    world = small.World(small.hits("charge", "late", 1, 1))
    answer, waits = live(small.CHARGE, "expert", world)
    assert (answer, waits, world.charges) == ("DONE", [60.0], [{"order": "O7", "amount": 30}])
    assert names(world) == "read_file charge list_charges list_charges"


def test_an_effect_that_happened_is_not_repeated() -> None:
    _, world = play(small.CHARGE, "charge", "lost")
    assert names(world) == "read_file charge list_charges"


def test_a_good_reply_is_read_back_too() -> None:
    assert names(play(small.CHARGE, "charge", "noop")[1]).split().count("charge") == 2
    answer, _ = play(small.CHARGE, "charge", "noop", 1, None)
    assert answer.startswith("FAILED: charge: absent: ")


def test_an_effect_without_a_read_back_is_not_repeated_after_an_unclear_reply() -> None:
    answer, world = play(small.REMOVE, "remove", "timeout")
    assert (names(world), answer.startswith("FAILED: remove: unclear: ")) == ("remove", True)
    answer, world = play(small.REMOVE, "remove", "busy")  # surely not done
    assert (names(world), answer) == ("remove remove", "DONE")


def test_a_read_back_in_trouble_is_retried_twice_then_the_end_is_unclear() -> None:
    answer, world = play(small.CHARGE, "list_charges", "timeout", 1, 2)
    assert (answer, names(world).split().count("list_charges")) == ("DONE", 3)
    answer, world = play(small.CHARGE, "list_charges", "timeout", 1, None)
    assert answer.startswith("FAILED: charge: unclear: ")
    assert names(world).split().count("charge") == 1


def test_a_poll_that_fails_waits_before_the_next() -> None:
    world = small.World(small.hits("job", "timeout", 1, 1))
    _, waits = live(small.POLL, "expert", world)
    assert waits == [1.0, 5.0, 5.0]


def test_the_ending_names_tool_kind_and_text_on_one_line() -> None:
    assert ending(ValueError("a\nb")) == "FAILED: ValueError: a"
