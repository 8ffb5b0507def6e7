from __future__ import annotations

import asyncio
from contextlib import closing

from forge_chaos.worlds._bare import bare
from tests.worlds.playing import scenario


def test_an_agent_with_its_own_tools_gets_a_folder_and_nothing_else() -> None:
    with closing(
        bare(scenario(files={"a": b"1"}, workspace="disk", tools=("read_file",)), asyncio.sleep)
    ) as world:
        assert not world.specs
        assert not world.tools
        root = getattr(world.workspace, "root")  # noqa: B009  # as the trial finds it
        (root / "a").write_text("2")
        (root / "b").write_text("3")
        assert world.touched() == ("a", "b")
        assert world.resources() == {"a": "2", "b": "3"}
        assert world.workspace.diff() == {"a": "changed", "b": "created"}
        assert world.check_command(["cat", "b"], 5)["output"] == "3"
    assert not root.exists()
