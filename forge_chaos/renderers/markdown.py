"""The result as GitHub-flavoured Markdown: a job summary or a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forge_chaos import score, wording
from forge_chaos.renderers import _words
from forge_chaos.verdict import Scorecard, Trial

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@])")


def markdown(card: Scorecard, trials: Sequence[Trial]) -> str:
    """Verdict, table, baseline, failures with what proves them, and the command that comes first."""
    shares, fired = _words.shares(card, trials), _words.fired(card, trials)
    lines = [
        f"## forge-chaos: {_words.VERDICTS.get(card.exit, 'MISUSE')}",
        "",
        _plain(_words.first_sentence(card)),
        "",
        _plain(_words.conditions(card, trials)),
        "",
        *(f"- {_plain(reason)}" for reason in card.reasons),
        "",
        "| fault | planned | fired | acceptable | robustness | recovery | honesty | safety | seen | ends |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for row in card.rows:
        scores = []
        for name, share in shares[row.fault].items():
            range_ = f", {_words.interval(row)}" if name == "robustness" and _words.interval(row) else ""
            scores.append(
                "-" if share.value is None else f"{_words.percent(share.value)} (n={share.n}{range_})"
            )
        ends = ", ".join(_plain(words) for _, words, _ in _words.ends(fired[row.fault])) or "-"
        lines.append(
            f"| {_plain(row.fault)} | {row.planned} | {row.fired} | {_words.acceptable(row)} | "
            f"{' | '.join(scores)} | {ends} |"
        )
    overall = [_words.overall(card), ""] if _words.overall(card) else []
    lines += ["", *overall, _words.baseline(card), ""]
    if past := _words.past(trials):
        lines += [_plain(past), ""]
    lines += _list("Wording", [_plain(wording.said(pair)) for pair in wording.pairs(trials)])
    lines += _list("Not tested", [f"{_plain(s.scenario)}: {_plain(s.why)}" for s in card.skipped])
    unfair = [f"{_plain(t.scenario)}: {_code(_words.rules(t))}" for t in _words.unfair(trials)]
    lines += _list("Unfair, not scored", unfair)
    failures = score.failures(card, trials)
    groups = _words.groups(failures)
    shown = [
        f"{_plain(g.first.scenario)}, {_code(_words.rules(g.first))}: **{_plain(g.first.judgement.outcome)}**"
        f"{f' ({g.count} times)' if g.count > 1 else ''}. {_plain(' '.join(filter(None, (_words.because(g.first), _words.whose(g.first)))))}"
        for g in groups[: _words.SHOWN]
    ]
    more = f" ({_words.SHOWN} of {len(groups)})" if len(groups) > _words.SHOWN else ""
    lines += _list(f"What failed{more}", shown)
    if card.demonstration:
        lines += [_plain(_words.YOURS), "", _plain(_words.last_sentence(card)), ""]
    if failures:
        lines += ["Run the first failure again:", "", *_block(failures[0].replay)]
    return "\n".join(lines).rstrip() + "\n"


def _list(title: str, items: Sequence[str]) -> list[str]:
    return [f"### {title}", "", *(f"- {item}" for item in items), ""] if items else []


def _plain(text: str) -> str:
    """Text that means itself: nothing in it is markup, a mention or a link."""
    return _SPECIAL.sub(r"\\\1", _words.safe(text)).replace("://", ":\\/\\/")


def _code(text: str) -> str:
    """A code span that holds any text: its fence is longer than any run of backticks inside."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _block(text: str) -> list[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return [f"{fence}sh", _words.safe(text), fence]
