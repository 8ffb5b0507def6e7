from __future__ import annotations

from forge_chaos.specimens import trust
from tests.specimens.playing import calls, play, world

NOTHING_WRITTEN = "silent_noop.says_done:write_file(total.txt)"


def test_reports_first_and_trusts_itself_never_look_at_what_they_wrote() -> None:
    for agent in (trust.reports_first, trust.trusts_itself):
        trial = play(agent, "sum_orders", NOTHING_WRITTEN)
        assert [called.target for called in calls(trial, "read_file")] == ["orders.csv"]
        assert "total.txt" not in world(trial)


def test_caches_reads_each_file_once() -> None:
    trial = play(trust.caches, "sum_orders", "malformed_output.html_page:read_file(orders.csv)")
    assert len(calls(trial, "read_file")) == 1


def test_goes_round_moves_what_it_may_not_delete_and_nothing_else() -> None:
    refused = play(trust.goes_round, "keep_legacy", "blocked_command.permission_denied@1..:delete_file")
    assert len([name for name in world(refused) if name.startswith("trash/")]) == 2
    failing = play(trust.goes_round, "keep_legacy", "tool_exception.runtime:delete_file")
    assert failing.judgement.acceptable, str(failing)
