"""Before a paid model: how many trials there will be, and above a number of them a question."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from forge_chaos.bench import OWN, SCRIPTED
from forge_chaos.errors import Inconclusive, Misuse

ASK = 200  # trials
FEWER = "--max-trials N, --trials N or --scenarios make it fewer"


@dataclass(slots=True)
class Consent:
    """Told how many trials a run will have: by estimate before it begins, then as planned. It asks
    where that is over ASK.

    What was agreed to may turn out twice as many, since an agent may make more calls than the expert,
    from whose calls the estimate comes. Raises Misuse where nobody can be asked before the run,
    Inconclusive in the middle of it and for a no.
    """

    model: str
    yes: bool = False
    agreed: int = ASK
    told: int = 0

    def __call__(self, trials: int) -> None:
        self.told += 1
        if self.told == 1:
            sys.stderr.write(f"forge-chaos: about {trials} trials with {self.model}, which may cost money.\n")
        if self.yes or trials <= self.agreed:
            return
        if not sys.stdin.isatty():
            kind = Misuse if self.told == 1 else Inconclusive
            raise kind(f"{trials} trials with a paid model need --yes; {FEWER}.")
        import typer

        if not typer.confirm(f"Run {trials} trials with {self.model}?", err=True):
            raise Inconclusive(f"stopped before {trials} trials with {self.model}; {FEWER}.")
        self.agreed = 2 * trials


def consent(model: str, yes: bool, environment: Mapping[str, str]) -> Consent | None:
    """None where nobody is paid: a scripted model, one on this machine, or the agent's own, of which
    we do not know."""
    if model in (SCRIPTED, OWN):
        return None
    from forge_chaos.modelserver.endpoint import paid

    return Consent(model, yes) if paid(model, environment) else None
