"""The recorded form: total, strict JSON, stable, and without secrets."""

from __future__ import annotations

import asyncio
import enum
import json
import math
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from forge_chaos import recorded
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Err, Ok
from forge_chaos.recorded import CAP, DEEP, HEAD, failure, name, plain, redactor, same, told, words

BIG = 10**5000


def strict(form: Any) -> str:
    """The form as strict JSON in UTF-8, which raises where it is none."""
    text = json.dumps(form, ensure_ascii=False, allow_nan=False)
    text.encode()
    assert json.loads(text) == form
    return text


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "a lie"

    def __len__(self) -> int:
        raise ValueError

    def __getitem__(self, key: Any) -> str:
        raise ValueError

    def isascii(self) -> bool:
        raise ValueError


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Flags(enum.Flag):
    A = 1


class Table(dict[str, Any]):
    def items(self) -> Any:
        raise ValueError

    def __iter__(self) -> Iterator[str]:
        raise ValueError


class Row(NamedTuple):
    id: int
    name: str


@dataclass
class Point:
    x: int


class Wrong:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __repr__(self) -> str:
        raise self.error

    def __eq__(self, other: object) -> bool:
        raise ValueError

    def __hash__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        raise ValueError


class Pretends:
    @property  # type: ignore[misc]  # what stand-ins for other objects do
    def __class__(self) -> Any:
        raise ValueError

    def __repr__(self) -> str:
        return "<Pretends>"


class Array:
    """As arrays of numbers are: comparing gives no truth, and truth raises."""

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]  # as theirs

    def __repr__(self) -> str:
        return "array([1, 2])"


class LyingRepr:
    def __repr__(self) -> str:
        return Text("shown")


def cyclic() -> list[Any]:
    ring: list[Any] = [1]
    ring.append({"again": ring})
    return ring


def deep(kind: str) -> Any:
    value: Any = "bottom"
    for _ in range(10_000):
        value = [value] if kind == "list" else {"in": value} if kind == "dict" else (value,)
    return value


def doubled() -> Any:
    """2 ** 60 parts, for who does not count."""
    value: Any = ["x" * 100]
    for _ in range(60):
        value = [value, value]
    return value


def generator() -> Iterator[int]:
    yield 1


async def coroutine() -> None:
    """Never run."""


SHOWN: list[tuple[Any, Any]] = [
    ("", ""),
    ("ä\u2028\0", "ä\u2028\0"),
    (True, True),
    (None, None),
    (3, 3),
    (-0.5, -0.5),
    ((1, [2]), [1, [2]]),
    ({"a": {"b": (1,)}}, {"a": {"b": [1]}}),
    (math.nan, {"$type": "float", "$repr": "nan"}),
    (-math.inf, {"$type": "float", "$repr": "-inf"}),
    ("\ud800", {"$type": "str", "$repr": "'\\ud800'"}),
    (b"\xff", {"$type": "bytes", "$b64": "/w=="}),
    (bytearray(b"\xff"), {"$type": "bytes", "$b64": "/w=="}),
    (b"x" * CAP, {"$type": "bytes", "$length": CAP, "$hash": recorded.digest(b"x" * CAP)}),
    (date(2024, 1, 2), {"$type": "datetime.date", "$repr": "datetime.date(2024, 1, 2)"}),
    ({3, 1, 2}, {"$type": "set", "$repr": "{1, 2, 3}"}),
    (frozenset({"b", "a"}), {"$type": "set", "$repr": '{"a", "b"}'}),
    ({2: "b", 1: ["a"]}, {"$type": "dict", "$repr": '{1: ["a"], 2: "b"}'}),
    ({math.nan: 1}, {"$type": "dict", "$repr": '{{"$repr": "nan", "$type": "float"}: 1}'}),
    ({("a", 1): None}, {"$type": "dict", "$repr": '{["a", 1]: null}'}),
    (Text("a"), "a"),
    (Colour.RED, "red"),
    (Level.LOW, 1),
    (Table(a=1), {"a": 1}),
    (OrderedDict(a=1), {"a": 1}),
    (defaultdict(int, a=1), {"a": 1}),
    ({Colour.RED: 1}, {"red": 1}),
    (Row(1, "x"), [1, "x"]),
    (BIG, {"$type": "int", "$repr": hex(BIG)}),
    (Wrong(ValueError()), {"$type": "tests.test_recorded.Wrong", "$repr": "<repr raised ValueError>"}),
    (Wrong(SystemExit()), {"$type": "tests.test_recorded.Wrong", "$repr": "<repr raised SystemExit>"}),
    (
        Wrong(asyncio.CancelledError()),
        {"$type": "tests.test_recorded.Wrong", "$repr": "<repr raised CancelledError>"},
    ),
    (Array(), {"$type": "tests.test_recorded.Array", "$repr": "array([1, 2])"}),
    (Pretends(), {"$type": "tests.test_recorded.Pretends", "$repr": "<Pretends>"}),
    (LyingRepr(), {"$type": "tests.test_recorded.LyingRepr", "$repr": "shown"}),
    (Point(1), {"$type": "tests.test_recorded.Point", "$repr": "Point(x=1)"}),
    (deque([1]), {"$type": "collections.deque", "$repr": "deque([1])"}),
    (object(), {"$type": "object", "$repr": "<object object>"}),
    (generator(), {"$type": "generator", "$repr": "<generator object generator>"}),
    ([object], [{"$type": "type", "$repr": "<class 'object'>"}]),
]


