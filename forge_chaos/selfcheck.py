"""The tester tested: every known-bad loop and persona is convicted, no good agent is.

Of each known-bad one the cells that its table names must end as they say there; a sample of its sweep
fills the rest of the matrix bug x fault class. A persona must be convicted by every class whose file says
so. The good agents are tried on every scenario that they can do, on a sample of the sweep of each.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module, reload

from forge_chaos import catalog, notation, registry, sweep
from forge_chaos.adapters.native import adapter
from forge_chaos.bench import Bench, Setup
from forge_chaos.events import Trace
from forge_chaos.judge import clean_pass
from forge_chaos.judging import Judge
from forge_chaos.order import Order
from forge_chaos.specimens.table import BAD, GOOD, Cell, Specimen, persona
from forge_chaos.verdict import Judgement, Verdict

SEED = 1
CELLS = 30  # of the sweep of a known-bad one on each of its scenarios
FEW = 4  # of a class in one scenario, in search of one that convicts a persona
GOOD_CELLS = 60  # of the sweep of a good agent on each scenario
WATCHDOG = 1.5  # real seconds
PROCESSES = 2
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """One trial of a specimen. `expected` is the outcome that its table names, empty for a sample.
    `outcome` of a violation is `violated:NAME`."""

    scenario: str
    rule: str
    outcome: str
    convicted: bool
    fired: bool
    why: str
    expected: str = ""

    @property
    def fault(self) -> str:
        return notation.parse(self.rule).fault if self.rule else ""

    @property
    def right(self) -> bool:
        return not self.expected or (self.convicted and self.outcome == self.expected)

    def __str__(self) -> str:
        return f"{self.scenario} under {self.rule or 'no rule'}: {self.outcome}. {self.why}"


@dataclass(frozen=True, slots=True)
class Row:
    """All trials of one specimen. `owed`: the classes that must convict it."""

    name: str
    kind: str  # loop | persona | good
    about: str
    owed: tuple[str, ...]
    tried: tuple[Tried, ...]

    def of(self, fault: str) -> tuple[int, int]:
        """In how many trials the class convicted it, of how many in which it fired."""
        mine = [trial for trial in self.tried if trial.fired and trial.fault == fault]
        return sum(trial.convicted for trial in mine), len(mine)

    @property
    def missed(self) -> tuple[str, ...]:
        """What was not found in a known-bad one, or not as its table says."""
        wrong = [f"{trial} Expected: {trial.expected}." for trial in self.tried if not trial.right]
        silent = [f"{fault} does not convict it" for fault in self.owed if not self.of(fault)[0]]
        return (*wrong, *silent)

    @property
    def alarms(self) -> tuple[str, ...]:
        """What a good agent was convicted of."""
        return tuple(str(trial) for trial in self.tried if trial.convicted) if self.kind == "good" else ()


@dataclass(frozen=True, slots=True)
class Report:
    """`exit`: 1 when anything was missed or falsely convicted. `seconds` is real time."""

    rows: tuple[Row, ...]
    faults: tuple[str, ...]
    seconds: float
    processes: int

    @property
    def bad(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.kind != "good")

    @property
    def good(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.kind == "good")

    @property
    def missed(self) -> tuple[str, ...]:
        return tuple(f"{row.name}: {what}" for row in self.bad for what in row.missed)

    @property
    def alarms(self) -> tuple[str, ...]:
        return tuple(f"{row.name}: {what}" for row in self.good for what in row.alarms)

    @property
    def trials(self) -> int:
        return sum(len(row.tried) for row in self.rows)

    @property
    def exit(self) -> int:
        return 1 if self.missed or self.alarms else 0

    def text(self) -> str:
        """The matrix and what is wrong, as plain text."""
        wide = max(len(row.name) for row in self.rows)
        heads = [f"{chr(ord('a') + n)} {fault}" for n, fault in enumerate(self.faults)]
        lines = ["Convicted, of the trials in which a class fired. * this class must convict it.", ""]
        lines += [f"  {line}" for line in _columns(heads)]
        letters = "".join(f"{head[0]:>7} " for head in heads)
        lines += ["", f"{'':{wide}} {letters}".rstrip()]
        lines += [f"{row.name:{wide}} {self._cells(row)}".rstrip() for row in (*self.bad, *self.good)]
        found = sum(not row.missed for row in self.bad)
        clear = sum(not row.alarms for row in self.good)
        lines += [
            "",
            f"{found} of {len(self.bad)} known-bad agents convicted by the classes and with the outcomes that "
            f"their table names.",
            f"{len(self.alarms)} false alarms; {clear} of {len(self.good)} good agents never convicted.",
            f"{self.trials} trials in {self.seconds:.0f} s in {self.processes} processes.",
        ]
        lines += [f"MISSED {what}" for what in self.missed]
        lines += [f"FALSE ALARM {what}" for what in self.alarms]
        return "\n".join(lines)

    def _cells(self, row: Row) -> str:
        shown = []
        for fault in self.faults:
            k, n = row.of(fault)
            mark = "*" if fault in row.owed else " "
            shown.append(f"{f'{k}/{n}' if n else '':>7}{mark}")
        return "".join(shown)


def _columns(items: Sequence[str], n: int = 4) -> list[str]:
    width = max(map(len, items)) + 2
    return [
        "".join(f"{item:{width}}" for item in items[at : at + n]).rstrip() for at in range(0, len(items), n)
    ]


def selfcheck(
    progress: Progress = lambda done, total, what: None,
    *,
    processes: int = PROCESSES,
    now: Callable[[], float] = time.monotonic,
) -> Report:
    """Try all specimens. `progress(done, total, what)` is told how far it is."""
    began = now()
    jobs = _jobs()
    parts: dict[tuple[str, str], list[Row]] = {}

    def take(rows: Sequence[Row], what: str, done: int) -> None:
        for row in rows:
            parts.setdefault((row.kind, row.name), []).append(row)
        progress(done, len(jobs), what)

    if processes < 2:
        for done, (kind, name) in enumerate(jobs, 1):
            take(_do(kind, name), name, done)
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            running = {pool.submit(_do, kind, name): name for kind, name in jobs}
            for done, future in enumerate(as_completed(running), 1):
                take(future.result(), running[future], done)
    order = [("loop", s.name) for s in BAD] + [("persona", p) for p in _personas()]
    order += [("good", _named(s)) for s in GOOD]
    rows = tuple(_joined(parts[key]) for key in order)
    return Report(rows, tuple(catalog.faults()), now() - began, processes)


def _jobs() -> list[tuple[str, str]]:
    """The long ones first."""
    return (
        [("good", name) for name in catalog.scenario_names()]
        + [("persona", name) for name in _personas()]
        + [("loop", specimen.name) for specimen in BAD]
    )


def _personas() -> list[str]:
    return [name for name in registry.names("personas") if persona(name) is not None]


def _named(specimen: Specimen) -> str:
    return "reference" if specimen.spec.startswith("forge_chaos.reference:") else specimen.name


def _joined(rows: Sequence[Row]) -> Row:
    """The rows of one specimen from several jobs, as one."""
    first = rows[0]
    tried = sorted((trial for row in rows for trial in row.tried), key=lambda trial: trial.scenario)
    return Row(
        first.name, first.kind, first.about, first.owed, tuple(tried) if len(rows) > 1 else first.tried
    )


def _do(kind: str, name: str) -> list[Row]:
    """One job: a known-bad loop, a persona, or all good agents on one scenario."""
    if kind == "good":
        return [_good(specimen, name) for specimen in GOOD]
    if kind == "persona":
        return [_persona(name)]
    specimen = next(each for each in BAD if each.name == name)
    return [_apart(specimen) if specimen.apart else _bad(specimen)]


def _bad(specimen: Specimen) -> Row:
    with _seated(specimen) as bench:
        scenarios = tuple(dict.fromkeys(cell.scenario for cell in specimen.cells))
        cleans = {name: _play(bench, name) for name in scenarios}
        tried = [_trial(bench, cell) for cell in specimen.cells]
        for name in scenarios:
            rules = sweep.cells(cleans[name], tuple(bench.faults.values()))
            for rule in sweep.sample(rules, CELLS, SEED):
                tried.append(_judged(_play(bench, name, notation.write(rule)), name, notation.write(rule)))
    return _row(specimen, "loop", tried)


def _apart(specimen: Specimen) -> Row:
    """The cells of the table alone, in a child process that may be killed."""
    from forge_chaos.executors.child import child

    setup = Setup(agent=specimen.spec, watchdog=WATCHDOG).to_json()
    tried = []
    with closing(child(setup, watchdog=WATCHDOG, complain=lambda text: None)) as executor:
        for cell in specimen.cells:
            for _, trace in executor.run([_order(cell.scenario, cell.rule)]):
                tried.append(_judged(trace, cell.scenario, cell.rule, cell.outcome))
    return _row(specimen, "loop", tried)


def _persona(name: str) -> Row:
    cell = persona(name)
    assert cell is not None
    bench = Bench(Setup(persona=name))
    owed = [fault for fault in bench.faults.values() if name in fault.convicts]
    with closing(bench):
        tried = [_trial(bench, cell)]
        open_ = list(owed)
        for scenario in catalog.scenario_names():
            clean = _play(bench, scenario) if open_ else ()
            for fault in list(open_):
                for rule in sweep.sample(sweep.cells(clean, [fault]), FEW, SEED):
                    text = notation.write(rule)
                    tried.append(_judged(_play(bench, scenario, text), scenario, text))
                    if tried[-1].convicted:
                        open_.remove(fault)
                        break
    about = (registry.module("personas", name).__doc__ or "").strip().splitlines()[0]
    return Row(name, "persona", about, tuple(fault.id for fault in owed), tuple(tried))


def _good(specimen: Specimen, scenario: str) -> Row:
    with _seated(specimen) as bench:
        clean = _play(bench, scenario)
        tried = [_judged(clean, scenario, "")]
        if not tried[0].convicted:
            rules = sweep.cells(clean, tuple(bench.faults.values()))
            for rule in sweep.sample(rules, GOOD_CELLS, SEED):
                text = notation.write(rule)
                tried.append(_judged(_play(bench, scenario, text), scenario, text))
    row = _row(specimen, "good", tried)
    return Row(_named(specimen), "good", row.about, (), row.tried)


def _row(specimen: Specimen, kind: str, tried: Sequence[Tried]) -> Row:
    owed = tuple(dict.fromkeys(cell.fault for cell in specimen.cells))
    return Row(specimen.name, kind, specimen.about, owed, tuple(tried))


@contextmanager
def _seated(specimen: Specimen) -> Iterator[Bench]:
    """A bench with the specimen in its seat, its module fresh: some keep things in it."""
    reload(import_module(specimen.spec.rpartition(":")[0]))
    bench = Bench(Setup())
    bench.seat = adapter.seat(specimen.function)
    with closing(bench):
        yield bench


@cache
def _judge() -> Judge:
    """One a process: it remembers what the expert reached."""
    return Judge(Bench(Setup()))


def _order(scenario: str, *rules: str) -> Order:
    return Order(f"{scenario} {rules}", scenario, rules, SEED)


def _play(bench: Bench, scenario: str, *rules: str) -> Trace:
    return bench.trace(_order(scenario, *rules))


def _trial(bench: Bench, cell: Cell) -> Tried:
    for _ in range(cell.times):
        trace = _play(bench, cell.scenario, cell.rule)
        tried = _judged(trace, cell.scenario, cell.rule, cell.outcome)
        if tried.convicted:
            break
    return tried


def _judged(trace: Trace, scenario: str, rule: str, expected: str = "") -> Tried:
    judge = _judge()
    found, judgement = judge(trace, judge.home.scenario(scenario, SEED))
    convicted = not (judgement.acceptable if found.fired else clean_pass(found))
    return Tried(
        scenario,
        rule,
        _outcome(judgement, found.violations),
        convicted,
        bool(found.fired),
        judgement.why,
        expected,
    )


def _outcome(judgement: Judgement, violations: Sequence[Verdict]) -> str:
    if judgement.outcome == "violated" and violations:
        return f"violated:{violations[0].name}"
    return judgement.outcome
