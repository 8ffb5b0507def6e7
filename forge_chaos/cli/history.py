"""`forge-chaos history`: regression files against releases of a package."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event

from forge_chaos.cli.choosing import Request, Subject, consistent, releases_of, subjects_of, task_of, tasks_of
from forge_chaos.errors import Inconclusive, Misuse
from forge_chaos.history import environment, page, releases
from forge_chaos.history.border import Border
from forge_chaos.history.cell import Cell, as_stated, code
from forge_chaos.history.playing import Task
from forge_chaos.history.releases import Release
from forge_chaos.history.suite import Suite


def history(request: Request) -> int:
    """Play the files, print the table and what convicts, return the exit code."""
    consistent(request)
    environment.uv()
    subjects = subjects_of(request)
    known = releases_of(subjects)
    suite = Suite(request.cache or environment.home(), request.jobs, _say, Event())
    try:
        if request.span is not None and not request.all:
            borders, cells = _borders(suite, request, subjects, known)
        else:
            borders, cells = (), suite.cells(tasks_of(request, subjects, known))
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


def _borders(
    suite: Suite, request: Request, subjects: Sequence[Subject], known: Mapping[str, Sequence[Release]]
) -> tuple[tuple[Border, ...], tuple[Cell, ...]]:
    assert request.span is not None

    def task_in(subject: Subject) -> Callable[[Release], Task]:
        return lambda release: task_of(request, subject, release, "asked")

    found = suite.borders(
        [(releases.between(s.package, request.span, known[s.package]), task_in(s)) for s in subjects]
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