@pytest.mark.parametrize(("value", "form"), SHOWN, ids=[type(value).__name__ for value, _ in SHOWN])
def test_forms(value: Any, form: Any) -> None:
    found = plain(value)
    strict(found)
    assert plain(found) == found
    assert (found, type(found)) == (form, type(form))


@pytest.mark.parametrize(
    "value", [deep("list"), deep("dict"), deep("tuple"), cyclic(), doubled()], ids=range(5)
)
def test_what_has_no_end_is_cut_off(value: Any) -> None:
    form = plain(value)
    text = strict(form)
    assert len(text) < 3 * recorded.ROOM
    assert "more than 100 deep" in text or "holds itself" in text or "left out" in text
    assert plain({"in": [value]}) == plain({"in": [value]})
    assert plain(form) == form


def test_what_holds_itself_is_told_where_it_does() -> None:
    assert plain(cyclic()) == [1, {"again": {"$type": "list", "$repr": "<it holds itself>"}}]
    twice = [[1]] * 2
    assert plain(twice) == twice


def test_a_value_as_deep_as_any_sane_one_is_kept() -> None:
    value: Any = "bottom"
    for _ in range(DEEP):
        value = [value]
    assert plain(value) == value


def test_the_interrupt_of_the_user_is_not_taken_for_the_values() -> None:
    with pytest.raises(KeyboardInterrupt):
        plain(Wrong(KeyboardInterrupt()))


def test_there_is_a_form_even_where_the_stack_ends() -> None:
    def down(n: int) -> Any:
        return plain([[["x"]]]) if n == 0 else down(n - 1)

    forms = []
    for n in range(800, 1000):
        try:
            forms.append(down(n))
        except RecursionError:
            break
    assert {json.dumps(form) for form in forms} >= {'[[["x"]]]'}
    assert all(form == [[["x"]]] or "recording raised" in str(form) for form in forms)


def test_a_long_text_is_known_by_its_ends_and_its_hash() -> None:
    value = "a" * CAP + "b"
    form = plain(value)
    assert form == {
        "$type": "str",
        "$head": "a" * HEAD,
        "$tail": "a" * (HEAD - 1) + "b",
        "$length": CAP + 1,
        "$hash": recorded.digest(value.encode()),
    }
    assert plain("a" * CAP) == "a" * CAP
    assert same(form, value)
    assert not same(form, "a" * CAP + "c")
    assert words(form).endswith("b")
    assert strict(plain("\ud800" * CAP)) != strict(plain("\ud800" * (CAP + 1)))


def test_words() -> None:
    assert words("as it is") == "as it is"
    assert words(plain("\ud800\nDONE")) == "\ud800\nDONE"
    assert words({"b": [1], "a": "ä"}) == '{"a": "ä", "b": [1]}'
    assert words({"$type": "str", "$repr": "'cut"}) == "'cut"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(categories=("L", "Cs", "Cc")), max_size=8)
    | st.binary(max_size=8)
    | st.dates()
    | st.sampled_from([Colour.RED, Level.LOW, Flags.A, Text("x"), Point(1)])
    | st.none().map(lambda _: BIG),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.dictionaries(st.integers() | st.text(max_size=2) | st.floats(), inner, max_size=3)
        | st.sets(st.integers() | st.text(max_size=3), max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3).map(OrderedDict)
    ),
    max_leaves=12,
)
UTF8 = st.characters(codec="utf-8")
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(UTF8),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(UTF8), inner),
    max_leaves=20,
)


@given(values)
def test_it_is_total_strict_stable_and_a_copy(value: Any) -> None:
    form = plain(value)
    strict(form)
    assert plain(form) == form
    assert plain(deepcopy(value)) == form
    assert "0x" not in json.dumps(form).replace(hex(BIG), "")


