"""The scripted model as a provider: bytes in, bytes out, as strict as the real ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from forge_chaos.modelserver import chat, messages, shaping, wires
from forge_chaos.modelserver.memory import Memory
from forge_chaos.modelserver.move import Ask
from forge_chaos.modelserver.player import Player
from forge_chaos.modelserver.refusals import NO_JSON, Refusal, error, invalid
from forge_chaos.modelserver.run import persona
from forge_chaos.modelserver.sse import dump
from forge_chaos.nouns import Scenario, ToolSpec

BUDGET = 300
NAME = "scripted"
MODELS = "/v1/models"


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
    `clean`: no fault is planned, so a solution that raises by itself is a bug of the scenario. `name`: models
    of different names never give the same id to two responses.
    """

    def __init__(
        self,
        scenario: Scenario,
        persona_name: str,
        specs: Mapping[str, ToolSpec],
        budget: int = BUDGET,
        window: int | None = None,
        clean: bool = False,
        name: str = "",
    ) -> None:
        self._player = Player(scenario, persona(persona_name), specs, clean)
        self._budget, self._window, self._requests, self._name = budget, window, 0, name
        self._memory = Memory()

    def __call__(self, path: str, body: bytes) -> Response:
        """The response to one request. Raises SolutionError on a clean run only."""
        where, _, query = path.partition("?")
        listed = models(where)
        if listed is not None:
            return listed
        counting = where.rstrip("/").endswith(messages.COUNT)
        wire = messages if counting else wires.at(where)
        if wire is None:
            return _refused(chat, 404, invalid(f"Invalid URL (POST {where})"))
        self._requests += 1
        if self._requests > self._budget:
            return Response(400, spent(self._budget, wire))
        try:
            request: Any = json.loads(body.decode(), parse_constant=_refuse)
            if b"\\ud" in body.lower():
                json.dumps(request, ensure_ascii=False).encode()  # half a surrogate pair is no UTF-8
        except (ValueError, RecursionError):
            return _refused(wire, 400, invalid(NO_JSON))
        wrong = self._memory.missing(request) if isinstance(request, dict) else None
        whole: Any = self._memory.whole(request) if isinstance(request, dict) and not wrong else request
        wrong = wrong or (messages.check(whole, counting) if counting else wire.check(whole))
        if wrong is not None:
            return _refused(wire, 400, wrong)
        asked = wire.chat(whole)
        if counting:
            return Response(200, dump({"input_tokens": _tokens(asked)}))
        wrong = shaping.refusal(asked.get("response_format"))
        if wrong is None and self._window is not None:
            tokens = _tokens(asked)
            wrong = wire.over(self._window, tokens) if tokens > self._window else None
        if wrong is not None:
            return _refused(wire, 400, wrong)
        view = chat.view(asked)
        move = self._player.move(view, retry=query.startswith("retry="))
        reply = wire.reply(chat.render(asked, view, move, f"{self._name} {self._requests}"), request)
        self._memory.keep(whole, reply)
        wait = move.wait if isinstance(move, Ask) else 0.0
        return Response(200, wire.stream(reply, request) if request.get("stream") else dump(reply), wait)

    def keeps(self, id: str) -> bool:
        """Can a request go on from the response of this id?"""
        return self._memory.missing({"previous_response_id": id}) is None

    def withdraw(self) -> None:
        """The last response never reached the caller (a fault replaced it): it was not asked."""
        self._player.withdraw()


def models(where: str) -> Response | None:
    """The answer to a client that asks what models there are; None for any other path."""
    path = where.rstrip("/")
    known = {"id": NAME, "object": "model", "created": chat.CREATED, "owned_by": "forge-chaos"}
    known |= {"type": "model", "display_name": NAME, "created_at": "2023-11-14T22:13:20Z"}
    if path.endswith(MODELS):
        return Response(
            200,
            dump({"object": "list", "data": [known], "has_more": False, "first_id": NAME, "last_id": NAME}),
        )
    if path.rpartition("/")[0].endswith(MODELS):  # whatever its name, it is the scripted one that answers
        return Response(200, dump({**known, "id": path.rpartition("/")[2]}))
    return None


def spent(budget: int, wire: wires.Wire = chat) -> bytes:
    """The refusal after the last request of a trial's budget."""
    message = f"The request budget of this trial ({budget} requests) is spent."
    return dump(wire.refusal(400, error("budget", message, None, "budget_spent")["error"]))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _tokens(asked: Mapping[str, Any]) -> int:
    return len(json.dumps([asked["messages"], asked.get("tools")], ensure_ascii=False)) // 4


def _refused(wire: wires.Wire, status: int, wrong: Refusal) -> Response:
    return Response(status, dump(wire.refusal(status, wrong["error"])))
