"""The turn gate: the same shape as the other two, over what the caller sends with a message of the user's.

A rule of the seam `turn` counts the user's messages, from 1. Its mechanism is handed a call whose arguments are
what goes with the message (`window`, see `nouns.Task`), and what it passes on is what the agent gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forge_chaos import schedule
from forge_chaos.gate import Resolved, RuleState, linked, seam
from forge_chaos.nouns import Call, Err, Ok, Tool
from forge_chaos.recorder import Recorder

PLAIN: Mapping[str, Any] = {"window": None}  # what a caller who asks nothing sends


class TurnGate:
    """The gate over the user's messages of one trial. `broken` is what a mechanism of ours raised."""

    def __init__(
        self, rules: Sequence[Resolved], record: Recorder, now: Callable[[], float], *, seed: int = 0
    ) -> None:
        self._rules = tuple(RuleState(r) for r in rules if seam(r) == "turn")
        self._record = record
        self._now = now
        self._seed = seed
        self.broken: BaseException | None = None

    async def __call__(self, turn: int, request: int) -> Mapping[str, Any]:
        """What goes with the message of this turn. `request` is the number of the first model request that will
        show it."""

        async def sent(call: Call) -> Ok | Err:
            return Ok(call.args)

        chain: Tool = sent
        for state in reversed(self._rules):
            state.count += 1
            rule, text = state.resolved.rule, state.resolved.text
            if not state.healed(self._now()) and schedule.due(
                rule, state.count, self._seed, "turn", None, text
            ):
                chain = linked(
                    *(state, state.count, chain),
                    seam="turn",
                    request=request,
                    seed=self._seed,
                    record=self._record,
                    now=self._now,
                )
        try:
            result = await chain(Call(turn, "turn", dict(PLAIN)))
        except Exception as error:
            self.broken = self.broken or error
            return PLAIN
        return result.value if isinstance(result, Ok) else PLAIN
