"""`python -m tests.benchmarks`: the ratios that need no peer, measured in one run."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from forge_chaos import reference
from tests.benchmarks import endings, fuzzing, gate, memory, start, trials, workspaces
from tests.conformance import table, test_clean_control

Row = tuple[str, str, str]


def rows() -> Iterator[Row]:
    """What was measured, the figure, the bar."""
    yield from _gate()
    yield from _trials()
    yield from _endings()
    yield "an example of fuzz / its trial alone", f"{fuzzing.ratio():.1f} x", f"<= {fuzzing.BAR} x"
    yield "memory left behind by a trial", f"{memory.growth():.0f} bytes", "flat"
    yield from _start()
    ratios = workspaces.ratios()
    yield "fresh workspace in memory and 20 operations / on /dev/shm", f"{ratios['memory']:.3f}", "<= 0.05"
    yield "fresh fake workspace and 20 operations / on /dev/shm", f"{ratios['fake']:.2f}", "<= 10"
    yield _clean_control()


def _gate() -> Iterator[Row]:
    for name, ratio in gate.ratios().items():
        yield f"gate and three records, plan {name} / bare await", f"{ratio:.1f} x", gate.BARS[name]


def _trials() -> Iterator[Row]:
    found = trials.rates()
    what = f"trials of {found['calls']:.0f} calls per second and core"
    yield f"{what}, bare loop", f"{found['bare']:.0f}", ""
    for name in ("messages", "live"):
        shown = f"{found[name]:.0f} ({found[name] / found['bare']:.2f} x the bare loop)"
        yield f"{what}, {name}", shown, f">= {trials.BARS[name]} x"


def _endings() -> Iterator[Row]:
    found = endings.seconds()
    for name, seconds in found.items():
        if name != "clean":
            shown = f"{seconds / found['clean']:.1f} x a clean trial ({1000 * seconds:.1f} ms)"
            yield f"a trial that the agent would not end: {name}", shown, "< 1 s"


def _start() -> Iterator[Row]:
    found = start.seconds()
    for name in ("import", "help"):
        shown = f"{found[name] / found['python']:.1f} x python -c pass ({found[name]:.3f} s)"
        yield f"cold start: {name}", shown, "< 0.5 s" if name == "help" else ""


def _clean_control() -> Row:
    agents = (reference.agent, test_clean_control.looks_round)
    equal = [
        test_clean_control.with_us(name, agent) == test_clean_control.without_us(name, agent)
        for name in table.NAMES
        for agent in agents
    ]
    return "clean control: byte-equal with and without us", f"{sum(equal)} of {len(equal)}", "all"


def main() -> None:
    for what, figure, bar in rows():
        sys.stdout.write(f"{what:72} {figure:40} {bar}\n")
        sys.stdout.flush()
    table.close()


if __name__ == "__main__":
    main()
