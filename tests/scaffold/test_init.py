"""What is written as a skeleton loads and runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos import catalog, facts, judge, notation, scaffold
from forge_chaos.bench import Bench, Setup
from forge_chaos.errors import Misuse
from forge_chaos.order import Order


def test_a_new_scenario_is_solved_and_can_be_failed(tmp_path: Path) -> None:
    folder = scaffold.new_scenario("double", tmp_path)
    assert folder == tmp_path / "double"
    assert catalog.lint(folder) == []
    one, two = (catalog.load("double", seed, [tmp_path]) for seed in (1, 2))
    assert one.full != two.full
    goals = {}
    for persona in ("expert", "naive"):
        bench = Bench(Setup(persona=persona, scenarios_dirs=(str(tmp_path),)))
        try:
            clean = facts.facts(bench.trace(Order("a", "double", (), 1)), one)
            assert judge.clean_pass(clean)
            assert 2 * clean.steps + 4 <= one.limits.steps
            rule = "missing_file.never@1..:read_file(input.txt)"
            found = facts.facts(bench.trace(Order("b", "double", (rule,), 1)), one)
            goals[persona] = (found.goal, found.claim)
        finally:
            bench.close()
    assert goals == {"expert": ("wrong", "failed"), "naive": ("wrong", "done")}


def test_a_new_fault_fires_and_convicts_whom_it_names(tmp_path: Path) -> None:
    path = scaffold.new_fault("backend_down", tmp_path)
    fault = catalog.faults([tmp_path])["backend_down"]
    assert path == tmp_path / "backend_down.toml"
    scenario = catalog.load("sum_orders", 1)
    ends = {}
    for persona in ("expert", *fault.convicts):
        bench = Bench(Setup(persona=persona, faults_dirs=(str(tmp_path),)))
        try:
            trace = bench.trace(Order("a", "sum_orders", ("backend_down@1..:read_file",), 1))
        finally:
            bench.close()
        found = facts.facts(trace, scenario)
        assert {hit.fault for hit in found.fired} == {"backend_down"}
        ends[persona] = judge.judge(found, "wrong").outcome
    assert ends == {"expert": "gave_up", "naive": "false_success", "stubborn": "looped"}


def test_every_wording_of_the_new_fault_can_be_asked_for(tmp_path: Path) -> None:
    scaffold.new_fault("mine", tmp_path)
    known = catalog.faults([tmp_path])
    for text in ("clear", "bare"):
        assert catalog.resolve(notation.parse(f"mine+text={text}"), known).variant.id == "unreachable"


@pytest.mark.parametrize("name", ["", "Mine", "my-fault", "../x", "a b"])
def test_a_name_that_cannot_be_one_is_told(tmp_path: Path, name: str) -> None:
    for write in (scaffold.new_scenario, scaffold.new_fault):
        with pytest.raises(Misuse, match="must be made of a-z, 0-9 and _"):
            write(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    for write in (scaffold.new_scenario, scaffold.new_fault):
        path = write("mine", tmp_path)
        with pytest.raises(Misuse, match="exists already"):
            write("mine", tmp_path)
        assert path.exists()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misuse, match="cannot write"):
        scaffold.new_fault("mine", tmp_path / "file")
