"""Cells side by side, and borders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TypeVar

from forge_chaos import story
from forge_chaos.history import environment
from forge_chaos.history.border import Border, border
from forge_chaos.history.cell import Cell, steady
from forge_chaos.history.playing import Task, played
from forge_chaos.history.releases import Release

A = TypeVar("A")
B = TypeVar("B")
Say = Callable[[str], None]
WIDTH = 300  # characters of what uv says, as the reason of a cell


@dataclass(frozen=True, slots=True)
class Suite:
    """`cache` holds the environments, `jobs` cells are played side by side, `say` is told of each."""

    cache: Path
    jobs: int
    say: Say
    stopped: Event

    def cells(self, tasks: Sequence[Task]) -> tuple[Cell, ...]:
        """The cells of the tasks, in their order."""
        return tuple(self._beside(self.cell, tasks))

    def borders(
        self, ranges: Sequence[tuple[Sequence[Release], Callable[[Release], Task]]]
    ) -> tuple[tuple[Border, tuple[Cell, ...]], ...]:
        """For each range of releases with the task of each: its border, and the cells that it took."""

        def one(pair: tuple[Sequence[Release], Callable[[Release], Task]]) -> tuple[Border, tuple[Cell, ...]]:
            releases, task = pair
            return border(releases, lambda release: self.cell(task(release)))

        return tuple(self._beside(one, ranges))

    def cell(self, task: Task) -> Cell:
        """One cell: its environment, then as many playings as it is to have, each in a fresh process."""
        try:
            place = environment.made(task.wanted, self.cache, self.stopped)
        except environment.NotInstallable as error:
            lines = str(error).splitlines()
            why = f"uv: {' '.join(lines)}"
            cell = task.cell(kind="not installable", why=story.short(why, WIDTH), lines=tuple(lines))
        else:
            cell = steady([played(task, place, self.stopped) for _ in range(task.times)])
        self.say(f"{cell.file} on {cell.package} {cell.version}: {cell.word}")
        return cell

    def _beside(self, work: Callable[[A], B], all: Iterable[A]) -> list[B]:
        """What `work` makes of each, in their order. After Ctrl-C nothing of it runs any more."""
        pool = ThreadPoolExecutor(self.jobs, thread_name_prefix="forge-chaos-history")
        try:
            return [doing.result() for doing in [pool.submit(work, each) for each in all]]
        except BaseException:
            self.stopped.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
