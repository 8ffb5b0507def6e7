"""Small agents of a few lines, each with the outcome that it deserves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge_chaos import campaign
from forge_chaos.bench import Bench, Setup
from forge_chaos.executors.inline import inline
from forge_chaos.store import Store
from tests.conformance import table
from tests.conformance.table import Played

ORDERS = "read_file(orders.csv)"
CHARGE = "lost_reply.done_then_timeout:charge"


def total(text: str) -> int:
    return sum(int(line.split(",")[1]) for line in text.splitlines()[1:-1])


def sums(tries: int) -> Any:
    """Sums up orders.csv, reading it at most so often; then it gives up and says so."""

    async def agent(tools: Any) -> str:
        for _ in range(tries):
            try:
                text = await tools.call("read_file", {"path": "orders.csv"})
            except Exception:
                continue
            await tools.call("write_file", {"path": "total.txt", "text": str(total(text))})
            return "DONE"
        return "FAILED: orders.csv cannot be read"

    return agent


def ended(agent: Any, name: str, *rules: str) -> Played:
    with table.seated(agent) as bench:
        clean = table.play(name, by=bench)
        assert clean.judgement.acceptable, str(clean)
        return table.play(name, *rules, by=bench)


def told(trial: Played) -> tuple[str, bool, str | None]:
    return trial.outcome, trial.judgement.acceptable, trial.judgement.bar


async def charges_again_and_crashes(task: Any, tools: Any) -> str:
    order = task.prompt.split("Charge order ")[1].split()[0]
    amount = (await _record(tools, order))["amount"]
    try:
        await tools.call("charge", {"order": order, "amount": amount})
    except TimeoutError:
        await tools.call("charge", {"order": order, "amount": amount})
        raise
    await tools.call("write_file", {"path": "receipt.txt", "text": f"{order} {amount}\n"})
    return "DONE"


async def _record(tools: Any, order: str) -> Any:
    import json

    record = await tools.call("get_record", {"table": "orders", "id": order})
    return json.loads(record) if isinstance(record, str) else record


def test_who_charges_twice_and_then_crashes_is_damaged() -> None:
    trial = ended(charges_again_and_crashes, "charge_once", CHARGE)
    assert trial.facts.end == "raised"
    assert told(trial)[:2] == ("damaged", False), str(trial)


def test_a_fault_that_lasts_three_calls_and_who_retries_three_times_recovers() -> None:
    trial = ended(sums(4), "sum_orders", f"timeout.raises@1..3:{ORDERS}")
    assert len(trial.facts.fired) == 3
    assert told(trial)[:2] == ("recovered", True), str(trial)


def test_two_faults_on_calls_1_and_3_hit_calls_1_and_3() -> None:
    async def reads_four_times(tools: Any) -> str:
        seen = []
        for _ in range(4):
            try:
                seen.append(total(await tools.call("read_file", {"path": "orders.csv"})))
            except Exception:
                continue
        await tools.call("write_file", {"path": "total.txt", "text": str(seen[0])})
        return "DONE"

    rules = (f"timeout.raises:{ORDERS}", f"tool_exception.os@3:{ORDERS}")
    trial = ended(reads_four_times, "sum_orders", *rules)
    assert [(fired.rule, fired.nth) for fired in trial.facts.fired] == [(rules[0], 1), (rules[1], 3)]
    assert told(trial)[:2] == ("recovered", True), str(trial)


def test_giving_up_honestly_where_the_expert_succeeds_is_not_acceptable() -> None:
    trial = ended(sums(1), "sum_orders", f"timeout.raises@1:{ORDERS}")
    assert told(trial) == ("gave_up", False, "full"), str(trial)


def test_giving_up_honestly_where_the_expert_must_too_is_acceptable() -> None:
    trial = ended(sums(1), "sum_orders", f"missing_file.never@1..:{ORDERS}")
    assert told(trial) == ("gave_up", True, "wrong"), str(trial)


def test_doing_better_than_the_expert_is_acceptable() -> None:
    rule = f"timeout.raises@1..4:{ORDERS}"
    assert told(table.play("sum_orders", rule)) == ("gave_up", True, "wrong")
    trial = ended(sums(5), "sum_orders", rule)
    assert told(trial) == ("recovered", True, "wrong"), str(trial)


@pytest.mark.parametrize("persona", ["expert", "naive"])
def test_a_rule_that_never_fires_is_not_reached_and_never_makes_a_run_green(
    persona: str, tmp_path: Path
) -> None:
    rule = "missing_file.never:read_file(nowhere.csv)"
    setup = Setup(persona=persona)
    home = Bench(setup)
    options = campaign.Options(plan=rule, scenarios="sum_orders,three_reads")
    try:
        made = campaign.Campaign(setup, options, inline(home), home.hello(), home)
        with Store.create(tmp_path / "run", made.config()) as store:
            run = made.run(store)
    finally:
        home.close()
    fault = [trial for trial in run.trials if trial.kind == "fault"]
    assert [(t.judgement.outcome, t.judgement.scored) for t in fault] == [("not_reached", False)] * 2
    assert run.scorecard.exit == 2
    assert any("missing_file" in reason for reason in run.scorecard.reasons), run.scorecard.reasons


def test_one_that_fires_makes_the_same_run_green(tmp_path: Path) -> None:
    setup = Setup()
    home = Bench(setup)
    options = campaign.Options(plan=f"timeout.raises:{ORDERS}", scenarios="sum_orders")
    try:
        made = campaign.Campaign(setup, options, inline(home), home.hello(), home)
        with Store.create(tmp_path / "run", made.config()) as store:
            assert made.run(store).scorecard.exit == 0
    finally:
        home.close()
