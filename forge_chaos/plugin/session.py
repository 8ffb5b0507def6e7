"""What one pytest session holds: its seats, and the door of each test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from forge_chaos.errors import ChaosError
from forge_chaos.plugin import marking, summary
from forge_chaos.plugin.door import Chaos
from forge_chaos.plugin.ends import Skipped, Unacceptable, Undecided
from forge_chaos.plugin.saying import from_here
from forge_chaos.plugin.seating import Seats
from forge_chaos.plugin.stated import Stated, stated

_SEATS = pytest.StashKey[Seats]()
_STATED = pytest.StashKey[Stated]()
_DOOR = pytest.StashKey[Chaos]()


def door(item: pytest.Item, narrowed: Mapping[str, Any] | None = None) -> Chaos:
    """The door of a test, made when it is first asked for; `narrowed` is what its parameter says."""
    if _DOOR not in item.stash:
        config = item.config
        if _SEATS not in config.stash:
            config.stash[_SEATS] = Seats()
        try:
            said = {**marking.merged(item), **(narrowed or {})}
        except ChaosError as error:
            raise Undecided(str(error)) from None
        _, colon, rest = item.nodeid.partition("::")
        test = from_here(item.path, config.invocation_params.dir) + colon + rest
        item.stash[_DOOR] = Chaos(
            config.stash[_SEATS], lambda: _stated(config), test, said, item.user_properties
        )
    return item.stash[_DOOR]


def _stated(config: pytest.Config) -> Stated:
    if _STATED not in config.stash:
        config.stash[_STATED] = stated(config)
    return config.stash[_STATED]


def close(config: pytest.Config) -> None:
    """Leave no child behind."""
    if _SEATS in config.stash:
        config.stash[_SEATS].close()
        del config.stash[_SEATS]


def amend(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Make a report say what became of the trials: no verdict is an error, whatever the test expected, and
    where no line of the test is to be seen there is no traceback."""
    if _DOOR not in item.stash:
        return
    report.chaos = summary.told(item.stash[_DOOR].trials)  # type: ignore[attr-defined]  # reports take more
    if call.excinfo is None or not isinstance(call.excinfo.value, Skipped | Unacceptable | Undecided):
        return
    seen = isinstance(item, pytest.Function) and any(
        entry.path == item.path for entry in call.excinfo.traceback
    )
    if isinstance(call.excinfo.value, Skipped):
        if not seen:
            path, line, _ = item.location
            report.longrepr = (path, line or 0, str(call.excinfo.value))
        return
    if isinstance(call.excinfo.value, Undecided):
        report.outcome, report.when = (
            "failed",
            "setup",
        )  # a failure of any other phase than the call is an error
        vars(report).pop("wasxfail", None)
    if not seen:
        report.longrepr = call.excinfo.getrepr(style="value")
