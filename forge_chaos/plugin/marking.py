"""The marker `@pytest.mark.chaos(...)`: one test for each scenario and fault that it names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from forge_chaos import catalog, notation
from forge_chaos.errors import ChaosError, Misuse, unknown
from forge_chaos.nouns import Scenario
from forge_chaos.plugin.stated import Stated, stated
from forge_chaos.wanted import ALL

KEYS = ("adapter", "agent", "faults", "max_trials", "model", "plan", "scenarios", "seed")


def merged(item: Any) -> Mapping[str, Any]:
    """What the markers of a test say together: of two, the one nearer to the function. Raises Misuse for a
    word that is no option of the marker."""
    said: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers("chaos"))):
        if mark.args:
            raise Misuse(
                f"chaos marker: {mark.args[0]!r} has no name. Write name=value; names: {', '.join(KEYS)}."
            )
        for name in mark.kwargs:
            if name not in KEYS:
                raise unknown("option", name, KEYS, "chaos marker")
        said |= mark.kwargs
    if said.get("plan") is not None and said.get("faults") is not None:
        raise Misuse("chaos marker: plan is one plan and faults are swept. Say one of the two.")
    return said


def parametrize(metafunc: pytest.Metafunc) -> None:
    """One test for each scenario and fault, with an id of their names."""
    __tracebackhide__ = True
    wrong, cases = "", []
    try:
        cases = list(_cases(merged(metafunc.definition), stated(metafunc.config)))
    except ChaosError as error:
        wrong = str(error)
    if wrong:
        pytest.fail(wrong, pytrace=False)
    if cases:
        ids = [id for id, _ in cases]
        metafunc.parametrize("chaos", [case for _, case in cases], indirect=True, ids=ids)


def _cases(said: Mapping[str, Any], stated: Stated) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(id, what the marker says of this test alone); nothing where it names neither faults nor scenarios."""
    faults: list[Any] = list(_faults(said.get("faults"), stated))
    scenarios: list[Any] = list(_scenarios(said.get("scenarios"), stated))
    for scenario, fault in product(scenarios or [None], faults or [None]):
        narrowed: dict[str, Any] = {}
        if scenario is not None:
            narrowed["scenarios"] = scenario
        if fault is not None:
            narrowed["faults"] = fault
        if narrowed:
            names = (getattr(scenario, "name", scenario), fault)
            yield "-".join(name for name in names if name is not None), narrowed


def _faults(said: Any, stated: Stated) -> Iterator[str]:
    if said is None:
        return
    text = said if isinstance(said, str) else ",".join(said)
    if text.strip() == ALL:
        yield from catalog.faults([Path(place) for place in stated.faults_dirs])
    else:
        yield from (item.text for item in notation.parse_list(text))


def _scenarios(said: Any, stated: Stated) -> Iterator[str | Scenario]:
    several: Iterable[Any] = () if said is None else (said,) if isinstance(said, str | Scenario) else said
    for each in several:
        if isinstance(each, str):
            yield from catalog.scenario_names(each, [Path(place) for place in stated.scenarios_dirs])
        else:
            yield each
