"""What a provider of the responses wire keeps: the items behind each response id.

A client that names `previous_response_id` sends what is new alone, so the request has to be made whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forge_chaos.modelserver import responses
from forge_chaos.modelserver.refusals import Refusal, invalid


class Memory:
    """The conversations of one trial, by the ids of the responses that ended each of their requests."""

    def __init__(self) -> None:
        self._behind: dict[str, list[Any]] = {}
        self._items: dict[str, Any] = {}

    def missing(self, request: Mapping[str, Any]) -> Refusal | None:
        """The refusal of a request that goes on from what is not kept here."""
        id = request.get("previous_response_id")
        if id is None or (isinstance(id, str) and id in self._behind):
            return None
        return invalid(
            f"Previous response with id {id!r} not found.",
            "previous_response_id",
            "previous_response_not_found",
        )

    def whole(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request with all that it goes on from, and with the items that it refers to."""
        if "input" not in request:
            return request
        id = request.get("previous_response_id")
        before = self._behind.get(id, []) if isinstance(id, str) else []
        new = responses.items(request["input"])
        if not before and not any(map(_reference, new)):
            return request
        found = [self._items.get(item["id"], item) if _reference(item) else item for item in new]
        return {**request, "input": [*before, *found]}

    def keep(self, whole: Mapping[str, Any], reply: Any) -> None:
        """Remember what a whole request was answered, unless it forbids that."""
        if not isinstance(reply, Mapping) or reply.get("object") != "response" or whole.get("store") is False:
            return
        output = [item for item in reply.get("output") or () if isinstance(item, Mapping)]
        self._behind[str(reply.get("id"))] = [*responses.items(whole.get("input")), *output]
        self._items |= {str(item["id"]): item for item in output if "id" in item}


def _reference(item: Any) -> bool:
    """An item that stands for one sent before: it says so, or is nothing but an id."""
    if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
        return False
    return item.get("type") == "item_reference" or set(item) == {"id"}
