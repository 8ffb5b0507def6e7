"""A trace is read back exactly as it was written; what is not known is refused."""

from __future__ import annotations

import dataclasses
import json
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos import events, tracefile
from forge_chaos.errors import Misuse
from forge_chaos.events import BODIES, Asked, Body, Called, Event, Executed, Finished, Returned, Told, Trace
from forge_chaos.recorded import plain

recorded = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["\u2028", "\x85\n", "\ud800", {"$type": "bytes", "$b64": "AA=="}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
tolds = st.builds(Told, recorded) | st.builds(Told, st.none(), st.dictionaries(st.text(max_size=4), recorded))
OF_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": st.text(max_size=8),
    "int": st.integers(0, 99),
    "bool": st.booleans(),
    "str | None": st.none() | st.text(max_size=8),
    "int | None": st.none() | st.integers(),
    "Told": tolds,
    "tuple[str, ...]": st.lists(st.text(max_size=4), max_size=3).map(tuple),
    "tuple[int, int] | None": st.none() | st.tuples(st.integers(), st.integers()),
    "tuple[Mapping[str, Any], ...]": st.lists(st.dictionaries(st.text(), recorded), max_size=3).map(tuple),
    "Mapping[str, Any]": st.dictionaries(st.text(max_size=4), recorded, max_size=3),
    "Mapping[str, Any] | None": st.none() | st.dictionaries(st.text(max_size=4), recorded, max_size=3),
    "Mapping[str, str]": st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=3),
    "Mapping[str, float]": st.dictionaries(st.text(max_size=4), st.floats(0, 9), max_size=3),
    "Mapping[str, Mapping[str, Any]]": st.dictionaries(
        st.text(max_size=4), st.dictionaries(st.text(max_size=4), recorded, max_size=2), max_size=2
    ),
}


def bodies(kind: type[Body]) -> st.SearchStrategy[Body]:
    return st.builds(kind, **{f.name: OF_TYPE[str(f.type)] for f in dataclasses.fields(kind)})


def traces() -> st.SearchStrategy[Trace]:
    body = st.one_of(*(bodies(kind) for kind in BODIES.values()))
    event = st.builds(Event, st.integers(0, 99), st.floats(0, 1e9), body)
    return st.lists(event, max_size=6).map(tuple)


def shape(value: Any) -> Any:
    """A value with the types of all that is in it: equality alone takes True for 1."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), [shape(getattr(value, f.name)) for f in dataclasses.fields(value)]
    if isinstance(value, dict):
        return dict, [(key, shape(inner)) for key, inner in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [shape(inner) for inner in value]
    return type(value), value


@given(traces())
def test_round_trip(trace: Trace) -> None:
    text = tracefile.dumps(trace)
    assert shape(tracefile.loads(text)) == shape(trace)
    assert text.isascii()
    assert len(text.splitlines()) == len(trace)


@pytest.mark.parametrize("kind", BODIES.values(), ids=BODIES)
def test_every_kind_round_trips(kind: type[Body]) -> None:
    @given(bodies(kind))
    def check(body: Body) -> None:
        record = tracefile.event_to_json(Event(3, 1.5, body))
        again = json.loads(json.dumps(record, allow_nan=False))
        assert shape(tracefile.event_from_json(again)) == shape(Event(3, 1.5, body))

    check()


def test_every_tuple_of_an_event_is_known() -> None:
    """A tuple field that is added to an event must be read back as one."""
    for kind in BODIES.values():
        hints = typing.get_type_hints(kind, vars(events))
        tuples = {
            f.name
            for f in dataclasses.fields(kind)
            if tuple
            in (typing.get_origin(hints[f.name]), *map(typing.get_origin, typing.get_args(hints[f.name])))
        }
        assert tuples == set(tracefile._TUPLES.get(kind, ())), kind


def test_one_line_as_it_stands_in_a_file() -> None:
    event = Event(4, 0.5, Called(1, "read_file", {"path": "ä"}, "ä", order=(1, 0)))
    assert tracefile.line(event) == (
        '{"seq":4,"at":0.5,"kind":"called","call":1,"tool":"read_file","args":{"path":"\\u00e4"},'
        '"target":"\\u00e4","nth":1,"order":[1,0],"by":""}\n'
    )


def test_a_result_is_a_value_or_an_error() -> None:
    assert tracefile.event_to_json(Event(0, 0.0, Returned(1, Told(None))))["result"] == {"value": None}
    error = {"code": "timeout"}
    assert tracefile.event_to_json(Event(0, 0.0, Executed(1, Told(error=error))))["result"] == {
        "error": error
    }


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"x", object()])
def test_what_is_not_in_recorded_form_is_refused(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        tracefile.line(Event(0, 0.0, Returned(1, Told(value))))
    tracefile.line(Event(0, 0.0, Returned(1, Told(plain(value)))))


def record(**changes: Any) -> dict[str, Any]:
    return {**tracefile.event_to_json(Event(7, 0.0, Finished("answered"))), **changes}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (record(kind="dreamt"), "event 7: kind 'dreamt' was written by a newer version"),
        (record(mood="good"), "event 7: field mood of 'finished' was written by a newer version"),
        ({"at": 0.0, "kind": "finished"}, "'seq' is missing"),
        ({"seq": 7, "at": 0.0, "kind": "finished"}, "event 7: no good 'finished'"),
        ({"seq": 7, "at": 0.0, "kind": "returned", "call": 1}, "event 7: no good 'returned'"),
        ({"seq": 7, "at": 0.0, "kind": "returned", "call": 1, "result": 3}, "event 7: no good 'returned'"),
        ({"seq": 7, "at": 0.0, "kind": ["x"]}, "event 7: kind"),
    ],
)
def test_what_is_no_event_of_this_version_is_refused(data: dict[str, Any], says: str) -> None:
    with pytest.raises(Misuse) as caught:
        tracefile.event_from_json(data)
    assert says in str(caught.value)


@pytest.mark.parametrize("bad", ["{", "[]", "3", '{"seq": 0}'])
def test_a_damaged_line_is_named(bad: str) -> None:
    good = tracefile.dumps((Event(0, 0.0, Asked(1, 0, ())),))
    with pytest.raises(Misuse, match=r"^run:t1:2: "):
        tracefile.loads(good + bad + "\n", "run:t1")


def test_fields_that_an_older_version_did_not_write_are_filled_in() -> None:
    older = '{"seq":0,"at":0.0,"kind":"called","call":1,"tool":"look","args":{}}\n'
    assert tracefile.loads(older) == (Event(0, 0.0, Called(1, "look", {})),)
