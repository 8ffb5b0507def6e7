"""No process that another has started is left, whatever session or group it has moved to."""

from __future__ import annotations

import subprocess
import time

import pytest

from forge_chaos import family

pytestmark = pytest.mark.slow
DEEP = "sleep 300 & setsid sh -c 'sleep 300; true' & wait"


@pytest.mark.parametrize(
    "apart", [{"start_new_session": True}, {"process_group": 0}], ids=["session", "group"]
)
def test_all_of_it_is_found_and_ended(apart: dict[str, bool]) -> None:
    leader = subprocess.Popen(["/bin/sh", "-c", DEEP], **apart)  # type: ignore[call-overload]  # a keyword each
    until = time.monotonic() + 60
    while len(found := family.members(leader.pid)) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(found) == 4, "the leader, two that sleep, and a shell in a session of its own"
    family.kill(leader.pid)
    assert leader.wait(60) == -9
    assert family.members(leader.pid) == set()
