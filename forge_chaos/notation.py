"""Rules as text: the same string on the command line, in files, in reports and in code.

    [p%]class[.variant][@first[..[last]]][:tool[(target)]][+key=value...]

`timeout` is the first call that matches, `timeout@2..3` the second and third, `timeout@1..` every
one from the first, `50%timeout` every one with probability one half. Tool and target are globs; one
that holds a character of the notation itself, or that cannot be printed, is written as a JSON string.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

from forge_chaos.errors import Misuse, unknown
from forge_chaos.nouns import Plan, Rule

FORM = "[p%]class[.variant][@first[..[last]]][:tool[(target)]][+key=value...]"
EXAMPLE = "timeout.hangs@2..3:read_file(orders.csv)+text=bare"
KEYS = ("member", "heal", "text")
TEXTS = ("clear", "bare", "misleading")

_ID = re.compile(r"[a-z0-9_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_COUNT = re.compile(r"\d{1,9}(?!\d)", re.ASCII)
# `@` may stand in a target (an address), but in a tool's name it is nearly always a range in the wrong place.
_SPECIAL = {"tool": '(),+"% @', "target": '(),+"% '}
_BARE = {part: re.compile(f"[^{re.escape(chars)}]+") for part, chars in _SPECIAL.items()}


@dataclass(frozen=True, slots=True)
class Item:
    """One item of `--faults`. `swept`: it has neither `@` nor `%`, so it stands for every place at
    which its class, variant, tool and target apply; otherwise exactly `rule` is meant."""

    text: str
    rule: Rule
    swept: bool


def parse(text: str) -> Rule:
    """The rule that `text` means. Raises Misuse with the part that is wrong, the form and an example.

    Whether the fault and its variant exist is for the catalogue to say.
    """
    return _read(text)[0]


def write(rule: Rule) -> str:
    """The canonical text of a rule: `parse(write(rule)) == rule`, and equal rules have equal texts."""
    text = "" if rule.p == 100 else f"{_number(rule.p)}%"
    text += rule.fault if rule.variant is None else f"{rule.fault}.{rule.variant}"
    if (rule.first, rule.last) != ((1, 1) if rule.p == 100 else (1, None)):
        text += f"@{rule.first}"
        if rule.last is None:
            text += ".."
        elif rule.last != rule.first:
            text += f"..{rule.last}"
    if rule.tool != "*" or rule.target != "*":
        text += f":{_quoted(rule.tool, 'tool')}"
    if rule.target != "*":
        text += f"({_quoted(rule.target, 'target')})"
    if rule.member is not None:
        text += f"+member={rule.member}"
    if rule.heal is not None:
        text += f"+heal={_number(rule.heal)}"
    if rule.text is not None:
        text += f"+text={rule.text}"
    return text


def parse_list(text: str) -> tuple[Item, ...]:
    """The items of `--faults`, in order; nothing gives none. Raises Misuse as `parse` does."""
    if not text.strip():
        return ()
    items = []
    for part in _split(text):
        if not part.strip():
            raise Misuse(f"{text!r} has an empty item. Write rules with one comma between them: a,b.")
        rule, swept = _read(part)
        items.append(Item(part.strip(), rule, swept))
    return tuple(items)


def parse_plan(text: str, seed: int = 0) -> Plan:
    """One plan that holds every rule of the list: `--plan`. Here a bare class means its first call."""
    return Plan(tuple(item.rule for item in parse_list(text)), seed)


def literal(text: str) -> str:
    """The glob that matches `text` and nothing else."""
    return re.sub(r"[*?[]", r"[\g<0>]", text)


def _read(source: str) -> tuple[Rule, bool]:
    """The rule, and whether it has neither `@` nor `%`."""
    text = source.strip()
    p, at = 100.0, 0
    number = _NUMBER.match(text)
    chance = number is not None and text.startswith("%", number.end())
    if number is not None and chance:
        p, at = float(number[0]), number.end() + 1
        if not 0 < p <= 100:
            _wrong(text, 0, f"a probability is more than 0% and at most 100%, not {number[0]}%")
    fault, at = _id(text, at, "a fault class")
    variant = None
    if text.startswith(".", at):
        variant, at = _id(text, at + 1, "a variant after '.'")
    first, last = 1, None if chance else 1
    ranged = text.startswith("@", at)
    if ranged:
        first, last, at = _range(text, at + 1)
    tool = target = "*"
    if text.startswith(":", at):
        tool, at = _glob(text, at + 1, "tool")
        if text.startswith("(", at):
            target, at = _glob(text, at + 1, "target")
            if not text.startswith(")", at):
                _wrong(text, at, f"the target ends with ')'; {_advice('target')}")
            at += 1
    member, heal, wording, at = _keys(text, at)
    if at < len(text):
        _leftover(text, at, tool != "*" or target != "*")
    rule = Rule(fault, variant, first, last, p, tool, target, member, heal, wording)
    return rule, not ranged and not chance


def _id(text: str, at: int, what: str) -> tuple[str, int]:
    found = _ID.match(text, at)
    if found is None:
        _wrong(text, at, f"{what} is expected; ids are made of a-z, 0-9 and _")
    return found[0], found.end()


def _range(text: str, at: int) -> tuple[int, int | None, int]:
    first, after = _count(text, at, "'@' is followed by the number of a call, from 1")
    if not text.startswith("..", after):
        return first, first, after
    if not text[after + 2 : after + 3].isdigit():
        return first, None, after + 2
    last, end = _count(text, after + 2, "'..' is followed by the number of the last call, or by nothing")
    if last < first:
        _wrong(text, after + 2, f"the last call ({last}) comes before the first ({first})")
    return first, last, end


def _count(text: str, at: int, what: str) -> tuple[int, int]:
    found = _COUNT.match(text, at)
    if found is None or int(found[0]) < 1:
        _wrong(text, at, what)
    return int(found[0]), found.end()


def _glob(text: str, at: int, part: str) -> tuple[str, int]:
    if text.startswith('"', at):
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except json.JSONDecodeError as error:
            _wrong(text, at, f"the {part} is no JSON string: {error.msg}")
        return str(value), end
    found = _BARE[part].match(text, at)
    if found is None:
        _wrong(text, at, f"a {part} is expected; {_advice(part)}")
    return found[0], found.end()


def _keys(text: str, at: int) -> tuple[int | None, float | None, str | None, int]:
    found: dict[str, str] = {}
    member: int | None = None
    heal: float | None = None
    while text.startswith("+", at):
        start = at + 1
        at = len(text) if (after := text.find("+", start)) < 0 else after
        key, equals, value = text[start:at].partition("=")
        if key not in KEYS:
            raise unknown("key", key, KEYS, f"rule {text!r}", f"a rule is {FORM}")
        if key in found:
            _wrong(text, start, f"{key!r} is given twice")
        found[key], valued = value, start + len(key) + len(equals)
        if key == "member":
            member = int(value) if _COUNT.fullmatch(value) else 0
            if member < 1:
                _wrong(text, valued, "member is the place in a parallel batch, from 1: +member=2")
        elif key == "heal":
            heal = float(value) if _NUMBER.fullmatch(value) else 0.0
            if not 0 < heal < math.inf:
                _wrong(text, valued, "heal is a number of seconds above 0: +heal=2.5")
        elif value not in TEXTS:
            raise unknown("text", value, TEXTS, f"rule {text!r}")
    return member, heal, found.get("text"), at


def _leftover(text: str, at: int, placed: bool) -> NoReturn:
    if placed and text[at] == "@":
        _wrong(text, at, "'@' comes before ':', as in timeout@2:read_file")
    if placed:
        _wrong(text, at, f"nothing but +key=value may follow here; {_advice('tool')}")
    _wrong(text, at, "one of . @ : + is expected here, or the end; ids are made of a-z, 0-9 and _")


def _advice(part: str) -> str:
    shown = " ".join(_SPECIAL[part].replace(" ", ""))
    example = 'read_file("a b.csv")' if part == "target" else '"my tool"'
    return f"one with a space or any of {shown} is written as a JSON string, as in timeout:{example}"


def _wrong(text: str, at: int, fact: str) -> NoReturn:
    place = f"at {text[at:]!r} (character {at + 1})" if at < len(text) else "at its end"
    raise Misuse(f"rule {text!r}, {place}: {fact}. A rule is {FORM}, for example {EXAMPLE}")


def _split(text: str) -> list[str]:
    """`text` cut at commas outside parentheses and JSON strings."""
    parts, start, depth, quoted, at = [], 0, 0, False, 0
    while at < len(text):
        char = text[at]
        if quoted:
            if char == "\\":
                at += 1
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "," and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [*parts, text[start:]]


def _quoted(value: str, part: str) -> str:
    if value and value.isprintable() and not any(char in _SPECIAL[part] for char in value):
        return value
    return json.dumps(value, ensure_ascii=not value.isprintable())


def _number(value: float) -> str:
    """Without exponent, whose `+` would open a key, and without a fraction that is nothing."""
    return format(Decimal(repr(float(value))), "f").removesuffix(".0")
