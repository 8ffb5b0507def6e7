"""The published table says what was measured, and nothing that its results do not hold."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import pytest

from forge_chaos import catalog
from tests.frameworks import report
from tests.frameworks.environments import EXTRAS, FIRST, ROOT, names

RESULTS = report.results()
NAMED = {"missing_file", "timeout", "malformed_output", "blocked_command", "truncated_context"}


def test_at_least_twelve_frameworks_were_measured_the_first_six_among_them() -> None:
    measured = {each["name"] for each in RESULTS}
    assert len(measured) >= 12
    assert set(FIRST) <= measured <= set(names())


@pytest.mark.parametrize("result", RESULTS, ids=lambda each: str(each["name"]))
def test_every_class_fired_and_no_trial_was_invalid(result: Mapping[str, Any]) -> None:
    assert set(result["classes"]) >= NAMED
    assert set(result["suite"]["classes"]) == NAMED
    for fault, row in (*result["classes"].items(), *result["suite"]["classes"].items()):
        assert row["fired"] > 0, fault
        assert "invalid" not in row["outcomes"], fault
        assert sum(row["outcomes"].values()) == row["fired"]
    assert result["packages"]


@pytest.mark.parametrize("result", RESULTS, ids=lambda each: str(each["name"]))
def test_the_whole_suite_was_played(result: Mapping[str, Any]) -> None:
    skipped = {each["scenario"] for each in result["suite"]["skipped"]}
    assert result["suite"]["clean"]["of"] + len(skipped) >= len(catalog.scenario_names())
    assert result["suite"]["trials"] >= report.SAMPLE


def test_frameworks_differ_and_so_the_table_says_something() -> None:
    apart = report.differing(RESULTS)
    assert apart
    assert all(len(set(ends.values())) > 1 for ends in apart.values())
    shares = {
        tuple((fault, row["acceptable"], row["fired"]) for fault, row in sorted(each["classes"].items()))
        for each in RESULTS
    }
    assert len(shares) > 1


def test_the_page_is_made_of_the_results() -> None:
    assert (report.HOME / "README.md").read_text() == report.rendered(RESULTS)


def test_each_framework_is_an_extra_with_a_tested_range() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name in names():
        needs = stated[EXTRAS.get(name, name)]
        assert any(">=" in need and "<" in need for need in needs), name


def test_text_of_a_framework_stays_in_its_cell() -> None:
    assert report._code("a|b\nc") == "`` a\\|b\\nc ``"
    assert report._code("") == "(nothing)"
