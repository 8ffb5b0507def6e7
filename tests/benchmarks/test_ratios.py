"""The bars, held in one run. Ratios only, so that a slow machine is no reason to fail."""

from __future__ import annotations

import pytest

from tests.benchmarks import endings, fuzzing, gate, memory, start, trials, workspaces

pytestmark = pytest.mark.slow


def test_the_gate_costs_at_most_25_bare_awaits() -> None:
    found = gate.ratios()
    assert found["empty"] <= 25, found
    assert found["elsewhere"] <= 30, found


def test_trials_keep_up_with_the_bare_loop() -> None:
    found = trials.rates()
    for name, bar in trials.BARS.items():
        assert found[name] / found["bare"] >= bar, found


def test_what_the_agent_would_not_end_is_ended_as_soon_as_a_few_clean_trials() -> None:
    found = endings.seconds()
    assert all(seconds <= 60 * found["clean"] for seconds in found.values()), found


def test_memory_is_flat_in_the_number_of_trials() -> None:
    assert memory.growth() < 200  # a trace that stays behind is a hundred times that


def test_help_starts_cold_in_the_time_of_a_few_bare_interpreters() -> None:
    found = start.seconds()
    assert found["help"] <= 15 * found["python"], found
    assert found["import"] <= 4 * found["python"], found


def test_beside_a_workspace_on_a_ram_disk_one_in_memory_costs_a_twentieth_and_a_fake_one_at_most_ten() -> (
    None
):
    found = workspaces.ratios()
    assert found["memory"] <= 0.05, found
    assert found["fake"] <= 10, found


def test_an_example_of_a_search_costs_a_few_trials() -> None:
    assert fuzzing.ratio() <= fuzzing.BAR
