"""Meeting a step with all due care: how the expert does it, and others where their name says nothing else.

- refused: raised at once, never asked again.
- missing: the parent is listed, and the thing read once more only if its name is there.
- other trouble: at most two retries, after the time that the text asks to wait.
- what was read and is to be replaced as a whole is read once more first: what another hand has changed
  meanwhile is not overwritten.
- a write or an effect is read back after every reply, good ones too, before a retry and before giving
  up. After an unclear reply absent is believed only when the tool's `settle` seconds have passed; then
  it is repeated - at once under an idempotency key. An effect without a read-back is never repeated
  after an unclear reply, nor one whose good reply and read-back contradict each other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from forge_chaos.modelserver.keys import canonical
from forge_chaos.modelserver.mind import Mind, Step, opening
from forge_chaos.modelserver.trouble import Trouble, classify, retry_after
from forge_chaos.modelserver.view import ToolCall
from forge_chaos.solution import RAISED

RETRIES = 2
POLL = 1.0
ABSENT = object()
FINAL = ("refused", "missing")
STALE = "stale"
LOSSES = 3  # one cut may take two answers at once: what was read, and read again before writing


async def careful(step: Step, mind: Mind) -> Any:
    """The value of the step, or Trouble once all that is sensible has been tried."""
    return await (_act(step, mind) if step.acts else _read(step, mind))


async def _read(step: Step, mind: Mind, listing: bool = True) -> Any:
    there, attempt = None, 0
    while True:
        _still_shown(step.call, mind)
        reply = await step.ask()
        try:
            return step.value(reply)
        except Trouble as trouble:
            met = trouble
        if listing and there is None and met.kind in ("missing", "blind"):
            there = await mind.listed(step.call)
            if there is False:
                raise Trouble("missing", met.text, step.call, False)
            if there and met.kind == "missing":
                attempt = RETRIES
                continue
        if met.kind in FINAL or attempt >= RETRIES:
            raise Trouble(met.kind, met.text, step.call, there)
        attempt += 1
        await mind.wait(max(retry_after(met.text), POLL if step.spec.poll else 0.0))


async def _act(step: Step, mind: Mind) -> Any:
    looks = _looks(step, mind)
    if "effect" in step.spec.roles:
        if looks.possible and looks.first():
            found = await looks.look()
            if found is not ABSENT:
                return _known(found)
        if not looks.possible and not mind.visible(step.call) and mind.lost(step.call.key):
            raise Trouble("unclear", "the reply to this call is not shown any more", step.call)
    else:
        await _fresh(step, mind)
    attempt = 0
    while True:
        _still_shown(step.call, mind)
        reply = await step.ask()
        value, met = None, None
        try:
            value = step.value(reply)
        except Trouble as trouble:
            met = trouble
        if not looks.possible:
            if met is None:
                return value
            _stop_blindly(step, met)
        elif not (
            attempt == 1 and _keyed(step, met)
        ):  # the second trouble under a key: the third try is harmless
            found = await looks.after(met, attempt)
            if found is not ABSENT:
                return value if met is None else _known(found)
        if met is None:
            mind.met = True
            if not step.repeatable and not looks.credible:
                raise Trouble("unclear", f"told {reply.text!r}, but it cannot be read back", step.call)
            met = Trouble("absent", f"told {reply.text!r}, but nothing of it is there", step.call)
        if met.kind in FINAL or attempt == RETRIES:
            raise met
        attempt += 1
        await mind.wait(retry_after(met.text))


async def _fresh(step: Step, mind: Mind) -> None:
    """Look again at what is about to be replaced. Raises Trouble: `stale` when it is not what was read,
    `unclear` when it cannot be read any more. After a cut in the history nobody can tell whose change it
    is, so none is looked for.
    """
    verify = step.verify
    if verify is None or not verify.whole:
        return
    back = mind.step(verify.tool, verify.asks(step.call.args))
    known = mind.last(back.call)
    if known is None or not _due(step, back, mind):
        return
    before, shape = known
    try:
        await _read(mind.step(verify.tool, verify.asks(step.call.args), shape), mind)
    except Trouble as trouble:
        raise Trouble("unclear", f"could not be read again: {trouble.text}", step.call) from trouble
    now, _ = mind.last(back.call) or known
    if now.strip() != before.strip():
        raise Trouble(STALE, "it has changed since it was read", step.call)


def _due(step: Step, back: Step, mind: Mind) -> bool:
    """Is that look the next thing - now, or when this part of the history was made?"""
    if mind.visible(step.call):
        return mind.precedes(back.call, step.call)
    return mind.visible(back.call) or not any(mind.lost(key) for key in mind.ledger)


@dataclass(slots=True)
class _Looks:
    """Reading back one step. `before` are texts of the read-back from before the act; `missing` is the read that said that the thing is not there at all;
    `credible`: the last look denied the effect in a way that damaged data would not."""

    step: Step
    mind: Mind
    before: frozenset[str]
    missing: ToolCall | None = None
    credible: bool = True

    @property
    def possible(self) -> bool:
        return self.step.check is not None or self.step.verify is not None

    def first(self) -> bool:
        """Must it be looked whether the effect is there already - or was it, when the history had gaps?"""
        if not self.mind.visible(self.step.call):
            return self.mind.gaps()
        if self.step.check is not None:
            return any(self.mind.precedes(call, self.step.call) for call in opening(self.step.check))
        verify = self.step.verify
        assert verify is not None
        back = self.mind.step(verify.tool, verify.asks(self.step.call.args))
        return self.mind.precedes(back.call, self.step.call)

    async def after(self, met: Trouble | None, attempt: int) -> Any:
        """What a reply was worth. Before anything is repeated an unclear one is given time to settle."""
        settle = self.step.spec.settle if met is None or met.kind not in FINAL else 0.0
        if attempt:
            await self.mind.wait(settle)
            return await self.look(listing=attempt < RETRIES)
        found = await self.look()
        if found is not ABSENT or (met and met.kind in FINAL) or _keyed(self.step, met):
            return found
        await self.mind.wait(settle)
        return await self.again()

    async def look(self, listing: bool = True) -> Any:
        """What the read-back found, or ABSENT. Raises Trouble `unclear` when it cannot be read."""
        self.missing, self.credible = None, True
        try:
            found = await (self.step.check() if self.step.check else self._verify(listing))
        except Trouble as trouble:
            if trouble.kind == "missing" and not trouble.there:
                # A good reply and a thing that is missing contradict each other.
                self.missing, self.credible = trouble.call, False
                return ABSENT
            raise Trouble("unclear", f"could not be read back: {trouble.text}", self.step.call) from trouble
        return found if found else ABSENT

    async def again(self) -> Any:
        """A second look: at the folder only, where the first one said that the thing is missing."""
        if self.missing is not None and await self.mind.listed(self.missing) is False:
            return ABSENT
        return await self.look()

    async def _verify(self, listing: bool) -> Any:
        verify = self.step.verify
        assert verify is not None
        args, mind = self.step.call.args, self.mind
        back = mind.step(verify.tool, verify.asks(args))

        def shape(text: str) -> bool:
            if _emptied(text, mind.good(back.call)):
                raise ValueError("more is gone than one call can take away")
            # A predicate that holds for nothing at all, too, says only that the text is good.
            vacuous = verify.holds(args, "")
            if verify.holds(args, text) and not (vacuous and text):
                return True
            if text not in self.before and (classify(text) != "blind" or _damaged(text)):
                raise ValueError("the read-back itself met trouble")
            self.credible = text in self.before or _denies(args, text)
            return verify.holds(args, text)

        return await _read(replace(back, expect=shape), mind, listing)


def _looks(step: Step, mind: Mind) -> _Looks:
    verify = step.verify
    before = (
        mind.good(mind.step(verify.tool, verify.asks(step.call.args)).call) if verify else frozenset[str]()
    )
    return _Looks(step, mind, before)


def _still_shown(call: ToolCall, mind: Mind) -> None:
    if not mind.visible(call) and mind.lost(call.key) >= LOSSES:
        raise Trouble("lost", "the conversation keeps losing this answer", call)


def _keyed(step: Step, met: Trouble | None) -> bool:
    """Did the call meet trouble under an idempotency key, so that it may be repeated at once?"""
    return met is not None and step.repeatable and step.spec.idempotency is not None


def _stop_blindly(step: Step, met: Trouble) -> None:
    """Without a read-back only what surely did not happen may be repeated."""
    if met.kind in FINAL:
        raise met
    if not step.repeatable and met.kind != "transient":
        raise Trouble("unclear", met.text, step.call)


def _known(found: Any) -> Any:
    """The value of a step known from its read-back alone: what `check` found, None for a mere yes."""
    return None if found is True else found


def _damaged(text: str) -> bool:
    """Is it a bare exception, or does it begin as JSON or HTML and not end as JSON?"""
    if text.lstrip()[:1] not in ("{", "[", "<"):
        return RAISED.match(text) is not None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False


def _emptied(text: str, known: frozenset[str]) -> bool:
    """Is it an empty list, where a list of two or more was shown before?"""
    return text.strip() == "[]" and any(len(_list(other)) > 1 for other in known)


def _list(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _denies(args: Any, text: str) -> bool:
    """Is it a list of records of which none resembles the call in half of its arguments or more?"""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        return False
    wanted = set(map(str, canonical(args).values()))
    return all(2 * len(wanted & set(map(str, canonical(entry).values()))) < len(wanted) for entry in found)