@given(json_values)
def test_json_stands_as_it_is(value: Any) -> None:
    form = plain(value)
    assert form == value
    assert json.dumps(form) == json.dumps(value)


@given(st.dictionaries(st.integers() | st.text(max_size=3), st.sets(st.text(max_size=3)), max_size=5))
def test_equal_values_have_equal_forms_in_whatever_order_they_were_made(value: dict[Any, Any]) -> None:
    other = {key: set(dict.fromkeys(sorted(part, reverse=True))) for key, part in reversed(value.items())}
    assert other == value
    assert plain(other) == plain(value)


def test_what_is_changed_later_does_not_change_the_record() -> None:
    flat, nested = {"a": "x"}, {"a": [{"b": 1}]}
    forms = plain(flat), plain(nested)
    flat["a"] = "changed"
    nested["a"][0]["b"] = 2
    nested["a"].append({})
    assert forms == ({"a": "x"}, {"a": [{"b": 1}]})


def test_a_name_stays_a_text() -> None:
    assert name("a/b.csv") == "a/b.csv"
    assert name("ä") == "ä"
    assert name("\ud800") == "'\\ud800'"
    long = name("x" * 10_000)
    assert long.startswith("x" * HEAD)
    assert len(long) < recorded.NAME
    assert long != name("x" * 10_001)


# --- secrets ------------------------------------------------------------------------------------------------

SECRET = 'k"ey\\ä/1\n\N{GRINNING FACE}7'
HIDE = redactor({"SHOP_API_KEY": SECRET, "MY_TOKEN": "tok-123456", "PATH": "/usr/bin", "X_SECRET": "short"})
FORMS = (SECRET, "tok-123456")


def shows(form: Any) -> bool:
    """Does a secret stand in a text of the form, as it is or escaped once or twice?"""
    texts = [*_decoded(form), *_keys(form)]
    return any(written in text for secret in FORMS for written in _escaped(secret) for text in texts)


def _escaped(secret: str) -> list[str]:
    once = [secret, repr(secret)[1:-1], ascii(secret)[1:-1], json.dumps(secret)[1:-1]]
    once.append(json.dumps(secret, ensure_ascii=False)[1:-1])
    return [*once, *(json.dumps(each)[1:-1] for each in once[3:])]


def _decoded(form: Any) -> Iterator[str]:
    from base64 import b64decode

    if isinstance(form, dict):
        if "$b64" in form:
            yield b64decode(form["$b64"]).decode("utf-8", "replace")
        for part in form.values():
            yield from _decoded(part)
    elif isinstance(form, list):
        for part in form:
            yield from _decoded(part)
    elif isinstance(form, str):
        yield form


def leaks(secret: str) -> list[Any]:
    """Where a secret has been found in the wild."""
    return [
        secret,
        f"before {secret} after",
        [{"deep": ({secret},)}],
        {secret: 1},
        {1: secret},
        {(secret, 2): {secret}},
        secret.encode(),
        bytearray(b"\xff" + secret.encode() + b"\xfe"),
        Point(secret),  # type: ignore[arg-type]  # a dataclass holds what it is given
        KeyError(secret),
        json.dumps({"key": secret}),
        json.dumps({"arguments": json.dumps({"key": secret})}),
        repr({"key": secret}),
        f"\ud800{secret}",
        "x" * (CAP - 4) + secret + "x" * 100,
        "x" * (HEAD - 4) + secret + "x" * CAP,
        "x" * CAP + secret + "x" * (HEAD - 4),
        [secret] * 50,
        Text(secret),
    ]


@pytest.mark.parametrize("secret", FORMS)
@pytest.mark.parametrize("place", range(len(leaks(""))))
def test_no_secret_is_left_in_a_form(secret: str, place: int) -> None:
    value = leaks(secret)[place]
    assert not shows(plain(value, HIDE))
    strict(plain(value, HIDE))
    assert shows(plain(value)) or place in (14, 15, 16)


def test_a_secret_over_the_edge_of_the_cap_is_taken_out_before_the_cut() -> None:
    for start in range(HEAD - len(SECRET), HEAD + 1):
        form = plain("x" * start + "tok-123456" + "y" * CAP, HIDE)
        assert "tok" not in form["$head"] + form["$tail"]
    for after in range(HEAD - len(SECRET), HEAD + 1):
        form = plain("x" * CAP + "tok-123456" + "y" * after, HIDE)
        assert "123456" not in form["$head"] + form["$tail"]


