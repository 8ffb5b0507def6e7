"""The rules that a search may put into a plan, and which of two is the simpler one.

A rule has four coordinates: its fault class, its variant, its place (a call of the clean trial, or a
request of it) and how long it lasts. Simpler is: the class that was named first, the variant that its
file states first, the earlier place, the shorter time. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from forge_chaos.nouns import Fault, Rule

Place: TypeAlias = tuple[str, str, int, int | None]  # tool, target, number, place in a batch
What: TypeAlias = tuple[str, str]  # class, variant


def place_of(rule: Rule) -> Place:
    return rule.tool, rule.target, rule.first, rule.member


def what_of(rule: Rule) -> What:
    return rule.fault, rule.variant or ""


def calls_of(rule: Rule) -> tuple[float, float]:
    """How long it lasts, for comparison: calls, then seconds until it heals."""
    endless = float("inf")
    return endless if rule.last is None else rule.last - rule.first, rule.heal or endless


@dataclass(frozen=True)
class Space:
    """Every rule of a search on one scenario, in the order of their places. Build it with `space`.

    `order`: all variants that were asked for, the simplest first. The rules do not tell it, since they
    come in the order of the calls and not every class has a place at the first one.
    """

    rules: tuple[Rule, ...]
    order: tuple[What, ...] = ()

    @cached_property
    def _numbers(self) -> dict[Place, int]:
        return {place: number for number, place in enumerate(self.places)}

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """In the order in which the clean trial comes by them."""
        return tuple(dict.fromkeys(map(place_of, self.rules)))

    @cached_property
    def faults(self) -> dict[str, tuple[What, ...]]:
        """The variants of each class that have a place, both in the order in which they were given."""
        rank = {what: number for number, what in enumerate(self.order)}
        found: dict[str, list[What]] = {}
        for what in sorted(self._by_what, key=lambda what: rank.get(what, len(rank))):
            found.setdefault(what[0], []).append(what)
        return {fault: tuple(whats) for fault, whats in found.items()}

    @cached_property
    def most_variants(self) -> int:
        return max((len(whats) for whats in self.faults.values()), default=0)

    @cached_property
    def most_lasting(self) -> int:
        return max((len(r) for places in self._by_what.values() for r in places.values()), default=0)

    def pick(self, fault: int, variant: int, place: int, lasting: int) -> Rule:
        """The rule at these coordinates; whatever they are, there is one.

        A variant that has nothing at that place takes its next place after it, else its last one. So
        each coordinate can be made smaller alone, which is what lets a plan shrink.
        """
        whats = list(self.faults.values())[fault % len(self.faults)]
        here = self._by_what[whats[variant % len(whats)]]
        order = [self._numbers[each] for each in here]
        nearest = next((at for at in order if at >= place), order[-1])
        lasts = here[self.places[nearest]]
        return lasts[min(lasting, len(lasts) - 1)]

    def position(self, rule: Rule) -> int:
        """The number of the rule's place, from 0; the end for a place that the space does not hold."""
        return self._numbers.get(place_of(rule), len(self.places))

    def simpler(self, rule: Rule) -> Iterator[Rule]:
        """The rules that are simpler than this one and differ in class, variant or place and time alone.

        Of the same variant: the shortest one wherever it may be, one shorter at that place, one as long
        at an earlier place. Then an earlier variant of the class, then the first one of an earlier class, at
        that place for as long.
        """
        what, here, time = what_of(rule), place_of(rule), calls_of(rule)
        mine = self._by_what.get(what, {})
        near = [
            each
            for place, lasts in mine.items()
            for each in lasts
            if each == lasts[0] or place == here or calls_of(each) == time
        ]
        rank = self._rank(rule)
        yield from sorted((each for each in near if self._rank(each) < rank), key=self._rank)
        whats = self.faults.get(rule.fault, ())
        for other in whats[: whats.index(what)] if what in whats else ():
            yield from self._same(other, rule)
        classes = list(self.faults)
        for fault in classes[: classes.index(rule.fault)] if rule.fault in classes else ():
            yield from next(filter(None, (list(self._same(w, rule)) for w in self.faults[fault])), [])

    def without(self, rules: Collection[Rule]) -> Space:
        """The space with these rules taken out."""
        gone = set(rules)
        return replace(self, rules=tuple(rule for rule in self.rules if rule not in gone))

    def _rank(self, rule: Rule) -> tuple[tuple[float, float], int]:
        return calls_of(rule), self.position(rule)

    def _same(self, what: What, rule: Rule) -> Iterator[Rule]:
        """The rule of another variant that is equal in place and time."""
        there = self._by_what[what].get(place_of(rule), ())
        return (each for each in there if calls_of(each) == calls_of(rule))

    @cached_property
    def _by_what(self) -> dict[What, dict[Place, tuple[Rule, ...]]]:
        """{(class, variant): {place: its rules there, the shortest first}}."""
        found: dict[What, dict[Place, tuple[Rule, ...]]] = {}
        for rule in self.rules:
            here = found.setdefault(what_of(rule), {})
            here[place_of(rule)] = tuple(sorted((*here.get(place_of(rule), ()), rule), key=calls_of))
        return found


def space(cells: Iterable[Rule], order: Iterable[What] = ()) -> Space:
    """The space of a sweep's cells. A rule that may last once and for ever may last twice too."""
    given = dict.fromkeys(cells)
    found = []
    for rule in given:
        found.append(rule)
        if rule.last == rule.first and rule.heal is None and replace(rule, last=None) in given:
            found.append(replace(rule, last=rule.first + 1))
    places = {place: number for number, place in enumerate(dict.fromkeys(map(place_of, found)))}
    found.sort(key=lambda rule: places[place_of(rule)])
    return Space(tuple(dict.fromkeys(found)), tuple(order))


def order_of(faults: Iterable[Fault]) -> tuple[What, ...]:
    """The variants of these classes, the simplest first: as they were named, and as each file states them."""
    return tuple(dict.fromkeys((fault.id, variant.id) for fault in faults for variant in fault.variants))
