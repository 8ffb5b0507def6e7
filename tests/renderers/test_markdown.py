"""Markdown in which nothing that an agent said is markup."""

from __future__ import annotations

from forge_chaos.renderers.markdown import markdown
from forge_chaos.verdict import Skipped
from tests.test_score import card, clean, many, trial

TRIALS = [clean(), trial("recovered"), trial("looped", "timeout@2", why="asked thrice", evidence=(3, 7))]


def test_it_has_verdict_table_baseline_failure_and_command() -> None:
    text = markdown(card(TRIALS), TRIALS)
    lines = text.splitlines()
    assert lines[0] == "## forge-chaos: FAIL"
    assert (
        "| timeout | 2 | 2 | 1/2 | 50% (n=2) | 50% (n=2) | - | 100% (n=2) | 100% (n=2) | 1 looped, 1 recovered |"
        in lines
    )
    assert "Without any fault: 1 of 1 trial passed." in lines
    assert "- s1, `timeout@2`: **looped**. asked thrice (events 3, 7)" in lines
    assert lines[-3:] == ["```sh", "forge-chaos replay run:t", "```"]


def test_each_row_of_the_table_has_as_many_cells_as_its_head() -> None:
    rows = [line for line in markdown(card(TRIALS), TRIALS).splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {11}


def test_text_of_an_agent_is_no_markup() -> None:
    why = "| a <b> `c` **d** [e](http://f) @team #1\n## g"
    trials = [trial("crashed", 'timeout:read_file("a`b, c")', why=why)]
    text = markdown(card(trials, skipped=(Skipped("<img>", "x|y"),)), trials)
    assert "\n## g" not in text
    assert r"\| a \<b\> \`c\` \*\*d\*\* \[e\](http:\/\/f) \@team \#1\n\#\# g".replace(r"\n", "\\\\n") in text
    assert '``timeout:read_file("a`b, c")``' in text
    assert r"\<img\>: x\|y" in text


def test_an_interval_stands_beside_its_n() -> None:
    trials = many(2, 4, 5)
    assert "50% (n=20, 30% to 70%)" in markdown(card(trials, deterministic=False), trials)


def test_a_demonstration_says_so_first_and_last() -> None:
    text = markdown(card([trial()], demonstration=True), [trial()])
    assert "This is a demonstration" in text.splitlines()[2]
    assert text.splitlines()[-1] == "This was a demonstration, and it tested nothing of yours."
