"""The pytest plugin: hooks alone. What is behind them (`forge_chaos.plugin`) is loaded by the first test that
asks for it, so that a project that does not use it pays for nothing but this file."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from forge_chaos.plugin.door import Chaos

SUFFIX = ".chaos.toml"
MARKER = (
    "chaos(agent=, faults=, plan=, scenarios=, seed=, max_trials=, adapter=, model=): try the agent under faults, "
    "one test for each scenario and fault; a body that calls neither chaos.check nor chaos.sweep is followed by it"
)
SESSION = "forge_chaos.plugin.session"  # loaded by the first test that asks for it


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("forge-chaos", "forge-chaos: agents under faults")
    group.addoption(
        "--chaos-agent", metavar="SPEC", help="the agent of tests that name none, and of *.chaos.toml files"
    )
    group.addoption("--chaos-seed", metavar="N", help="the seed of tests that name none")
    group.addoption("--chaos-max-trials", metavar="N", help="at most so many trials of faults in a test")
    group.addoption("--chaos-faults-dir", metavar="DIR", action="append", help="a folder of your own faults")
    group.addoption(
        "--chaos-scenarios-dir", metavar="DIR", action="append", help="a folder of your own scenarios"
    )
    parser.addini("chaos_agent", "as --chaos-agent", default="")
    parser.addini("chaos_seed", "as --chaos-seed", default="")
    parser.addini("chaos_max_trials", "as --chaos-max-trials", default="")
    parser.addini("chaos_faults_dir", "as --chaos-faults-dir", type="paths", default=[])
    parser.addini("chaos_scenarios_dir", "as --chaos-scenarios-dir", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def pytest_unconfigure(config: pytest.Config) -> None:
    if SESSION in sys.modules:
        from forge_chaos.plugin import session

        session.close(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.endswith(SUFFIX):
        return None
    from forge_chaos.plugin.files import ChaosFile

    file: pytest.Collector = ChaosFile.from_parent(parent, path=file_path)
    return file


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> None:
    """A marked function uses the fixture, whether it takes it or not."""
    if not collector.istestfunction(obj, name):
        return
    marks = [*getattr(obj, "pytestmark", ()), *collector.iter_markers()]
    if any(mark.name == "chaos" for mark in marks):
        pytest.mark.usefixtures("chaos")(getattr(obj, "__func__", obj))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("chaos") is not None:
        from forge_chaos.plugin import marking

        marking.parametrize(metafunc)


@pytest.fixture
def chaos(request: pytest.FixtureRequest) -> Chaos:
    """Tries agents under faults: `chaos.check(agent, plan, scenario=...)`, `chaos.sweep(agent, faults=...)`."""
    from forge_chaos.plugin import session

    return session.door(request.node, getattr(request, "param", None))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """After a marked body that tried nothing: what its marker asks for."""
    __tracebackhide__ = True
    yield
    if isinstance(item, pytest.Function) and item.get_closest_marker("chaos") is not None:
        from forge_chaos.plugin import session

        door = session.door(item)
        if not door.used:
            door.as_marked()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if SESSION in sys.modules and call.when != "teardown":
        from forge_chaos.plugin import session

        session.amend(item, call, report)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table of the session; under pytest-xdist the reports have come from the workers."""
    reports = [report for of in terminalreporter.stats.values() for report in of]
    trials = [trial for report in reports for trial in getattr(report, "chaos", ())]
    if trials:
        from forge_chaos.plugin import summary

        terminalreporter.section("forge-chaos")
        for line in summary.lines(trials):
            terminalreporter.line(line)
