"""The table at the end of a session."""

from __future__ import annotations

import json

from forge_chaos.plugin import summary
from tests.plugin.test_ends import trial


def test_a_row_for_each_class_with_what_counts() -> None:
    trials = [
        trial("recovered", True),
        trial("hung", False),
        trial("unfair", False),
        trial("not_reached", True, fired=False),
    ]
    told = summary.told(trials)
    assert summary.lines(json.loads(json.dumps(told))) == [
        "class    planned  fired  acceptable  outcomes",
        "timeout        4      3         1/2  1 unfair, 1 not_reached, 1 hung, 1 recovered",
    ]


def test_what_cannot_be_counted_has_no_share() -> None:
    assert summary.lines(summary.told([trial("unfair", False)]))[1].split()[3] == "-"
