"""The scripted model as a provider: bytes in, bytes out, as strict as the real ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from forge_chaos.modelserver import chat
from forge_chaos.modelserver.move import Ask
from forge_chaos.modelserver.player import Player
from forge_chaos.modelserver.refusals import invalid
from forge_chaos.modelserver.run import persona
from forge_chaos.nouns import Scenario, ToolSpec

BUDGET = 300


@dataclass(frozen=True, slots=True)
class Response:
    """`wait`: seconds of trial time that pass before the caller gets it."""

    status: int
    body: bytes
    wait: float = 0.0


class ScriptedModel:
    """One trial's model. `specs` are the scenario's tools by the solution's names; `budget` bounds the
    requests, `window` their size in tokens of four characters.

    A path with the query `?retry=N` is a retry by the client: the ledger does not advance.
    `clean`: no fault is planned, so a solution that raises by itself is a bug of the scenario.
    """

    def __init__(
        self,
        scenario: Scenario,
        persona_name: str,
        specs: Mapping[str, ToolSpec],
        budget: int = BUDGET,
        window: int | None = None,
        clean: bool = False,
    ) -> None:
        self._player = Player(scenario, persona(persona_name), specs, clean)
        self._budget, self._window, self._requests = budget, window, 0

    def __call__(self, path: str, body: bytes) -> Response:
        """The response to one request. Raises SolutionError on a clean run only."""
        self._requests += 1
        if self._requests > self._budget:
            return Response(400, spent(self._budget))
        where, _, query = path.partition("?")
        if not where.rstrip("/").endswith("/v1/chat/completions"):
            return _json(404, invalid(f"Invalid URL (POST {where})"))
        try:
            request: Any = json.loads(body.decode(), parse_constant=_refuse)
        except (ValueError, RecursionError):
            return _json(400, invalid("The body of the request is not valid JSON."))
        wrong = chat.check(request, self._window)
        if wrong is not None:
            return _json(400, wrong)
        view = chat.view(request)
        move = self._player.move(view, retry=query.startswith("retry="))
        wait = move.wait if isinstance(move, Ask) else 0.0
        return Response(200, _dump(chat.render(request, view, move)), wait)

    def withdraw(self) -> None:
        """The last response never reached the caller (a fault replaced it): it was not asked."""
        self._player.withdraw()


def spent(budget: int) -> bytes:
    """The refusal after the last request of a trial's budget."""
    message = f"The request budget of this trial ({budget} requests) is spent."
    return _dump({"error": {"message": message, "type": "budget", "param": None, "code": "budget_spent"}})


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def _json(status: int, value: Any) -> Response:
    return Response(status, _dump(value))
