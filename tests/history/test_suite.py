"""Cells side by side: in order, each as often as asked, and stopped as one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from forge_chaos.history import environment
from forge_chaos.history.releases import Release
from forge_chaos.history.suite import Suite
from tests.history.test_playing import task


@pytest.mark.slow
def test_cells_come_in_the_order_of_their_tasks_and_are_told_as_they_end(
    till_index: str, cache: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    suite = Suite(cache, 2, said.append, Event())
    found = suite.cells([task(tmp_path, version, till_index) for version in ("1.2", "1.5", "1.6")])
    assert [cell.word for cell in found] == ["not installable", "bad (false_success)", "good (gave_up)"]
    assert "never-heard-of was not found" in found[0].why
    assert sorted(said) == [
        "till on tillkit 1.2: not installable",
        "till on tillkit 1.5: bad (false_success)",
        "till on tillkit 1.6: good (gave_up)",
    ]


@pytest.mark.slow
def test_playings_that_differ_are_unsteady(till_index: str, cache: Path, tmp_path: Path) -> None:
    suite = Suite(cache, 1, lambda text: None, Event())
    (found,) = suite.cells([replace(task(tmp_path, "2.2", till_index), times=2)])
    assert found.kind == "unsteady"
    assert set(found.ends) == {"bad (false_success)", "good (gave_up)"}


@pytest.mark.slow
def test_a_border_over_six_releases_steps_over_the_one_that_cannot_be_installed(
    till_index: str, cache: Path, tmp_path: Path
) -> None:
    suite = Suite(cache, 1, lambda text: None, Event())
    releases = [Release(f"1.{n}", "2025-01-01T00:00:00Z") for n in range(6)]
    ((border, cells),) = suite.borders([(releases, lambda r: task(tmp_path, r.version, till_index))])
    assert border.before is not None
    assert border.after is not None
    assert (border.before.version, border.after.version, border.between) == (
        "1.1",
        "1.3",
        ("1.2",),
    ), [f"{cell.version}: {cell.word}: {cell.why}" for cell in cells]
    assert border.played == len(cells) == 5


@pytest.mark.slow
def test_stopped_it_leaves_no_half_an_environment(till_index: str, tmp_path: Path) -> None:
    stopped = Event()
    suite = Suite(tmp_path / "cache", 2, lambda text: None, stopped)
    stopped.set()
    with pytest.raises(KeyboardInterrupt):
        suite.cells([task(tmp_path, version, till_index) for version in ("1.0", "1.1", "1.3")])
    assert [path.suffix for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"] == []
    mine = task(tmp_path, "1.0", till_index)
    place = environment.made(mine.wanted, tmp_path / "cache", Event())
    assert (place / environment.ABOUT).is_file()
