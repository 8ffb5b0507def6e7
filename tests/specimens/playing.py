"""What the tests of the specimens share: a specimen on a cell, played and judged."""

from __future__ import annotations

from typing import Any

from forge_chaos.events import Asked, Called, Finished, Returned, Snapshot, find
from forge_chaos.specimens.table import BAD, GOOD, Specimen
from tests.conformance import table
from tests.conformance.table import Played

HERE = [specimen for specimen in BAD if not specimen.apart]
CELLS = [(specimen, cell) for specimen in HERE for cell in specimen.cells]
IDS = [f"{specimen.name}-{cell.fault}" for specimen, cell in CELLS]


def of(name: str) -> Specimen:
    return next(specimen for specimen in (*BAD, *GOOD) if specimen.name == name)


def play(agent: Any, scenario: str, *rules: str) -> Played:
    with table.seated(agent) as bench:
        return table.play(scenario, *rules, by=bench)


def ended(trial: Played) -> str:
    """The outcome as the table words it."""
    violated = trial.facts.violations if trial.outcome == "violated" else ()
    return ":".join([trial.outcome, *(verdict.name for verdict in violated[:1])])


def calls(trial: Played, tool: str = "") -> list[Called]:
    return [called for _, called in find(trial.trace, Called) if tool in ("", called.tool)]


def times(trial: Played, tool: str) -> list[float]:
    return [event.at for event in trial.trace if isinstance(event.body, Called) and event.body.tool == tool]


def told(trial: Played) -> list[Any]:
    return [returned.result for _, returned in find(trial.trace, Returned)]


def sent(trial: Played) -> list[Any]:
    """Every message that the model was sent, each once."""
    return [message for _, asked in find(trial.trace, Asked) for message in asked.messages]


def finished(trial: Played) -> Finished:
    return next(body for _, body in find(trial.trace, Finished))


def world(trial: Played) -> dict[str, Any]:
    return next(dict(body.resources) for _, body in find(trial.trace, Snapshot))
