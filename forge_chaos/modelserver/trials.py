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
    """Models by trial, each with a ledger and a budget of its own. `make` makes one.

    `/t/NAME/v1/...` is the trial of that name. Without one, a conversation that shows no call and no result
    begins a trial, and one that does goes on with the trial that was asked last of those whose last request it
    extends; where it extends none, with the one asked last.
    """

    def __init__(self, make: Callable[[], ScriptedModel]) -> None:
        self._make = make
        self._named: OrderedDict[str, ScriptedModel] = OrderedDict()
        self._shown: dict[str, tuple[Pair, ...]] = {}
        self._begun = 0

    def __call__(self, path: str, body: bytes) -> Response:
        """The response to one request."""
        named = NAMED.match(path)
        if named is not None:
            return self._model(named[1])(named[2], body)
        if wires.at(path) is None:
            return self._make()(
                path, body
            )  # no conversation: what models there are, a count, a wrong address
        pairs, goes_on = self._read(path, body)
        name = self._last(pairs) if pairs or goes_on or "?retry=" in path else None
        if name is None:
            self._begun += 1
            name = f"/{self._begun}"  # no name that a path can give
        model = self._model(name)
        self._shown[name] = pairs
        return model(path, body)

    def _model(self, name: str) -> ScriptedModel:
        if name not in self._named:
            self._named[name] = self._make()
            if len(self._named) > KEPT:
                gone, _ = self._named.popitem(last=False)
                self._shown.pop(gone, None)
        self._named.move_to_end(name)
        return self._named[name]

    def _last(self, pairs: tuple[Pair, ...]) -> str | None:
        asked = [name for name in reversed(self._named) if name in self._shown]
        longest = sorted(asked, key=lambda name: len(self._shown[name]), reverse=True)
        extended = (name for name in longest if pairs[: len(self._shown[name])] == self._shown[name])
        return next(extended, asked[0] if asked else None)

    @staticmethod
    def _read(path: str, body: bytes) -> tuple[tuple[Pair, ...], bool]:
        """What calls and results a request shows, and whether it goes on from what is kept."""
        wire = wires.at(path)
        try:
            request: Any = json.loads(body)
        except (ValueError, RecursionError):
            return (), False
        if wire is None or not isinstance(request, Mapping):
            return (), False
        goes_on = request.get("previous_response_id") is not None
        if wire.check(request) is not None and not goes_on:
            return (), False
        try:
            return chat.view(wire.chat(request)).pairs, goes_on
        except (KeyError, TypeError):  # no whole conversation by itself
            return (), goes_on


__all__ = ["Trials"]
