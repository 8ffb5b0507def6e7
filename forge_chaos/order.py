"""What an executor is asked to run: one trial, as data that crosses processes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Order:
    """One trial to run. `rules` is the plan in notation; `kind` says whether it is a clean control."""

    id: str
    scenario: str
    rules: tuple[str, ...] = ()
    seed: int = 0
    repetition: int = 0
    kind: Literal["clean", "fault"] = "fault"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "scenario": self.scenario,
            "rules": list(self.rules),
            "seed": self.seed,
            "repetition": self.repetition,
            "kind": self.kind,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Order:
        return cls(**{**data, "rules": tuple(data["rules"])})


def trial_id(scenario: str, agent: str, rules: Iterable[str], seed: int, repetition: int) -> str:
    """The name of a trial: equal for equal (scenario, agent, plan, seed, repetition), in every process."""
    what = json.dumps([scenario, agent, list(rules), seed, repetition])
    return "t" + blake2b(what.encode(), digest_size=8).hexdigest()
