"""Small agents with a bug that needs two faults together, or one fault at one call, and the smallest plan that
shows it. Each is our own agent's loop but for one step."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forge_chaos import reference
from forge_chaos.nouns import Scenario
from forge_chaos.specimens._loop import Call, Told, arguments, loop, name_of
from forge_chaos.specimens.pairing import swaps


@dataclass(frozen=True, slots=True)
class Frail:
    """`plan` is the smallest, with the scenario's values in braces."""

    agent: Callable[..., Any]
    scenario: str
    faults: str
    outcome: str
    plan: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.agent.__name__

    def minimum(self, scenario: Scenario) -> tuple[str, ...]:
        return tuple(text.format(**scenario.values) for text in self.plan)


class Broke(Exception):
    """What the agents below die of."""


async def counts_errors(task: Any, tools: Any, model: Any) -> str:
    """The second failing call of a run ends it: the read-back of a write that failed is one."""
    failed = 0

    async def perform(tools: Any, call: Call) -> Told:
        nonlocal failed
        told = await reference.perform(tools, call)
        failed += told[1]
        if failed > 1:
            raise Broke
        return told

    return await loop(task, tools, model, perform=perform)


async def writes_unguarded(task: Any, tools: Any, model: Any) -> str:
    """Once the orders could not be read, a failing write is not caught any more."""
    read_failed = False

    async def perform(tools: Any, call: Call) -> Told:
        nonlocal read_failed
        told = await reference.perform(tools, call)
        if told[1] and read_failed and name_of(call) == "write_file":
            raise Broke
        read_failed = read_failed or (told[1] and "orders.csv" in call["function"]["arguments"])
        return told

    return await loop(task, tools, model, perform=perform)


async def charges_blindly(task: Any, tools: Any, model: Any) -> str:
    """Once the record could not be read, a charge that fails is sent again without a look at the ledger."""
    degraded = False

    async def perform(tools: Any, call: Call) -> Told:
        nonlocal degraded
        told = await reference.perform(tools, call)
        if told[1] and degraded and name_of(call) == "charge":
            told = await reference.perform(tools, call)
        degraded = degraded or (told[1] and name_of(call) == "get_record")
        return told

    return await loop(task, tools, model, perform=perform)


async def lists_unguarded(task: Any, tools: Any, model: Any) -> str:
    """A listing, which is asked for only when a file is missing, must not fail."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1] and name_of(call) == "list_files":
            raise Broke
        return told

    return await loop(task, tools, model, perform=perform)


async def gives_two_files_up(task: Any, tools: Any, model: Any) -> str:
    """When two files could not be read at once the task is reported as done."""
    failed: set[str] = set()

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1] and name_of(call) == "read_file":
            failed.add(arguments(call)["path"])
        if len(failed) > 1:
            raise Broke
        return told

    try:
        return await loop(task, tools, model, perform=perform)
    except Broke:
        return "DONE"


async def waits_without_limit(task: Any, tools: Any, model: Any) -> str:
    """Once it was told to slow down it waits for every answer, however long that takes."""
    limited = False

    async def perform(tools: Any, call: Call) -> Told:
        nonlocal limited
        if limited:
            try:
                value = await tools.call(name_of(call), arguments(call), id=call["id"])
            except Exception as error:
                return reference.worded(error), True
            return value if isinstance(value, str) else json.dumps(value), False
        told = await reference.perform(tools, call)
        limited = limited or (told[1] and "429" in told[0])
        return told

    return await loop(task, tools, model, perform=perform)


async def parses_later_polls(task: Any, tools: Any, model: Any) -> str:
    """The first poll's reply is read with care, later ones are taken for JSON."""
    polls = 0

    async def perform(tools: Any, call: Call) -> Told:
        nonlocal polls
        told = await reference.perform(tools, call)
        if name_of(call) == "poll_job":
            polls += 1
            if polls > 1 and not told[1]:
                json.loads(told[0])
        return told

    return await loop(task, tools, model, perform=perform)


