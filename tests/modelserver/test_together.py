from __future__ import annotations

import asyncio
import json
from typing import Any

from forge_chaos.modelserver.server import ScriptedModel
from forge_chaos.nouns import Task
from forge_chaos.solution import number
from tests.modelserver import small
from tests.modelserver.test_live import live

FILES = {"path": ("a.txt", "b.txt", "c.txt")}


async def _solve(task: Any, tools: Any) -> str:
    found = await tools.together(*(tools.read_file(path=f"{n}.txt", expect=number()) for n in "abc"))
    return f"{found}\nDONE"


SCENARIO = small.scenario("three", _solve)


def batches(world: small.World) -> list[int]:
    """The sizes of the batches that a scripted model asked for."""
    sizes: list[int] = []
    model = ScriptedModel(SCENARIO, "expert", small.SPECS)

    class Seat(small.Seat):
        async def complete(self, messages: Any, tools: Any = ()) -> dict[str, Any]:
            reply = await super().complete(messages, tools)
            sizes.append(len(reply.get("tool_calls") or ()))
            return reply

    asyncio.run(small.plain_agent(Task(SCENARIO.prompt, 20), world, Seat(model, world)))
    return sizes


def test_all_members_are_one_turn() -> None:
    assert batches(small.World()) == [3, 0]


def test_only_members_in_trouble_are_asked_again() -> None:
    assert batches(small.World(small.hits("read_file", "timeout", 2, 2))) == [3, 1, 0]


def test_members_wait_together_for_the_longest() -> None:
    _, waits = live(SCENARIO, "expert", small.World(small.hits("read_file", "busy", 1, 2)))
    assert waits == [7.0]


def test_the_first_trouble_is_raised_after_the_others_are_done() -> None:
    def schedule(name: str, args: Any, nth: int) -> str | None:
        return {"a.txt": "refused", "b.txt": "timeout" if nth < 4 else None}.get(args.get("path", ""))

    world = small.World(schedule)
    answer, _ = live(SCENARIO, "expert", world)
    assert answer.startswith("FAILED: read_file: refused: ")
    assert [json.dumps(args) for _, args in world.calls].count('{"path": "b.txt"}') == 2
