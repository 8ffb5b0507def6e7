from __future__ import annotations

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.events import Body
from forge_chaos.graders.file_changed import file_changed
from forge_chaos.verdict import Verdict
from tests.traces import did, failed, snapshot, started, trace

RULE = "missing_file@1:read_file"
BEFORE = {"a.csv": "1", "lib/x": "1", "lib/y": "2"}


def judged(
    after: dict[str, str], *bodies: list[Body], path: str | None = None, glob: str | None = None
) -> Verdict:
    run = trace(started(RULE, resources=BEFORE), *bodies, snapshot(after))
    return file_changed(run, path=path, glob=glob)


def test_changed_by_a_call() -> None:
    wrote = did(1, "write_file", {"path": "a.csv"}, touched=["a.csv"])
    found = judged({**BEFORE, "a.csv": "2"}, wrote, path="a.csv")
    assert (found.truth, found.evidence) == ("pass", (2, 4))


def test_deleted_below_a_folder() -> None:
    gone = did(1, "delete_file", {"path": "lib"}, touched=["lib/x", "lib/y"])
    assert judged({"a.csv": "1"}, gone, path="lib").truth == "pass"
    assert judged({"a.csv": "1"}, gone, glob="lib/*").truth == "pass"
    assert judged({"a.csv": "1"}, gone, path="a.csv").truth == "fail"


def test_own_tools_that_do_not_say_what_they_touch() -> None:
    assert (
        judged({**BEFORE, "a.csv": "2"}, did(1, "write_file", {"path": "a.csv"}), path="a.csv").truth
        == "pass"
    )


def test_what_a_fault_took_away_is_not_the_agents_doing() -> None:
    hidden = failed(1, "read_file", {"path": "a.csv"}, rule=RULE, changed=("a.csv",))
    assert judged({"lib/x": "1", "lib/y": "2"}, hidden, path="a.csv").truth == "fail"


def test_written_and_put_back_is_unchanged() -> None:
    wrote = did(1, "write_file", {"path": "a.csv"}, touched=["a.csv"])
    assert judged(BEFORE, wrote, path="a.csv").truth == "fail"


def test_unknown_world() -> None:
    assert file_changed(trace(started(), snapshot(known=False)), path="a").truth == "unknown"


@pytest.mark.parametrize("params", [{}, {"path": "a", "glob": "a"}])
def test_either_path_or_glob(params: dict[str, str]) -> None:
    with pytest.raises(Misuse, match="either path or glob"):
        file_changed(trace(started()), **params)


def test_a_new_file_is_a_change() -> None:
    made = did(1, "write_file", {"path": "lib/z"}, touched=["lib/z"])
    assert judged({**BEFORE, "lib/z": ""}, made, path="lib").truth == "pass"
