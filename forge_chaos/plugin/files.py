"""`*.chaos.toml` as tests: one file, one test."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from forge_chaos import regression
from forge_chaos.plugin import ends, saying, trying
from forge_chaos.plugin.door import Chaos, decided
from forge_chaos.plugin.ends import Undecided
from forge_chaos.plugin.subject import subject

SUFFIX = ".chaos.toml"


class ChaosFile(pytest.File):
    """A regression file."""

    def collect(self) -> Iterable[pytest.Item]:
        # The name is not read from the file: a file that cannot be read is the error of its own test.
        yield ChaosItem.from_parent(self, name=self.path.name.removesuffix(SUFFIX))


class ChaosItem(pytest.Item):
    """The trial of a regression file: passes when it ends acceptably and every rule fired."""

    def runtest(self) -> None:
        from forge_chaos.plugin.session import door

        __tracebackhide__ = True
        chaos = door(self)
        try:
            tried, search, then = decided(chaos.seats, lambda: self._try(chaos))
        except Undecided as error:
            where = saying.from_here(self.path, self.config.invocation_params.dir)
            text = str(error)
            raise Undecided(text if where in text or str(self.path) in text else f"{where}: {text}") from None
        chaos.note(tried.trial)
        ends.one(tried, search, then)

    def _try(self, chaos: Chaos) -> tuple[trying.Tried, str, str | None]:
        stated = chaos.stated()
        found = regression.read(self.path)
        agent = found.agent if not stated.asked else None
        base = found.home(stated.base) if agent is not None else stated.base
        places = (*stated.scenarios_dirs, *found.scenarios_dirs())
        here = replace(stated, base=base, scenarios_dirs=places)
        who = subject(here, agent, found.scenario, model=found.model)
        who = replace(who, setup=replace(who.setup, window=found.window))
        with chaos.seats.seat(who.setup) as seated:
            tried = trying.one(seated, ",".join(found.rules), found.scenario, found.seed)
        named = None if agent is not None else who.setup.agent
        home = Path(who.setup.home or stated.start) if base == stated.base else stated.start
        again = saying.command(
            "forge-chaos",
            "replay",
            saying.from_here(self.path, home),
            place=None if home == stated.start else str(home),
            agent=named,
            adapter=who.setup.adapter,
            extra=stated.dirs,
        )
        search = who.again(
            stated, self.nodeid, faults=saying.classes(tried.stale), scenarios=found.scenario, seed=found.seed
        )
        return replace(tried, trial=replace(tried.trial, replay=again)), search, found.hash

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, None, self.name