def test_a_secret_that_is_a_number_is_one_too() -> None:
    hide = redactor({"PIN_KEY": "83726150", "RATE_KEY": "0.7251904"})
    assert plain({"pin": 83726150, "rate": 0.7251904, "n": 8}, hide) == {
        "pin": "[redacted]",
        "rate": "[redacted]",
        "n": 8,
    }


def test_what_is_a_secret() -> None:
    assert plain("/usr/bin short", HIDE) == "/usr/bin short"
    assert plain("tok-123456tok-123456", HIDE) == "[redacted][redacted]"
    assert redactor({"PATH": "/usr/bin"}) is recorded.nothing_secret
    longer = redactor({"A_KEY": "abcdef", "B_KEY": "abcdefgh"})
    assert longer("abcdefgh") == "[redacted]"
    assert redactor({"my_password": " padded-1 \n"})("x=padded-1") == "x=[redacted]"
    assert redactor({"A_KEY": "surrogate\udcff"})("surrogate\udcff") == "[redacted]"


def test_no_secret_is_left_in_names_results_and_failures() -> None:
    error = RuntimeError(f"no entry for {SECRET}")
    error.__cause__ = KeyError(SECRET)
    group = ExceptionGroup(SECRET, [error])
    for form in (
        name(f"a/{SECRET}", HIDE),
        failure(error, HIDE),
        failure(group, HIDE),
        told(Err("runtime", SECRET, error), redact=HIDE).error,
        told(Err("not_found", ""), f"a/{SECRET}", HIDE).error,
        told(Ok({SECRET: SECRET}), redact=HIDE).value,
    ):
        assert not shows(form)
        assert "[redacted]" in strict(form)


@given(
    st.text(min_size=recorded.SHORTEST_SECRET, max_size=20).filter(lambda s: len(s.strip()) >= 6),
    values,
    st.data(),
)
@example("[redacted", "x", None)
@settings(max_examples=60)
def test_no_secret_survives_anywhere(secret: str, value: Any, data: Any) -> None:
    secret = secret.strip()
    assume(secret not in "[redacted][redacted]" and not set(secret) <= set("[redacted]"))
    hide = redactor({"K_KEY": secret})
    for each in (
        [value, secret],
        {"a": value, secret: value},
        (value, f"<{secret}>", secret.encode("utf-8", "replace")),
    ):
        form = plain(each, hide)
        strict(form)
        assert all(secret not in text for text in _decoded(form))
        assert all(secret not in key for key in _keys(form))


def _keys(form: Any) -> Iterator[str]:
    if isinstance(form, dict):
        yield from (key for key in form if not key.startswith("$"))
        for part in form.values():
            yield from _keys(part)
    elif isinstance(form, list):
        for part in form:
            yield from _keys(part)


# --- results and failures -----------------------------------------------------------------------------------


def test_told() -> None:
    assert told(Ok([1])).value == [1]
    assert told(Ok([1])).ok
    assert told(Err("not_found", ""), "a.csv").error == {
        "code": "not_found",
        "type": "FileNotFoundError",
        "message": "[Errno 2] No such file or directory: 'a.csv'",
        "text": "FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'",
    }
    with pytest.raises(Misuse, match="builtins:Nothing"):
        told(Err("runtime", "x", type="builtins:Nothing"))


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(1)

    def __bool__(self) -> bool:
        raise ValueError


def test_an_exception_without_words_is_told_as_such() -> None:
    assert told(Err("runtime", "", Mute())).error == {
        "code": "runtime",
        "type": "Mute",
        "message": "<str raised SystemExit>",
        "text": "Mute: <str raised SystemExit>",
    }
    error = ValueError("outer")
    error.__cause__ = Mute()
    assert failure(error) == {
        "type": "ValueError",
        "module": "builtins",
        "message": "outer",
        "causes": ["Mute"],
    }


def test_failure_tells_causes_and_members_and_ends() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__context__, second.__cause__ = second, first
    assert failure(first)["causes"] == ["KeyError", "ValueError"] * 4
    assert failure(ExceptionGroup("two", [KeyError("a"), OSError("b")]))["group"] == ["KeyError", "OSError"]
    strict(failure(ValueError("\ud800" + "x" * CAP)))


def test_changed() -> None:
    before = {"a": 1, "b": 2, "c": 3}
    after = {"b": 2, "c": 4, "d": 5}
    assert recorded.changed(before, after) == {"a": "deleted", "c": "changed", "d": "created"}
    assert recorded.changed(before, after, ["c"]) == {"c": "changed"}
