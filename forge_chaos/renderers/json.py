"""The result as one JSON object, for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from json import dumps
from typing import Any

from forge_chaos import score, wording
from forge_chaos.renderers import _words
from forge_chaos.verdict import Scorecard, Trial


def json(card: Scorecard, trials: Sequence[Trial]) -> str:
    """Strict JSON in ASCII, so that it passes any pipe. What does not apply is null."""
    result = {
        "run": card.run,
        "agent": card.agent,
        "model": card.model,
        "persona": card.persona,
        "seed": card.seed,
        "clean": {"passed": card.clean_passed, "of": card.clean_of},
        "classes": [asdict(row) for row in card.rows],
        "overall": card.overall,
        "trials": card.trials,
        "not_reached": card.not_reached,
        "failures": [_failure(trial) for trial in score.failures(card, trials)],
        "skipped": [asdict(skipped) for skipped in card.skipped],
        "wordings": [asdict(pair) for pair in wording.pairs(trials)],
        "unreached": _words.unreached(trials),
        "exit": card.exit,
    }
    return dumps(whole(result), indent=2, allow_nan=False) + "\n"


def _failure(trial: Trial) -> dict[str, Any]:
    return {
        "scenario": trial.scenario,
        "plan": ",".join(trial.rules),
        "outcome": trial.judgement.outcome,
        "layer": trial.layer,
        "swapped": [asdict(end) for end in trial.swapped],
        "reason": trial.reason or None,
        "why": trial.judgement.why,
        "evidence": list(trial.judgement.evidence),
        "replay": trial.replay,
    }


def whole(value: Any) -> Any:
    """Without lone surrogates, which many readers of JSON refuse."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list | tuple) else value
