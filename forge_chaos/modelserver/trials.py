"""Which trial a request belongs to, for clients that only know a base URL."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from forge_chaos.modelserver import chat, wires
from forge_chaos.modelserver.server import Response, ScriptedModel
from forge_chaos.modelserver.view import Pair

NAMED = re.compile(r"^/t/([^/]+)(/.*)$")
KEPT = 1_000  # trials


class Trials:
    """Models by trial, each with a ledger and a budget of its own. `make(name)` makes one.

    `/t/NAME/v1/...` is the trial of that name. Without one, a conversation that shows no call and no result
    begins a trial. One that does goes on with the trial whose last request it extends; of several, and where it
    extends none, with the one asked last. What goes on from a response belongs to the trial that gave it.
    """

    def __init__(self, make: Callable[[str], ScriptedModel]) -> None:
        self._make = make
        self._models: OrderedDict[str, ScriptedModel] = OrderedDict()
        self._shown: dict[str, tuple[Pair, ...]] = {}
        self._begun = 0

    def __call__(self, path: str, body: bytes) -> Response:
        """The response to one request."""
        named = NAMED.match(path)
        if named is not None:
            return self._model(named[1])(named[2], body)
        wire, request = wires.at(path), _read(body)
        if wire is None:
            return self._make("")(
                path, body
            )  # no conversation: what models there are, a count, a wrong address
        pairs = _pairs(wire, request)
        before = request.get("previous_response_id")
        if before is not None:
            name = next((n for n, model in reversed(self._models.items()) if model.keeps(str(before))), None)
        else:
            name = self._last(pairs) if pairs or "?retry=" in path else None
        if name is None:
            self._begun += 1
            name = f"/{self._begun}"  # no name that a path can give
        model = self._model(name)
        self._shown[name] = pairs
        return model(path, body)

    def _model(self, name: str) -> ScriptedModel:
        if name not in self._models:
            self._models[name] = self._make(name)
            if len(self._models) > KEPT:
                gone, _ = self._models.popitem(last=False)
                self._shown.pop(gone, None)
        self._models.move_to_end(name)
        return self._models[name]

    def _last(self, pairs: tuple[Pair, ...]) -> str | None:
        asked = [name for name in reversed(self._models) if name in self._shown]
        longest = sorted(asked, key=lambda name: len(self._shown[name]), reverse=True)
        extended = (name for name in longest if pairs[: len(self._shown[name])] == self._shown[name])
        return next(extended, asked[0] if asked else None)


def _read(body: bytes) -> Mapping[str, Any]:
    try:
        request: Any = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return request if isinstance(request, Mapping) else {}


def _pairs(wire: wires.Wire, request: Mapping[str, Any]) -> tuple[Pair, ...]:
    """The calls and results that a good request shows."""
    return () if wire.check(request) is not None else chat.view(wire.chat(request)).pairs


__all__ = ["Trials"]
