"""What came out of a source of tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from forge_chaos.nouns import Scenario
from forge_chaos.verdict import Skipped


@dataclass(frozen=True, slots=True)
class Imported:
    """`scenarios` can be graded. `skipped` are the tasks that cannot, with why. `notes` are sentences on
    what a task asks for and nobody checks here, so that it never counts as passed in silence."""

    scenarios: tuple[Scenario, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


def hash(task: Mapping[str, Any]) -> str:
    """`b2:` and the hash of a task's content: what makes two versions of it differ."""
    text = json.dumps(task, sort_keys=True, ensure_ascii=True)
    return "b2:" + blake2b(text.encode(), digest_size=16).hexdigest()
