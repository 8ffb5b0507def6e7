"""What a persona works with: the step before it, and what a model may know besides.

A solution wants a value (`await tools.read_file(...)`); that is a Step. The persona meets the step: it
asks, reads the reply, and decides what to do about trouble. Everything that reaches the wire is yielded
by `wire`, the only place where a solution stops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from types import coroutine
from typing import Any

from forge_chaos.errors import unknown
from forge_chaos.modelserver import listing
from forge_chaos.modelserver.enveloped import opened
from forge_chaos.modelserver.move import Ask
from forge_chaos.modelserver.trouble import Stuck, Trouble, classify
from forge_chaos.modelserver.view import Reply, ToolCall, View
from forge_chaos.nouns import ToolSpec, Verify
from forge_chaos.solution import Shape, matches, text

NOTHING = "(no output)"  # how harnesses word an empty result


@coroutine
def wire(ask: Ask) -> Generator[Ask, tuple[Reply, ...], tuple[Reply, ...]]:
    return (yield ask)


def opening(check: Callable[[], Awaitable[Any]]) -> tuple[ToolCall, ...]:
    """The first calls that a check would make; it is not run any further."""
    running = check().__await__()
    try:
        ask: Ask = next(running)
        return ask.calls
    except StopIteration:
        return ()
    finally:
        if isinstance(running, Generator):
            running.close()


class Mind:
    """Read-only for personas: is an answer visible, how often was one lost, are there gaps.

    `specs` maps the solution's tool names to what is known of each tool that is offered; `ToolSpec.name` is the name on
    the wire, so a solution runs over an agent's own tools when the mapping says so - here and nowhere
    else. `ledger` counts what this trial has asked, by key; None when nobody keeps one.
    """

    def __init__(
        self,
        specs: Mapping[str, ToolSpec],
        view: View | None = None,
        ledger: Mapping[str, int] | None = None,
        detour: Callable[[], Awaitable[Any]] | None = None,
    ) -> None:
        self._known = specs
        offered = view.tools if view else frozenset[str]()
        self.specs = {n: s for n, s in specs.items() if s.name in offered} if offered else specs
        self.met = False
        self.saying = ""  # what goes beside the next call
        self._detour = detour
        self._good: dict[str, list[tuple[str, Shape]]] = {}
        self.look(view, ledger)
        self._unused: dict[str, list[tuple[int, Reply]]] = {}
        for place, (call, reply) in enumerate(view.pairs if view else ()):
            if call is not None and reply is not None:
                self._unused.setdefault(call.key, []).append((place, reply))

    def look(self, view: View | None, ledger: Mapping[str, int] | None) -> None:
        """Take what a request shows (None: nothing is cut, as when driven live)."""
        self.view, self.ledger = view, ledger or {}

    def visible(self, call: ToolCall) -> bool:
        """Does the conversation still hold a reply for this call that nobody has used?"""
        return bool(self._unused.get(call.key))

    def take(self, call: ToolCall) -> Reply | None:
        """Use the oldest unused reply to this call."""
        waiting = self._unused.get(call.key)
        return waiting.pop(0)[1] if waiting else None

    def precedes(self, first: ToolCall, second: ToolCall) -> bool:
        """Does the oldest unused reply to the one call stand before that to the other?"""
        one, other = self._unused.get(first.key), self._unused.get(second.key)
        return bool(one and other and one[0][0] < other[0][0])

    def lost(self, key: str) -> int:
        """How many replies to this call were asked for and are not shown any more."""
        if self.view is None:
            return 0
        shown = sum(1 for call, reply in self.view.pairs if call and reply and call.key == key)
        return max(0, self.ledger.get(key, 0) - shown)

    def gaps(self) -> bool:
        """Is the history incomplete: replies that no step explains, or fewer replies than were asked for?"""
        return any(self._unused.values()) or any(self.lost(key) for key in self.ledger)

    def good(self, call: ToolCall) -> frozenset[str]:
        """The texts that were good replies to this call so far."""
        return frozenset(text for text, _ in self._good.get(call.key, ()))

    def last(self, call: ToolCall) -> tuple[str, Shape] | None:
        """The newest good reply to this call, and the shape that it was found good by."""
        return self._good[call.key][-1] if call.key in self._good else None

    def note(self, call: ToolCall, text: str, shape: Shape) -> None:
        """Remember a good reply."""
        self._good.setdefault(call.key, []).append((text, shape))

    def step(
        self,
        name: str,
        args: Mapping[str, Any],
        expect: Shape | None = None,
        check: Callable[[], Awaitable[Any]] | None = None,
        allow: Mapping[str, Any] | None = None,
    ) -> Step:
        """A step on a tool by the solution's name. Raises Misuse for a tool that there is not, Stuck for
        one that this conversation does not offer."""
        spec = self.specs.get(name)
        if spec is None:
            if name in self._known:
                raise Stuck(f"there is no tool {name}")
            raise unknown("tool", name, self._known, "solution", "the scenario's tools name what it is given")
        shape = expect or (matches(spec.returns) if spec.returns else text())
        return Step(
            ToolCall(spec.name, {spec.renames.get(k, k): v for k, v in args.items()}),
            spec,
            shape,
            check,
            allow or {},
            self,
        )

    async def wait(self, seconds: float) -> None:
        """Let trial time pass before the next call."""
        if seconds > 0:
            await wire(Ask((), seconds))

    async def listed(self, call: ToolCall) -> bool | None:
        """List where the call's target should be: is it there? None when it cannot be found out.

        Where the folder is missing, so is what should be in it.
        """
        found = listing.find(call, self.specs)
        if found is None:
            return None
        where, name = found
        (reply,) = await wire(Ask((where,)))
        there = None if reply.failed else listing.holds(opened(reply.text), name)
        return False if there is None and classify(reply.text) == "missing" else there

    async def detour(self) -> bool:
        """Take the scenario's other route to a refused effect. False when it has none."""
        if self._detour is None:
            return False
        await self._detour()
        return True


