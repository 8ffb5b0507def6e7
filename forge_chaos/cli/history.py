"""`forge-chaos history`: regression files against releases of a package."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from forge_chaos import catalog, notation, regression
from forge_chaos.bench import SCRIPTED, Setup
from forge_chaos.cli import replaying, running
from forge_chaos.errors import Inconclusive, Misuse, unknown
from forge_chaos.history import environment, index, page, releases
from forge_chaos.history.border import Border
from forge_chaos.history.cell import Cell, Side, as_stated, code
from forge_chaos.history.playing import Task
from forge_chaos.history.releases import Release
from forge_chaos.history.suite import Suite
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


def history(request: Request) -> int:
    """Play the files, print the table and what convicts, return the exit code."""
    _consistent(request)
    environment.uv()
    subjects = _subjects(request)
    known = _known(subjects)
    suite = Suite(request.cache or environment.home(), request.jobs, _say, Event())
    try:
        if request.span is not None and not request.all:
            borders, cells = _borders(suite, request, subjects, known)
        else:
            borders, cells = (), suite.cells(_tasks(request, subjects, known))
    except KeyboardInterrupt:
        _say("stopped. The environments that were made are kept, and the same command goes on with them.")
        return Inconclusive.exit
    was = {subject.file.name: subject.file.was for subject in subjects}
    result = page.Result(
        {subject.file.name: subject.file for subject in subjects},
        {subject.file.name: subject.path for subject in subjects},
        cells,
        borders,
        _command(request),
        request.times,
        code(cells, was),
        request.requires,
    )
    if request.out is not None:
        _write(request.out, result)
    if request.as_json:
        sys.stdout.write(page.as_json(result))
    else:
        _show(result, was)
    return result.exit


def _consistent(request: Request) -> None:
    if request.versions is not None and request.span is not None:
        raise Misuse("--versions and --range both say which releases are played: leave one of them out.")
    if request.all and request.span is None:
        raise Misuse("--all plays each release of a range: say which, by --range A..B.")
    if request.newest and (request.versions or request.span):
        raise Misuse(
            "--newest goes with the releases that the files themselves state: leave --versions and --range out."
        )


# What is played.


def _subjects(request: Request) -> list[Subject]:
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


def _known(subjects: Iterable[Subject]) -> dict[str, tuple[Release, ...]]:
    """The releases of every package that is spoken of."""
    where = index.address()
    packages = dict.fromkeys(subject.package for subject in subjects)
    return {package: index.known(package, where, packages.keys() - {package}) for package in packages}


def _task(request: Request, subject: Subject, release: Release, side: Side) -> Task:
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


def _tasks(
    request: Request, subjects: Sequence[Subject], known: dict[str, tuple[Release, ...]]
) -> list[Task]:
    """The cells that are asked for: those of the command line, else both sides of each file."""
    tasks = []
    for subject in subjects:
        mine = known[subject.package]
        chosen: list[tuple[Side, Release]] = []
        if request.span is not None:
            chosen = [("asked", release) for release in releases.between(subject.package, request.span, mine)]
        elif request.versions is not None:
            names = [name.strip() for name in request.versions.split(",") if name.strip()]
            chosen = [("asked", releases.one(subject.package, name, mine)) for name in names]
        else:
            chosen = _sides(request, subject, mine)
        tasks += [_task(request, subject, release, side) for side, release in chosen]
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


def _borders(
    suite: Suite, request: Request, subjects: Sequence[Subject], known: dict[str, tuple[Release, ...]]
) -> tuple[tuple[Border, ...], tuple[Cell, ...]]:
    assert request.span is not None

    def task_of(subject: Subject) -> Callable[[Release], Task]:
        return lambda release: _task(request, subject, release, "asked")

    found = suite.borders(
        [(releases.between(s.package, request.span, known[s.package]), task_of(s)) for s in subjects]
    )
    cells = [cell for _, cells in found for cell in cells]
    order = {release.version: at for s in subjects for at, release in enumerate(known[s.package])}
    cells.sort(key=lambda cell: order[cell.version])
    return tuple(border for border, _ in found), tuple(cells)


# What is said of it.


def _say(text: str) -> None:
    sys.stderr.write(f"forge-chaos: {text}\n")
    sys.stderr.flush()


def _command(request: Request) -> str:
    """The command line as it can be typed again by anybody."""
    words = ["forge-chaos", "history", *map(str, request.files)]
    for option, value in (
        ("--package", request.package),
        ("--versions", request.versions),
        ("--range", request.span),
        ("--times", request.times if request.times != 1 else None),
        ("--python", request.python),
        ("--out", request.out),
    ):
        words += [] if value is None else [option, str(value)]
    for need in request.requires:
        words += ["--with", need]
    words += ["--all"] if request.all else []
    words += ["--newest"] if request.newest else []
    return shlex.join(words)


def _show(result: page.Result, was: dict[str, str | None]) -> None:
    """The table, the borders, what convicts, and last the command that plays the first conviction again."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    wide = None if sys.stdout.isatty() else 400
    console = Console(file=sys.stdout, width=wide, highlight=False, soft_wrap=True)
    head, *rows = page.grid(result)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(word, _style(word)) for word in row))
    with console.capture() as drawn:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines()))
    for border in result.borders:
        sys.stdout.write(f"\n{border.told()}\n")
    for cell in result.cells:
        if cell.kind != "good":
            sys.stdout.write(f"\n{cell.file} on {cell.package} {cell.version}: {cell.word}\n")
            sys.stdout.write("".join(f"{line}\n" for line in page.story(cell)))
    first = next((cell for cell in result.cells if cell.convicts), None)
    sys.stdout.write(f"\n{_sum(result, was)}\n")
    if first is not None:
        sys.stdout.write(f"{result.again(first)}\n")


def _style(word: str) -> str:
    words = {"good": "green", "bad": "red", "hung": "red", "unsteady": "magenta"}
    return next((style for start, style in words.items() if start in word.split(" ")), "")


def _sum(result: page.Result, was: dict[str, str | None]) -> str:
    """The last words: what the exit code stands for."""
    stated = [cell for cell in result.cells if cell.side in ("buggy", "repaired")]
    if not stated:
        bad = sum(cell.convicts for cell in result.cells)
        return f"{len(result.cells)} cells played, {bad} convicted (exit {result.exit})."
    other = [f"{cell.file} ({cell.side})" for cell in stated if not as_stated(cell, was.get(cell.file))]
    but = f", not {', '.join(other)}" if other else ""
    open_ = [cell.file for cell in result.cells if cell.side == "newest" and cell.convicts]
    more = f" In the newest release still there: {', '.join(open_)}." if open_ else ""
    good = len(stated) - len(other)
    return f"{good} of {len(stated)} sides ended as their files say{but} (exit {result.exit}).{more}"


def _write(out: Path, result: page.Result) -> None:
    """A folder gets README.md and results.json; a file the one or the other, by its name."""
    folder = out.is_dir() or not out.suffix
    files = (out / "README.md", out / "results.json") if folder else (out,)
    try:
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            text = page.as_json(result) if file.suffix == ".json" else page.page(result)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Misuse(
            f"cannot write {str(out)!r}: {error.strerror or error}. Name another place by --out."
        ) from None


__all__ = ["Request", "history"]
