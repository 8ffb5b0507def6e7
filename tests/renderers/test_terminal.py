"""The report on the terminal, read as a person would."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console

from forge_chaos.renderers import _words
from forge_chaos.renderers.terminal import show, terminal
from forge_chaos.verdict import Skipped, Swapped
from tests.test_score import card, clean, many, trial

LONG = "forge-chaos replay reports/0007-" + "a" * 90 + ":t0123456789"
FAILING = [
    clean(),
    trial("recovered"),
    trial("looped", "timeout@2", why="asked thrice", evidence=(3, 7), replay=LONG),
]


def test_the_first_line_says_what_was_tested_and_the_last_is_the_command() -> None:
    lines = terminal(card(FAILING, agent="shop.agent:agent"), FAILING).splitlines()
    assert lines[0] == "Tested: the agent shop.agent:agent."
    assert lines[-1] == LONG


def test_a_demonstration_says_so_first_and_last_and_the_command_still_ends_it() -> None:
    lines = terminal(card([trial()], demonstration=True), [trial()]).splitlines()
    assert "demonstration" in lines[0]
    assert "nothing of yours" in lines[0]
    assert lines[-1] == "This was a demonstration, and it tested nothing of yours."
    lines = [line for line in terminal(card(FAILING, demonstration=True), FAILING).splitlines() if line]
    assert lines[-2:] == ["This was a demonstration, and it tested nothing of yours.", LONG]


def test_the_table_shows_each_score_with_its_n() -> None:
    lines = terminal(card(FAILING), FAILING).splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("timeout"))
    assert lines[at].split() == ["timeout", "2", "2", "1/2", "50%", "50%", "-", "100%", "100%"]
    assert lines[at + 1].split() == ["n=2", "n=2", "n=2", "n=2"]


def test_the_legend_is_short_and_explains_the_outcomes_that_occur() -> None:
    text = terminal(card(FAILING), FAILING)
    for name in _words.COLUMNS[2:]:
        assert f"{name}: " in " ".join(text.split())
    legend = text[text.index("acceptable: ") : text.index("How the trials ended")]
    assert len(legend.strip().splitlines()) <= 3
    explained = text[text.index("How the trials ended") :]
    shown = [name for name, meaning in _words.MEANINGS.items() if meaning in explained]
    assert shown == ["looped", "recovered"]


def test_it_tells_ends_baseline_failures_and_reasons() -> None:
    text = terminal(card(FAILING, skipped=(Skipped("s9", "it has no tool"),)), FAILING)
    assert "timeout         1 looped, 1 recovered" in text
    assert "Without any fault: 1 of 1 trial passed." in text
    assert "Not tested: s9, because it has no tool" in text
    assert " 1 s1  looped  timeout@2\n   asked thrice (events 3, 7)" in text
    assert "FAIL (exit 1)\n  1 of the 2 trials in which a fault fired did not end acceptably." in text


def test_what_was_given_up_too_early_is_told_apart() -> None:
    trials = [trial("gave_up", bar="wrong"), trial("gave_up", "timeout@2", acceptable=False)]
    assert "1 gave_up (more was possible), 1 gave_up" in terminal(card(trials), trials)


def test_ten_failures_are_shown_one_of_each_kind_first() -> None:
    trials = [trial("looped", f"timeout@{n}") for n in range(1, 15)] + [trial("damaged", "timeout@99")]
    text = terminal(card(trials), trials)
    assert "What failed (10 of 15 shown, one of each kind first)" in text
    assert "10 s1  looped" in text
    assert "11 s1" not in text
    assert " 2 s1  damaged  timeout@99" in text


def test_equal_failures_are_one_with_their_number() -> None:
    trials = [clean(), *[trial("looped", "timeout@2", repetition=n) for n in range(3)]]
    text = terminal(card(trials, deterministic=False), trials)
    assert "s1  looped, 3 times  timeout@2" in text
    assert "\n 2 s1" not in text


def test_nothing_but_the_command_is_wider_than_the_page() -> None:
    trials = [
        *many(2, 3, 6),
        trial("looped", "timeout", scenario="a_scenario_with_a_long_name", why="so " * 90, replay=LONG),
    ]
    found = card(trials, deterministic=False, fail_under=0.6)
    lines = terminal(found, trials).splitlines()
    assert max(map(len, lines[:-1])) <= 100


def test_markup_and_control_characters_of_an_agent_are_only_text() -> None:
    trials = [trial("crashed", "timeout:read_file(a[[]b])", why="[red]x[/red] \x1b[31m \x00 \udc80 :boom:")]
    text = terminal(card(trials), trials)
    assert "timeout:read_file(a[[]b])" in text
    assert r"[red]x[/red] \x1b[31m \x00 \udc80 :boom:" in text


def test_plain_text_has_no_colour_and_a_console_has() -> None:
    assert "\x1b" not in terminal(card(FAILING), FAILING)
    screen = StringIO()
    show(
        card(FAILING), FAILING, Console(file=screen, force_terminal=True, color_system="standard", width=100)
    )
    assert "\x1b[31m1 looped" in screen.getvalue()


def test_a_narrow_console_loses_no_number() -> None:
    screen = StringIO()
    show(card(FAILING), FAILING, Console(file=screen, width=80, color_system=None))
    assert (
        "timeout              2     2        1/2        50%      50%       -   100% 100%" in screen.getvalue()
    )


def test_no_share_is_rounded_to_certainty() -> None:
    trials = [clean(), *[trial(repetition=n) for n in range(400)], trial("looped", "timeout@2")]
    text = terminal(card(trials), trials)
    assert " 99% " in text
    assert "400/401" in text


def test_a_run_without_any_row_still_has_a_verdict() -> None:
    assert "INCONCLUSIVE (exit 2)" in terminal(replace(card([], ()), exit=2), [])


def test_the_worth_of_a_wording_is_told_where_both_were_tried() -> None:
    trials = [clean(), trial("recovered", "timeout:a(b)"), trial("recovered", "timeout:a(b)+text=bare")]
    text = terminal(card(trials), trials)
    assert "Wording: timeout: worded bare 0.0 calls a trial, worded clear 0.0" in text
    assert "Wording" not in terminal(card(trials[:2]), trials[:2])


def test_a_failure_that_was_attributed_says_whose_it_is_and_by_which_two_ends() -> None:
    ends = (
        Swapped("model", 1, 1, "looped", "asked thrice", same=True),
        Swapped("harness", 1, 3, "gave_up", "it gave up"),
    )
    trials = [clean(), replace(FAILING[-1], layer="harness", reason="COMMAND_TIMEOUT", swapped=ends)]
    text = " ".join(terminal(card(trials), trials).split())
    assert (
        "Layer harness (COMMAND_TIMEOUT): the expert as its model ends badly, looped (that is this very trial); its model "
        "in the reference loop ends acceptably, gave_up, 1 of 3 badly."
    ) in text
    assert "Layer" not in terminal(card(FAILING), FAILING)
    unknown = [clean(), replace(trials[-1], layer="unknown", swapped=(Swapped("model", 0, 0),))]
    assert "the expert as its model could not be judged" in terminal(card(unknown), unknown).replace(
        "\n", " "
    )


def test_programs_past_the_gate_are_counted_and_named() -> None:
    past = replace(clean(), facts=replace(clean().facts, unreached=("/bin/cat", "/usr/bin/awk")))
    trials = [past, *FAILING]
    assert "2 programs were started past the gate, where no fault reaches: /bin/cat (in 1 trial), " in (
        terminal(card(trials), trials).replace("\n", " ")
    )
    assert "past the gate" not in terminal(card(FAILING), FAILING)
