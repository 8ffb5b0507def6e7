"""A real run that ends its own process with SIGKILL at one chosen point.

`python -m tests.killed_run DIRECTORY POINT`, where POINT is one of `POINTS`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from forge_chaos import settings
from forge_chaos.campaign import Campaign
from forge_chaos.cli import running
from forge_chaos.events import Trace
from forge_chaos.store import Store
from forge_chaos.verdict import Trial

REQUEST = running.Request(
    scenarios="sum_orders,read_version,charge_once", faults="missing_file,timeout", persona="naive"
)
POINTS = ("planned clean", "in a clean batch", "planned faults", "in a batch of faults", "before finish")
BATCH = 7


class Killed(Store):
    """A store whose process dies at a point."""

    point = ""
    plans = 0
    added = 0

    def plan(self, ids: Iterable[str]) -> None:
        super().plan(ids)
        self.plans += 1
        self._die(("", "planned clean", "planned faults")[self.plans])

    def add(self, trial: Trial, trace: Trace) -> None:
        super().add(trial, trace)
        self.added += 1
        # The third clean trial, and one in the middle of a batch that is open: neither is committed.
        if self.added in (2, 3 + 2 * BATCH + 3):
            self._die("in a clean batch" if self.added == 2 else "in a batch of faults")

    def finish(self, scorecard: Mapping[str, Any]) -> None:
        self._die("before finish")

    def _die(self, where: str) -> None:
        if where == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


def main(directory: Path, point: str) -> None:
    setup = running.setup_of(REQUEST, settings.Settings(Path.cwd()))
    options = running.options_of(REQUEST, settings.Settings(Path.cwd()))
    with running.seated(setup) as (executor, hello, home):
        made = Campaign(setup, options, executor, hello, home)
        with Killed.create(directory, made.config(), batch=BATCH) as store:
            assert isinstance(store, Killed)
            store.point = point
            made.run(store)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
