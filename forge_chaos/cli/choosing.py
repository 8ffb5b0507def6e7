"""Which cells `forge-chaos history` is asked for: the files, their releases, their environments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from forge_chaos import catalog, notation, regression
from forge_chaos.bench import SCRIPTED, Setup
from forge_chaos.cli import replaying, running
from forge_chaos.errors import Misuse, unknown
from forge_chaos.history import environment, index, releases
from forge_chaos.history.cell import Side
from forge_chaos.history.playing import Task
from forge_chaos.history.releases import Release
from forge_chaos.regression import Regression

SUFFIX = ".chaos.toml"
SUITE = "history"  # our own files, in the folder of the scenarios
WATCHDOG = 60.0  # real seconds without an event: a framework may import much of itself in its first call
MISSING = "--versions A,B or --range A..B asks about others than its own"


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `history`, as given; None where not."""

    files: tuple[Path, ...] = ()
    package: str | None = None
    versions: str | None = None
    span: str | None = None
    all: bool = False
    newest: bool = False
    times: int = 1
    requires: tuple[str, ...] = ()
    python: str | None = None
    cache: Path | None = None
    timeout: float = 300.0
    jobs: int = 2
    out: Path | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """One file, ready to be played: its rules in full, its setup, its package."""

    path: str
    file: Regression
    setup: Setup
    package: str


def consistent(request: Request) -> None:
    if request.versions is not None and request.span is not None:
        raise Misuse("--versions and --range both say which releases are played: leave one of them out.")
    if request.all and request.span is None:
        raise Misuse("--all plays each release of a range: say which, by --range A..B.")
    if request.newest and (request.versions or request.span):
        raise Misuse(
            "--newest goes with the releases that the files themselves state: leave --versions and --range out."
        )


def subjects_of(request: Request) -> list[Subject]:
    """The files, each once, ready to be played. Raises Misuse for whatever is wrong with one."""
    given = request.files or (catalog.builtin("scenarios") / SUITE,)
    chosen = [found for path in given for found in _files(path)]
    read = [(path, regression.read(path)) for path in dict.fromkeys(chosen)]
    if any(path.is_dir() for path in given):  # in a folder, other files may lie beside those that are meant
        read = [(path, file) for path, file in read if file.history is not None] or read
    stated = {file.history.package for _, file in read if file.history is not None}
    ready = []
    for path, file in read:
        package = file.history.package if file.history is not None else request.package
        if package is None:
            raise Misuse(
                f"{path} has no table [history], so its package is not known. Write one with package = NAME, or "
                "say --package NAME with --versions A,B or --range A..B."
            )
        if request.package in (None, package):
            ready.append(_ready(path, file, package))
    if not ready:
        raise unknown("package in these files", str(request.package), stated)
    names = [subject.file.name for subject in ready]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Misuse(f"several files are called {', '.join(twice)}: their rows could not be told apart.")
    packages = sorted({subject.package for subject in ready})
    if (request.versions or request.span) and len(packages) > 1:
        raise Misuse(
            f"these files are about {', '.join(packages)}: say whose releases are meant by --package."
        )
    return ready


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.glob(f"*{SUFFIX}"))
    if not found:
        raise Misuse(f"there is no *{SUFFIX} in {path}. Name a folder that has some, or a file.")
    return found


def _ready(path: Path, file: Regression, package: str) -> Subject:
    if file.agent is None:
        raise Misuse(f"{path} names no agent, and a release of {package} is played by one: agent = ...")
    asked = running.Request(model=SCRIPTED, watchdog=WATCHDOG)
    try:
        setup = replaying.setup_of(file, asked)
        faults = catalog.faults([Path(d) for d in setup.faults_dirs])
        rules = tuple(catalog.resolve(notation.parse(text), faults).text for text in file.rules)
        catalog.load(file.scenario, file.seed, [Path(d) for d in setup.scenarios_dirs])
    except Misuse as error:
        raise error if str(path) in str(error) else Misuse(f"{path}: {error}") from None
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
    return Subject(str(shown), replace(file, rules=rules), setup, package)


def releases_of(subjects: Iterable[Subject]) -> dict[str, tuple[Release, ...]]:
    """The releases of every package that is spoken of."""
    where = index.address()
    packages = dict.fromkeys(subject.package for subject in subjects)
    return {package: index.known(package, where, packages.keys() - {package}) for package in packages}


def task_of(request: Request, subject: Subject, release: Release, side: Side) -> Task:
    stated = subject.file.history
    wanted = environment.Wanted(
        subject.package,
        release.version,
        (*(stated.requires if stated else ()), *request.requires),
        release.until,
        index.address(),
        **({} if request.python is None else {"python": request.python}),
    )
    return Task(subject.file, subject.setup, wanted, side, request.timeout, request.times)


def tasks_of(
    request: Request, subjects: Sequence[Subject], known: Mapping[str, Sequence[Release]]
) -> list[Task]:
    """The cells that are asked for: those of the command line, else both sides of each file."""
    tasks = []
    for subject in subjects:
        mine = known[subject.package]
        chosen: list[tuple[Side, Release]] = []
        if request.span is not None:
            chosen = [("asked", release) for release in releases.between(subject.package, request.span, mine)]
        elif request.versions is not None:
            names = list(dict.fromkeys(name.strip() for name in request.versions.split(",") if name.strip()))
            if not names:
                raise Misuse(
                    f"--versions {request.versions!r} names no release of {subject.package}. Write "
                    "--versions A,B, or leave it out for the two sides that the file states."
                )
            chosen = [("asked", releases.one(subject.package, name, mine)) for name in names]
        else:
            chosen = _sides(request, subject, mine)
        tasks += [task_of(request, subject, release, side) for side, release in chosen]
    return tasks


def _sides(request: Request, subject: Subject, known: Sequence[Release]) -> list[tuple[Side, Release]]:
    stated = subject.file.history
    chosen: list[tuple[Side, Release]] = []
    try:
        if stated is not None and stated.buggy is not None:
            chosen.append(("buggy", releases.one(subject.package, stated.buggy, known)))
        if stated is not None and stated.repaired is not None:
            chosen.append(("repaired", releases.one(subject.package, stated.repaired, known)))
    except Misuse as error:
        raise Misuse(f"{subject.path}: {error}") from None
    if request.newest:
        chosen.append(("newest", releases.newest(known)))
    if not chosen:
        raise Misuse(
            f"{subject.path} states no release, buggy or repaired. Write them into [history]; {MISSING}."
        )
    return chosen
