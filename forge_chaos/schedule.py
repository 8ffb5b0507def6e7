"""When a fault fires: pure decisions over one rule and one call, each with its own dice.

No decision knows of another, so that parallel and sequential calls meet the same faults and taking
one rule out of a plan leaves the others as they were.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from forge_chaos.nouns import Rule, dice


def matches(rule: Rule, tool: str, target: str | None, index: int | None = None) -> bool:
    """Does the rule count this call? `index` is the call's place in its batch, from 0, where known.

    A call without a target is matched by the target `*` alone, a call whose place is not known by no
    rule with `member`.
    """
    if rule.tool != "*" and not fnmatchcase(tool, rule.tool):
        return False
    if rule.target != "*" and (target is None or not fnmatchcase(target, rule.target)):
        return False
    return rule.member is None or (index is not None and index + 1 == rule.member)


def due(
    rule: Rule,
    nth: int,
    seed: int,
    tool: str,
    target: str | None,
    rule_text: str,
    *,
    on_target: int | None = None,
) -> bool:
    """Does the rule hit the `nth` call that it matches, from 1?

    The dice of a rule with a probability come from (seed, rule text, tool, target, number). That
    number is `on_target`, the call's number on its tool and target, where it is given: then calls of
    other tools, in whatever order they arrive, change nothing.
    """
    if nth < rule.first or (rule.last is not None and nth > rule.last):
        return False
    if rule.p >= 100:
        return True
    number = nth if on_target is None else on_target
    return dice(seed, rule_text, tool, target, number).random() * 100 < rule.p


def last(rule: Rule, nth: int) -> bool:
    """Is the `nth` call the last one that the rule can hit? With a probability each hit stands alone."""
    return rule.p < 100 or nth == rule.last
