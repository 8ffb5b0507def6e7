from __future__ import annotations

import pytest

from forge_chaos.events import Called, find
from forge_chaos.specimens import leftovers
from tests.specimens.playing import play

FAILS = "tool_exception.runtime:write_file(total.txt)"


@pytest.mark.parametrize("agent", [leftovers.leaves_thread, leftovers.leaves_task])
def test_they_write_after_the_end_what_failed_before_it(agent: object) -> None:
    trial = play(agent, "sum_orders", FAILS)
    after = [called.tool for seq, called in find(trial.trace, Called) if seq > (trial.facts.ended or 0)]
    assert after == ["write_file"]
    assert trial.facts.goal == "full"


def test_exits_raises_what_no_handler_of_exceptions_catches() -> None:
    assert play(leftovers.exits, "sum_orders", FAILS).facts.error.startswith("SystemExit: RuntimeError")
