"""The report that people read first: what was tested, the table, what failed and how to see it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forge_chaos import score, wording
from forge_chaos.renderers import _words
from forge_chaos.verdict import Scorecard, Trial

WIDTH = 100
_STYLES = {0: "bold green", 1: "bold red", 2: "bold yellow", 3: "bold magenta"}


def terminal(card: Scorecard, trials: Sequence[Trial]) -> str:
    """Plain text, 100 columns wide; only the command at the end may be longer."""
    text = StringIO()
    show(
        card,
        trials,
        Console(file=text, width=WIDTH, color_system=None, force_terminal=False, legacy_windows=False),
    )
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def show(card: Scorecard, trials: Sequence[Trial], console: Console) -> None:
    """The same on a console of the caller's, in its colours and width.

    After a failure the last line is the command that runs the first one again, unbroken.
    """

    def say(text: str, style: str = "") -> None:
        console.print(Text(text, style), highlight=False)

    failures = score.failures(card, trials)
    say(_words.first_sentence(card), "bold")
    say(_words.conditions(card, trials), "dim")
    console.print()
    if card.rows:
        console.print(_scores(card, trials, padding=1 if console.width >= WIDTH else 0))
        console.print()
        say(_words.LEGEND, "dim")
        console.print()
        say("How the trials ended", "bold")
        console.print(_ends(card, trials))
        console.print()
        met = {name for row in card.rows for name in row.outcomes}
        if any(row.planned > row.fired for row in card.rows):
            met.add("not_reached")
        console.print(_legend({name: why for name, why in _words.MEANINGS.items() if name in met}))
        console.print()
    if overall := _words.overall(card):
        say(overall)
    say(_words.baseline(card))
    for name, of in card.passk.items():
        say(
            f"{name}: pass@{of['k']} {_words.percent(of['pass_at_k'])}, "
            f"pass^{of['k']} {_words.percent(of['pass_hat_k'])} over {_words.plural(of['cells'], 'cell')}"
        )
    if past := _words.past(trials):
        say(past, "yellow")
    for pair in wording.pairs(trials):
        say(f"Wording: {wording.said(pair)}")
    for skipped in card.skipped:
        say(f"Not tested: {_words.safe(skipped.scenario)}, because {_words.safe(skipped.why)}", "yellow")
    for trial in _words.unfair(trials)[: _words.SHOWN]:
        say(f"Not scored: {_words.safe(trial.scenario)} under {_words.rules(trial)} is unfair", "yellow")
    console.print()
    if failures:
        _failures(failures, console)
    verdict = Text(
        f"{_words.VERDICTS.get(card.exit, 'MISUSE')} (exit {card.exit})", _STYLES.get(card.exit, "bold")
    )
    console.print(verdict, highlight=False)
    for reason in card.reasons:
        console.print(Padding(Text(_words.safe(reason)), (0, 0, 0, 2)), highlight=False)
    if failures:
        say("  The last line runs the first failure again.")
    if card.demonstration:
        console.print()
        say(_words.YOURS)
        say(_words.last_sentence(card), "bold")
    if failures:
        console.print()
        command = Text(_words.safe(failures[0].replay), "bold cyan")
        console.print(command, highlight=False, soft_wrap=True)


def _scores(card: Scorecard, trials: Sequence[Trial], padding: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, padding), show_edge=False)
    table.add_column("fault", overflow="fold", min_width=14, style="bold")
    for name in _words.COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    shares = _words.shares(card, trials)
    for row in card.rows:
        scores = [
            _share(share, _words.interval(row) if name == "robustness" else "")
            for name, share in shares[row.fault].items()
        ]
        missing = row.planned > 0 and row.fired == 0
        table.add_row(
            row.fault,
            str(row.planned),
            Text(str(row.fired), "yellow" if missing or not row.planned else ""),
            _words.acceptable(row),
            *scores,
        )
    return table


def _share(share: _words.Share, interval: str) -> Text:
    """The score, and below it what it stands on."""
    if share.value is None:
        return Text("-", "dim")
    colour = "green" if share.value >= 1 else "yellow" if share.value >= 0.8 else "red"
    return Text.assemble((_words.percent(share.value), colour), "\n", (interval or f"n={share.n}", "dim"))


def _ends(card: Scorecard, trials: Sequence[Trial]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=14, overflow="fold", style="bold")
    table.add_column()
    fired = _words.fired(card, trials)
    for row in card.rows:
        parts = [Text(words, _colour(name, well)) for name, words, well in _words.ends(fired[row.fault])]
        if row.planned > row.fired:
            parts.append(Text(f"{row.planned - row.fired} not_reached", "dim"))
        table.add_row(row.fault, Text(", ").join(parts) if parts else Text("-", "dim"))
    return table


def _colour(outcome: str, acceptable: bool) -> str:
    return "dim" if outcome in score.UNSCORED else "green" if acceptable else "red"


def _legend(meanings: Mapping[Any, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=14, style="dim")
    table.add_column(style="dim")
    for name, meaning in meanings.items():
        table.add_row(name, meaning)
    return table


def _failures(failures: Sequence[Trial], console: Console) -> None:
    groups = _words.groups(failures)
    more = (
        f" ({_words.SHOWN} of {len(groups)} shown, one of each kind first)"
        if len(groups) > _words.SHOWN
        else ""
    )
    console.print(Text(f"What failed{more}", "bold"), highlight=False)
    for number, group in enumerate(groups[: _words.SHOWN], 1):
        trial = group.first
        times = f", {group.count} times" if group.count > 1 else ""
        table = Table.grid(padding=(0, 1))
        table.add_column(justify="right", min_width=2, style="dim")
        table.add_column(overflow="fold")
        head = Text.assemble(
            (_words.safe(trial.scenario), "bold"),
            "  ",
            (trial.judgement.outcome + times, _colour(trial.judgement.outcome, False)),
            "  ",
            (_words.rules(trial), "cyan"),
        )
        table.add_row(str(number), head)
        table.add_row("", Text(_words.because(trial)))
        if whose := _words.whose(trial):
            table.add_row("", Text(_words.safe(whose)))
        console.print(table)
    console.print()
