"""What there is to choose from: fault classes and scenarios, ours and the user's.

The built-in ones lie in `faults/` and `scenarios/` of the checkout, or inside the installed wheel.
Directories of the user add to them; a name that exists already is overridden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from forge_chaos.bounded import Overdue, bounded
from forge_chaos.errors import Misuse, unknown
from forge_chaos.nouns import Bar, Fault, Lasts, Rule, Scenario, Seam, Variant

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from forge_chaos.nouns import Err, Ok

HERE = Path(__file__).resolve().parent


def builtin(kind: Literal["faults", "scenarios"]) -> Path:
    """Where our own data files lie: in the checkout when it is one, else in the wheel."""
    checkout = HERE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / kind).is_dir():
        return checkout / kind
    return HERE / "data" / kind


def _places(kind: Literal["faults", "scenarios"], dirs: Sequence[Path]) -> list[Path]:
    for place in dirs:
        if not place.is_dir():
            raise Misuse(
                f"{kind} directory {str(place)!r} does not exist. "
                f"--{kind}-dir and {kind}_dir in [tool.forge-chaos] name a directory of {kind}."
            )
    return [builtin(kind), *dirs]


def faults(dirs: Sequence[Path] = ()) -> dict[str, Fault]:
    """Every fault class by its name, sorted. Raises Misuse, with file and line, for a bad file."""
    found: dict[str, Fault] = {}
    for place in _places("faults", dirs):
        for path in sorted(place.glob("*.toml")):
            stat = path.stat()
            found[path.stem] = _fault(path, stat.st_mtime_ns, stat.st_size)
    return dict(sorted(found.items()))


@lru_cache(maxsize=256)
def _fault(path: Path, changed: int, size: int) -> Fault:
    from forge_chaos import faultfile  # pydantic is loaded only when a fault is

    return faultfile.fault(path)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A rule with all that it names: `await mechanism(call, tool, env)` performs it.

    `text` is the rule in canonical notation. `seam`, `bar` and `explicit` are the variant's where it
    states them, else the fault's.
    """

    rule: Rule
    text: str
    fault: Fault
    variant: Variant
    mechanism: Callable[..., Awaitable[Ok | Err]]

    @property
    def seam(self) -> Seam:
        return self.variant.seam or self.fault.seam

    @property
    def bar(self) -> Bar | None:
        """What is demanded where no expert can play; None when neither variant nor fault says."""
        rule = self.rule
        lasts: tuple[Lasts, ...] = ("ever",) if rule.ever else ("once",)
        if rule.heal is not None or rule.last not in (None, rule.first):
            lasts = ("burst", *lasts)
        bars = (stated.get(each) for each in lasts for stated in (self.variant.bar, self.fault.bar))
        return next((bar for bar in bars if bar is not None), None)


def resolve(rule: Rule, faults: Mapping[str, Fault]) -> Resolved:
    """The rule with its fault, variant and bound mechanism.

    Raises Misuse with the near miss for a fault, a variant or a wording that does not exist.
    """
    from forge_chaos import notation, registry

    if rule.fault not in faults:
        raise unknown("fault", rule.fault, faults, way="forge-chaos list faults")
    fault = faults[rule.fault]
    try:
        variant = fault.variant(rule.variant)
    except KeyError:
        raise unknown(
            f"variant of {fault.id}",
            str(rule.variant),
            [known.id for known in fault.variants],
            way=f"forge-chaos show {fault.id}",
        ) from None
    if rule.text is not None and rule.text not in variant.text:
        raise unknown(
            f"wording of {fault.id}.{variant.id}", rule.text, variant.text, way=f"forge-chaos show {fault.id}"
        )
    mechanism = registry.bound("mechanisms", variant.mechanism, variant.params)
    return Resolved(rule, notation.write(rule), fault, variant, mechanism)


def folders(dirs: Sequence[Path] = ()) -> dict[str, Path]:
    """The folder of every scenario by its name, sorted."""
    found: dict[str, Path] = {}
    for place in _places("scenarios", dirs):
        for path in sorted(place.glob("*/scenario.toml")):
            found[path.parent.name] = path.parent
    return dict(sorted(found.items()))


def scenario_names(glob: str = "*", dirs: Sequence[Path] = ()) -> tuple[str, ...]:
    """The scenarios that a comma list of globs names, sorted, each once.

    Raises Misuse when one of the globs matches nothing.
    """
    known = folders(dirs)
    chosen: set[str] = set()
    for pattern in (part.strip() for part in glob.split(",")):
        matching = [name for name in known if fnmatchcase(name, pattern)]
        if not matching:
            raise unknown("scenario", pattern, known, way="forge-chaos list scenarios")
        chosen.update(matching)
    return tuple(sorted(chosen))


def load(name: str, seed: int, dirs: Sequence[Path] = ()) -> Scenario:
    """The scenario with its values drawn from `seed` and filled in.

    Read anew each time, so that an edited folder is never mistaken for the one that was loaded; what
    was made of equal bytes and an equal seed is kept. Raises Misuse, with file and line, for whatever
    is wrong with the folder.
    """
    from forge_chaos import scenariofile

    known = folders(dirs)
    if name not in known:
        raise unknown("scenario", name, known, way="forge-chaos list scenarios")
    try:
        with bounded(f"the files of scenario {name!r}"):
            return scenariofile.scenario(known[name], seed)
    except Overdue as error:
        raise Misuse(f"{known[name]}: {error}. Repair solution.py or the templates.") from None


def lint(folder: Path) -> list[str]:
    """What is wrong with a scenario's solution, one sentence with file and line each; [] when nothing."""
    from forge_chaos import solutionfile

    return solutionfile.lint(folder)