@dataclass(frozen=True, slots=True)
class Step:
    """One call that a solution wants, with what it says of a good reply."""

    call: ToolCall
    spec: ToolSpec
    expect: Shape
    check: Callable[[], Awaitable[Any]] | None
    allow: Mapping[str, Any]
    mind: Mind

    @property
    def acts(self) -> bool:
        """Does the call change the world?"""
        return not self.spec.roles.isdisjoint(("write", "effect"))

    @property
    def repeatable(self) -> bool:
        """Is doing it again harmless: no effect, or one under an idempotency key that the call passes?"""
        key = self.spec.idempotency
        return "effect" not in self.spec.roles or bool(key and self.call.args.get(key))

    @property
    def verify(self) -> Verify | None:
        """How to read it back by another tool, where the tool says so and that tool is offered."""
        verify = self.spec.verify
        return verify if verify and verify.tool in self.mind.specs else None

    async def ask(self) -> Reply:
        """Make the call."""
        (reply,) = await wire(Ask((self.call,)))
        return reply

    def value(self, reply: Reply) -> Any:
        """What a good reply says. Raises Trouble for any other, whatever the task allows."""
        if not reply.failed:
            whole = "" if reply.text == NOTHING else reply.text
            for text in dict.fromkeys((opened(whole), whole)):
                try:
                    value = self.expect(text)
                except Exception:  # damaged data breaks a shape check in any way it likes
                    continue
                self.mind.note(self.call, reply.text, self.expect)
                return value
        self.mind.met = True
        raise Trouble(classify(reply.text), reply.text, self.call)

    def read(self, reply: Reply) -> Any:
        """As `value`, but trouble that the task provides for gives the value it provides."""
        try:
            return self.value(reply)
        except Trouble as trouble:
            if trouble.kind in self.allow:
                return self.allow[trouble.kind]
            raise