async def mails_again(task: Any, tools: Any, model: Any) -> str:
    """When the journal cannot be written, the mail before it is sent once more."""
    mail: list[Call] = []

    async def perform(tools: Any, call: Call) -> Told:
        if name_of(call) == "send_mail":
            mail.append(call)
        told = await reference.perform(tools, call)
        if told[1] and name_of(call) == "append_file":
            await reference.perform(tools, mail[0])
        return told

    return await loop(task, tools, model, perform=perform)


async def takes_silence_for_no(task: Any, tools: Any, model: Any) -> str:
    """When the ledger cannot be read, the charge is taken for not done, and made again."""
    charge: list[Call] = []

    async def perform(tools: Any, call: Call) -> Told:
        if name_of(call) == "charge":
            charge.append(call)
        told = await reference.perform(tools, call)
        if told[1] and name_of(call) == "list_ledger":
            await reference.perform(tools, charge[0])
        return told

    return await loop(task, tools, model, perform=perform)


async def skips_the_last_page(task: Any, tools: Any, model: Any) -> str:
    """When the last of six edits fails, the task is reported as done."""

    class Enough(Exception):
        """Five of six will do."""

    async def perform(tools: Any, call: Call) -> Told:
        told = await reference.perform(tools, call)
        if told[1] and name_of(call) == "edit_file" and arguments(call)["path"].endswith("ferry.txt"):
            raise Enough
        return told

    try:
        return await loop(task, tools, model, perform=perform)
    except Enough:
        return "DONE"


ORDERS, TOTAL = "read_file(orders.csv)", "write_file(total.txt)"
RAISES = "tool_exception.runtime"
FRAIL: tuple[Frail, ...] = (
    Frail(counts_errors, "sum_orders", "tool_exception,timeout", "crashed", (f"{RAISES}:{TOTAL}",)),
    Frail(
        writes_unguarded,
        "sum_orders",
        "tool_exception,timeout",
        "crashed",
        (f"{RAISES}:{ORDERS}", f"{RAISES}:{TOTAL}"),
    ),
    Frail(
        charges_blindly,
        "charge_once",
        "tool_exception,lost_reply",
        "damaged",
        (f"{RAISES}:get_record({{order}})", "lost_reply.done_then_timeout:charge({order})"),
    ),
    Frail(
        lists_unguarded,
        "sum_orders",
        "missing_file,tool_exception",
        "crashed",
        (f"missing_file.never:{ORDERS}", f"{RAISES}:list_files(.)"),
    ),
    Frail(
        gives_two_files_up,
        "three_reads",
        "tool_exception,timeout",
        "false_success",
        (f"{RAISES}:read_file(north.txt)", f"{RAISES}:read_file(south.txt)"),
    ),
    Frail(
        waits_without_limit,
        "sum_orders",
        "rate_limited,timeout",
        "hung",
        (f"rate_limited.retry_after:{ORDERS}", f"timeout.hangs:{TOTAL}"),
    ),
    Frail(
        swaps,
        "three_reads",
        "tool_exception,timeout",
        "violated",
        ("timeout.hangs:read_file(north.txt)",),
    ),
    Frail(
        parses_later_polls,
        "poll_job",
        "malformed_output",
        "crashed",
        ("malformed_output.cut_json@2:poll_job(job-1)",),
    ),
    Frail(
        mails_again,
        "mail_report",
        "tool_exception,lost_reply",
        "damaged",
        (f"{RAISES}:append_file(journal.txt)",),
    ),
    Frail(
        takes_silence_for_no,
        "charge_once",
        "tool_exception,lost_reply",
        "damaged",
        (f"{RAISES}:list_ledger(charge)",),
    ),
    Frail(
        skips_the_last_page,
        "rename_in_six",
        "tool_exception",
        "false_success",
        (f"{RAISES}:edit_file(pages/ferry.txt)",),
    ),
)
