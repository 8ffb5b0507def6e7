"""What holds where a test does not say otherwise: options, then pytest's ini, then [tool.forge-chaos]."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forge_chaos import settings
from forge_chaos.errors import Misuse

if TYPE_CHECKING:
    import pytest


@dataclass(frozen=True, slots=True)
class Stated:
    """`agent` is a SPEC looked for in `home`, `adapter` its adapter; `asked` says that it came from the
    command line, before which no file of a plan comes. `base` is where relative SPECs of tests and files
    begin, `start` where pytest was started. `dirs` are the options that say again what no settings say."""

    base: Path
    start: Path
    agent: str | None
    home: Path
    adapter: str | None
    asked: bool
    seed: int
    faults: str | None
    max_trials: int | None
    scenarios_dirs: tuple[str, ...]
    faults_dirs: tuple[str, ...]
    claim: str | None
    dirs: tuple[str, ...]
    options: tuple[str, ...]


def stated(config: pytest.Config) -> Stated:
    """Read it. Raises Misuse for what is no number, no directory, or wrong in the settings."""
    start = config.invocation_params.dir
    base = config.rootpath if config.inipath is not None else start
    of_project = settings.read(base)
    asked: str | None = config.getoption("chaos_agent")
    named: str | None = asked or config.getini("chaos_agent") or None
    seed = _number(config, "chaos_seed", 0)
    more = {
        kind: tuple(str(place) for place in _places(config, f"chaos_{kind}_dir", start))
        for kind in ("scenarios", "faults")
    }
    return Stated(
        base=base,
        start=start,
        agent=named or of_project.agent,
        home=start if asked else base if named else of_project.root,
        adapter=None if named else of_project.adapter,
        asked=asked is not None,
        seed=seed if seed is not None else of_project.seed if of_project.seed is not None else 1,
        faults=of_project.faults,
        max_trials=_number(config, "chaos_max_trials", 1),
        scenarios_dirs=(*map(str, of_project.scenarios_dir), *more["scenarios"]),
        faults_dirs=(*map(str, of_project.faults_dir), *more["faults"]),
        claim=of_project.claim,
        dirs=tuple(
            word for kind, places in more.items() for place in places for word in (f"--{kind}-dir", place)
        ),
        options=_again(config),
    )


def _number(config: pytest.Config, name: str, least: int) -> int | None:
    option: int | None = config.getoption(name)
    text = str(option) if option is not None else config.getini(name)
    if not text:
        return None
    if not text.isdecimal() or int(text) < least:
        said = f"--{name.replace('_', '-')}" if option is not None else f"{name} in {config.inipath}"
        raise Misuse(f"{said}: {text!r} is no whole number from {least} on.")
    return int(text)


def _places(config: pytest.Config, name: str, start: Path) -> list[Path]:
    found = [start / place for place in config.getoption(name) or ()] or list(map(Path, config.getini(name)))
    for place in found:
        if not place.is_dir():
            raise Misuse(f"{name}: {str(place)!r} is no directory.")
    return found


def _again(config: pytest.Config) -> tuple[str, ...]:
    """The options of ours that pytest was given, to be given again."""
    said: list[str] = []
    for name in ("chaos_agent", "chaos_seed", "chaos_max_trials", "chaos_faults_dir", "chaos_scenarios_dir"):
        value: Any = config.getoption(name)
        for each in value if isinstance(value, list) else () if value is None else (value,):
            said += [f"--{name.replace('_', '-')}", str(each)]
    return tuple(said)
