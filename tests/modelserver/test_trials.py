"""Which trial a request belongs to, for clients that only know a base URL."""

from __future__ import annotations

import json
from typing import Any

from forge_chaos.modelserver.server import Response, ScriptedModel
from forge_chaos.modelserver.trials import KEPT, Trials
from tests.modelserver import small
from tests.modelserver.test_passage import going_on, output, result
from tests.modelserver.test_server import CHAT, FIRST, PATHS, RESPONSES, asking, said


class Heard(ScriptedModel):
    """A model that keeps what it was asked."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.bodies: list[bytes] = []

    def __call__(self, path: str, body: bytes) -> Response:
        self.bodies.append(body)
        return super().__call__(path, body)


class Made:
    def __init__(self, **options: Any) -> None:
        self.models: list[Heard] = []
        self._options = options

    @property
    def count(self) -> int:
        return len(self.models)

    def __call__(self, name: str) -> ScriptedModel:
        self.models.append(Heard(small.SUM, "expert", small.SPECS, name=name, **self._options))
        return self.models[-1]


def id_of(path: str, body: bytes) -> str:
    return str(said(path, body)["tool_calls"][0]["id"])


def test_a_path_names_its_trial() -> None:
    made = Made()
    trials = Trials(made)
    for name in ("a", "b", "a"):
        assert trials(f"/t/{name}{CHAT}", asking(CHAT, FIRST)).status == 200
    assert made.count == 2
    assert id_of(CHAT, trials(f"/t/a{CHAT}", asking(CHAT, FIRST)).body).endswith("_2")
    assert id_of(CHAT, trials(f"/t/b{CHAT}", asking(CHAT, FIRST)).body).endswith("_1")


def test_a_conversation_without_calls_begins_a_trial_on_every_wire() -> None:
    for path in PATHS:
        made = Made()
        trials = Trials(made)
        ids = [id_of(path, trials(path, asking(path, FIRST)).body) for _ in range(3)]
        assert ids == [ids[0]] * 3
        assert made.count == 3


def test_a_conversation_with_calls_goes_on() -> None:
    for path in PATHS:
        made = Made(budget=2)
        trials = Trials(made)
        history = list(FIRST)
        statuses = []
        for _ in range(3):
            response = trials(path, asking(path, history))
            statuses.append(response.status)
            if response.status == 200:
                history.append(said(path, response.body))
                history += result(history[-1])
        assert (statuses, made.count) == ([200, 200, 400], 1)


def test_two_conversations_at_a_time_are_told_apart_by_what_they_show() -> None:
    made = Made()
    trials = Trials(made)

    def step(history: list[dict[str, Any]], text: str) -> None:
        history.append(said(CHAT, trials(CHAT, asking(CHAT, history)).body))
        history += result(history[-1], text)

    one: list[dict[str, Any]] = list(FIRST)
    other: list[dict[str, Any]] = list(FIRST)
    step(one, "id,amount\nA,1\n")
    step(other, "id,amount\nA,2\n")
    for _ in range(2):
        step(list(FIRST), "x")  # and others begin meanwhile
        step(one, "wrote 1 characters to out/total.txt")
        step(other, "wrote 1 characters to out/total.txt")
    written = [history[3]["tool_calls"][0]["function"]["arguments"] for history in (one, other)]
    assert [json.loads(arguments)["text"] for arguments in written] == ["1", "2"]
    later = [[body for body in model.bodies if body != asking(CHAT, FIRST)] for model in made.models]
    assert sorted(map(len, later)) == [0, 0, 2, 2]  # each of the two went on in one trial
    for bodies in later:
        assert len({b"A,1" in body for body in bodies}) < 2


def test_what_goes_on_from_what_is_kept_goes_on() -> None:
    made = Made()
    trials = Trials(made)
    begun = json.loads(trials(RESPONSES, asking(RESPONSES, FIRST)).body)
    later = json.loads(trials(RESPONSES, asking(RESPONSES, FIRST)).body)
    assert begun["id"] != later["id"]
    response = trials(RESPONSES, going_on(begun, output(begun, "id,amount\nA,1\n")))
    assert said(RESPONSES, response.body)["tool_calls"][0]["function"]["name"] == "write_file"
    assert made.count == 2
    lost = trials(RESPONSES, going_on({"id": "resp_x"}, {"role": "user", "content": "x"}))
    assert json.loads(lost.body)["error"]["code"] == "previous_response_not_found"


def test_a_retry_begins_no_trial() -> None:
    made = Made()
    trials = Trials(made)
    first = id_of(CHAT, trials(CHAT, asking(CHAT, FIRST)).body)
    assert id_of(CHAT, trials(f"{CHAT}?retry=1", asking(CHAT, FIRST)).body) == first
    assert made.count == 1


def test_what_is_no_conversation_leaves_no_trial_behind() -> None:
    made = Made()
    trials = Trials(made)
    assert trials("/v1/models", b"").status == 200
    assert trials("/nowhere", b"").status == 404
    assert trials(CHAT, b"{").status == 400
    assert trials(CHAT, b"[]").status == 400
    assert trials(CHAT, b'{"messages": [{"role": "assistant", "tool_calls": [{}]}]}').status == 400
    assert trials(CHAT, asking(CHAT, FIRST)).status == 200


def test_old_trials_are_forgotten() -> None:
    made = Made()
    trials = Trials(made)
    for number in range(KEPT + 1):
        trials(f"/t/{number}/v1/models", b"")
    assert made.count == KEPT + 1
    trials(f"/t/{KEPT}/v1/models", b"")
    assert made.count == KEPT + 1
    trials("/t/0/v1/models", b"")
    assert made.count == KEPT + 2
