"""Every specimen, and for the known-bad ones what convicts them: one cell a fault class, with its outcome."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from forge_chaos import notation, registry

NAMED = re.compile(r"Unacceptable on: `(\w+)` under\s+`([^`]+)` \((\w+)\W")
"""The failure that a persona's docstring names: scenario, rule, outcome."""


@dataclass(frozen=True, slots=True)
class Cell:
    """`outcome`: the one that is right; of a violation with the name of what does not hold, `violated:NAME`.
    `times`: so often at most the trial is run in one process, until it is convicted."""

    scenario: str
    rule: str
    outcome: str
    times: int = 1

    @property
    def fault(self) -> str:
        return notation.parse(self.rule).fault


@dataclass(frozen=True, slots=True)
class Specimen:
    """`spec` names the agent as on the command line. `apart`: it needs a process of its own."""

    spec: str
    cells: tuple[Cell, ...] = ()
    apart: bool = False

    @property
    def name(self) -> str:
        return self.spec.rpartition(":")[2]

    @property
    def function(self) -> Callable[..., Any]:
        module, _, name = self.spec.rpartition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    @property
    def about(self) -> str:
        """The bug, or what is different, in one sentence."""
        return " ".join((self.function.__doc__ or "").split())


def _bad(where: str, name: str, *cells: tuple[str, str, str] | Cell, apart: bool = False) -> Specimen:
    made = tuple(cell if isinstance(cell, Cell) else Cell(*cell) for cell in cells)
    return Specimen(f"{__package__}.{where}:{name}", made, apart)


def _good(name: str, where: str = f"{__package__}.good") -> Specimen:
    return Specimen(f"{where}:{name}")


SUM, CHARGE, READS, REFUND = "sum_orders", "charge_once", "three_reads", "refund_batch"
LEGACY = "keep_legacy"
EDIT, BATCH, SHELL = "edit_port", "charge_three", "shell_folder"
ORDERS, TOTAL, NORTH = "read_file(orders.csv)", "write_file(total.txt)", "read_file(north.txt)"

BAD: tuple[Specimen, ...] = (
    _bad(
        "errors",
        "aborts",
        (SUM, f"tool_exception.runtime:{ORDERS}", "crashed"),
        (SUM, f"timeout.raises:{ORDERS}", "crashed"),
        (SUM, f"blocked_command.bare:{TOTAL}", "crashed"),
        (SUM, f"unavailable.internal_error:{ORDERS}", "crashed"),
        (REFUND, "missing_file.never@1..:read_file(invoices/O1002.json)", "crashed"),
    ),
    _bad("errors", "dies_of_cancel", (SUM, f"tool_exception.cancelled:{ORDERS}", "crashed")),
    _bad(
        "errors",
        "hides",
        (SUM, f"tool_exception.runtime@1..:{ORDERS}", "violated:swallowed"),
        (SUM, f"timeout.raises@1..:{ORDERS}", "violated:swallowed"),
        (SUM, f"missing_file.never@1..:{ORDERS}", "violated:swallowed"),
        (SUM, f"blocked_command.bare@1..:{TOTAL}", "violated:swallowed"),
        (SUM, f"lost_reply.done_then_timeout:{TOTAL}", "violated:swallowed"),
    ),
    _bad(
        "errors",
        "says_only_failed",
        (SUM, f"rate_limited.retry_after@1..:{ORDERS}+heal=20", "gave_up"),
        (REFUND, "missing_file.is_directory@1..:read_file(invoices/O1002.json)", "gave_up"),
    ),
    _bad(
        "errors",
        "gives_up",
        (SUM, f"tool_exception.runtime:{ORDERS}", "gave_up"),
        (SUM, f"timeout.partial:{ORDERS}", "gave_up"),
        (SUM, f"unavailable.bad_gateway:{ORDERS}", "gave_up"),
        (SUM, f"lost_reply.done_then_timeout:{TOTAL}", "undersold"),
        (REFUND, "missing_file.never@1..:read_file(invoices/O1002.json)", "gave_up"),
    ),
    _bad(
        "errors",
        "reads_error",
        (REFUND, "missing_file.never@1..:read_file(invoices/O1002.json)", "gave_up"),
        (SUM, f"silent_noop.ok_false:{TOTAL}", "gave_up"),
    ),
    _bad("errors", "answers_with_it", (SUM, "truncated_context.unpaired@2..", "silent")),
    _bad(
        "errors",
        "boasts",
        (SUM, f"missing_file.never@1..:{ORDERS}", "false_success"),
        (SUM, f"timeout.hangs@1..:{TOTAL}", "false_success"),
        (SUM, f"blocked_command.permission_denied:{TOTAL}", "false_success"),
        (SUM, f"silent_noop.says_done@1..:{TOTAL}", "false_success"),
        (SUM, f"disk_full.full@1..:{TOTAL}", "false_success"),
        (SUM, f"session_lost.gone_for_good@1..:{ORDERS}", "false_success"),
    ),
    _bad(
        "errors",
        "catches_some",
        (SUM, f"tool_exception.value:{ORDERS}", "crashed"),
        (SUM, f"tool_exception.key:{ORDERS}", "crashed"),
    ),
    _bad(
        "errors",
        "takes_for_argument",
        (SUM, f"session_lost.closed@1..:{ORDERS}+text=misleading", "gave_up"),
    ),
    _bad(
        "errors",
        "breaks_circuit",
        (SUM, f"timeout.raises:{ORDERS}", "gave_up"),
        (SUM, f"tool_exception.os:{ORDERS}", "gave_up"),
    ),
    _bad("errors", "completes_blindly", (SUM, "truncated_context.unpaired@2..", "false_success")),
    _bad("circles", "relists", (SUM, f"tool_exception.os:{TOTAL}", "looped")),
    _bad(
        "circles",
        "goes_in_circles",
        (EDIT, "silent_noop.says_done@1..:edit_file(service.ini)", "looped"),
        (EDIT, "tool_exception.value@1..:edit_file(service.ini)", "looped"),
    ),
    _bad(
        "circles", "guesses", ("read_version", "missing_file.renamed@1..:read_file(conf/app.toml)", "looped")
    ),
    _bad(
        "pairing",
        "drops_id",
        (SUM, f"tool_exception.key:{ORDERS}", "violated:unanswered_call"),
        (SUM, f"timeout.hangs:{ORDERS}", "violated:unanswered_call"),
    ),
    _bad(
        "pairing",
        "loses_siblings",
        (READS, f"tool_exception.runtime:{NORTH}", "violated:unanswered_call"),
        (READS, f"timeout.raises:{NORTH}", "violated:unanswered_call"),
        (READS, f"missing_file.never:{NORTH}", "violated:unanswered_call"),
    ),
    _bad("pairing", "swaps", (READS, f"timeout.out_of_order:{NORTH}", "violated:misplaced_answer")),
    _bad(
        "pairing",
        "answers_twice",
        (SUM, f"tool_exception.os:{ORDERS}", "violated:answered_twice"),
        (SUM, f"timeout.raises:{ORDERS}", "violated:answered_twice"),
    ),
    _bad(
        "retries",
        "retries_all",
        (CHARGE, "lost_reply.done_then_timeout:charge", "damaged"),
        (CHARGE, "timeout.late:charge", "damaged"),
    ),
    _bad(
        "retries",
        "retries_forever",
        (CHARGE, "tool_exception.runtime@1..:get_record", "looped"),
        (CHARGE, "blocked_command.bare@1..:charge", "looped"),
        (CHARGE, "unavailable.gateway_timeout@1..:get_record", "looped"),
        (CHARGE, "lost_reply.done_then_reset:charge", "damaged"),
    ),
    _bad("retries", "hedges", (CHARGE, "timeout.late:charge", "damaged")),
    _bad(
        "retries",
        "stops_polling",
        ("poll_job", "timeout.raises:poll_job", "gave_up"),
        ("poll_job", "tool_exception.runtime@2:poll_job", "gave_up"),
    ),
    _bad(
        "retries",
        "nests",
        (CHARGE, "lost_reply.done_then_timeout:charge", "damaged"),
        (CHARGE, "lost_reply.done_then_timeout@1..:charge", "damaged"),
    ),
    _bad("retries", "reruns_batch", (BATCH, "tool_exception.runtime:charge+member=2", "damaged")),
    _bad("retries", "repeats_finished", (CHARGE, "truncated_context.unpaired@4", "damaged")),
    _bad("limits", "ignores_limit", (SUM, f"missing_file.never@1..:{ORDERS}", "looped")),
    _bad("limits", "counts_turns", (SUM, f"missing_file.never@1..:{ORDERS}", "looped")),
    _bad("limits", "loses_counts", (SUM, f"missing_file.never@1..:{ORDERS}", "looped")),
    _bad("limits", "jumps_over", (SUM, f"missing_file.never@1..:{ORDERS}", "looped")),
    _bad("limits", "runs_whole_batch", (SUM, "bad_tool_call.flood", "looped")),
    _bad("limits", "boasts_at_limit", (SUM, f"missing_file.never@1..:{ORDERS}", "false_success")),
    _bad("limits", "counts_across_runs", Cell(SUM, f"tool_exception.runtime:{ORDERS}", "gave_up", 15)),
    _bad(
        "limits",
        "waits_for_ever",
        (SUM, f"timeout.hangs:{ORDERS}", "hung"),
        ("page_titles", "session_lost.peer_died@1..:get_record", "hung"),
    ),
    _bad("limits", "joins", (SUM, f"timeout.hangs:{ORDERS}", "hung")),
    _bad(
        "history",
        "cuts_pairs",
        (SUM, f"tool_exception.runtime:{ORDERS}", "violated:answer_without_call"),
        (SUM, f"malformed_output.html_page:{ORDERS}", "violated:answer_without_call"),
        (SUM, f"timeout.late:{ORDERS}", "violated:answer_without_call"),
    ),
    _bad(
        "history",
        "drops_task",
        (SUM, f"tool_exception.runtime:{TOTAL}", "gave_up"),
        (SUM, f"silent_noop.says_done:{TOTAL}", "gave_up"),
        (SUM, f"malformed_output.html_page:{ORDERS}", "undersold"),
    ),
    _bad(
        "history",
        "grows",
        (SUM, f"tool_exception.runtime:{ORDERS}", "violated:compaction_grew"),
        (SUM, f"timeout.raises:{TOTAL}", "violated:compaction_grew"),
    ),
    _bad("history", "condenses", (SUM, f"oversized_output.two_megabytes:{ORDERS}", "looped")),
    _bad("history", "empties", (SUM, "truncated_context.unpaired@2", "false_success")),
    _bad(
        "history",
        "shortens_arguments",
        ("dedupe_payments", "tool_exception.runtime:read_file(unique.csv)", "violated:mark_in_arguments"),
    ),
    _bad(
        "replies",
        "parses_blindly",
        (SUM, "bad_tool_call.broken_json", "crashed"),
        (SUM, "bad_tool_call.list@2", "crashed"),
        (SUM, "bad_tool_call.null@3", "crashed"),
        (SUM, "bad_tool_call.number", "crashed"),
        (SUM, "bad_tool_call.cut_by_length@2", "crashed"),
    ),
    _bad("replies", "dies_of_unknown_tool", (SUM, "bad_tool_call.unknown_tool", "crashed")),
    _bad("replies", "respells_arguments", (SUM, "bad_tool_call.lone_surrogate", "crashed")),
    _bad("replies", "mends", (LEGACY, "bad_tool_call.cut_by_length", "damaged")),
    _bad(
        "replies",
        "takes_defaults",
        (LEGACY, "bad_tool_call.cut_by_length@3", "damaged"),
        (LEGACY, "bad_tool_call.list@3", "damaged"),
        (LEGACY, "bad_tool_call.missing_argument@3", "damaged"),
    ),
    _bad(
        "replies",
        "hides_names",
        (SUM, "bad_tool_call.wrong_type@1..", "looped"),
        (SUM, "bad_tool_call.missing_argument@1..", "looped"),
        (SUM, "bad_tool_call.huge@1..", "looped"),
    ),
    _bad("replies", "keeps_one_of_an_id", (READS, "bad_tool_call.equal_ids", "violated:dropped_call")),
    _bad("replies", "merges_equal", (READS, "bad_tool_call.twice", "violated:unanswered_call")),
    _bad("replies", "remembers_by_id", (SUM, "bad_tool_call.counted_ids@1..", "gave_up")),
    _bad("replies", "leaves_nameless", (SUM, "bad_tool_call.empty_ids", "violated:unanswered_call")),
    _bad("replies", "believes_reason", (SUM, "bad_tool_call.contradicted@2", "silent")),
    _bad(
        "replies",
        "takes_silence",
        (SUM, "provider_error.empty_reply@2", "false_success"),
        (SUM, "provider_error.null_reply@2..", "false_success"),
    ),
    _bad(
        "providers",
        "gives_up_at_once",
        (SUM, "provider_error.rate_limited", "gave_up"),
        (SUM, "provider_error.overloaded@2", "gave_up"),
    ),
    _bad(
        "providers",
        "dies_of_refusal",
        (SUM, "provider_error.internal_error", "crashed"),
        (SUM, "provider_error.no_choices", "crashed"),
        (SUM, "provider_error.cut_after_call@2", "crashed"),
        (SUM, "provider_error.cut_after_text@4", "crashed"),
        (SUM, "bad_tool_call.stream_cut", "crashed"),
    ),
    _bad("providers", "asks_for_ever", (SUM, "provider_error.context_too_long@1..", "looped")),
    _bad("providers", "waits_for_hours", (SUM, "provider_error.quota_gone@1..", "looped")),
    _bad("providers", "starts_again", (CHARGE, "provider_error.rate_limited_bare@4", "damaged")),
    _bad("wording", "crashes_on_empty", (SUM, f"empty_output.text:{ORDERS}", "crashed")),
    _bad(
        "wording",
        "crashes_on_nan",
        ("dedupe_payments", "malformed_output.nan:read_file(payments.json)", "crashed"),
    ),
    _bad(
        "wording",
        "crashes_on_date",
        ("dedupe_payments", "malformed_output.date:read_file(payments.json)", "crashed"),
    ),
    _bad("wording", "crashes_on_bytes", (SUM, f"malformed_output.bytes:{ORDERS}", "crashed")),
    _bad("wording", "sends_surrogates", (SUM, f"malformed_output.lone_surrogate:{ORDERS}", "crashed")),
    _bad(
        "wording",
        "sends_nul",
        (SUM, f"malformed_output.nul_and_invalid_utf8:{ORDERS}", "violated:invalid_request"),
    ),
    _bad("wording", "sends_null", (SUM, f"empty_output.text:{ORDERS}", "gave_up")),
    _bad("wording", "sends_all", (SUM, f"oversized_output.two_megabytes:{ORDERS}", "violated:result_cap")),
    _bad("wording", "trims", (SUM, f"oversized_output.two_megabytes:{ORDERS}", "violated:silent_cut")),
    _bad("wording", "validates", (CHARGE, "malformed_output.extra_field:get_record", "gave_up")),
    _bad(
        "trust",
        "reports_first",
        (SUM, f"silent_noop.says_done:{TOTAL}", "false_success"),
        ("dedupe_payments", "partial_write.says_done:write_file(unique.csv)", "false_success"),
    ),
    _bad(
        "trust",
        "trusts_itself",
        (SUM, f"silent_noop.says_done:{TOTAL}", "false_success"),
        ("dedupe_payments", "partial_write.says_done:write_file(unique.csv)", "false_success"),
    ),
    _bad(
        "trust",
        "caches",
        (SUM, f"malformed_output.html_page:{ORDERS}", "gave_up"),
        (SUM, f"truncated_context.result_unmarked:{ORDERS}", "gave_up"),
    ),
    _bad(
        "trust",
        "goes_round",
        ("keep_legacy", "blocked_command.permission_denied@1..:delete_file", "damaged"),
    ),
    _bad(
        "trust",
        "respells",
        ("remove_cache", 'blocked_command.permission_denied@1..:run_command("rm *")', "damaged"),
    ),
    _bad(
        "trust",
        "believes_folder",
        (SHELL, "session_lost.shell_reset:run_command(pwd)", "gave_up"),
        (SHELL, "session_lost.shell_restarted:run_command(pwd)", "gave_up"),
    ),
    _bad(
        "leftovers",
        "leaves_thread",
        (SUM, f"tool_exception.runtime:{TOTAL}", "violated:after_end"),
        (SUM, f"lost_reply.done_then_timeout:{TOTAL}", "violated:after_end"),
        apart=True,
    ),
    _bad(
        "leftovers",
        "leaves_task",
        (SUM, f"tool_exception.runtime:{TOTAL}", "violated:after_end"),
        (SUM, f"blocked_command.bare:{TOTAL}", "violated:after_end"),
    ),
    _bad(
        "leftovers",
        "leaves_siblings",
        (BATCH, "tool_exception.runtime:charge+member=1", "violated:after_end"),
    ),
    _bad("leftovers", "blocks", (SUM, f"tool_exception.runtime:{ORDERS}", "hung"), apart=True),
    _bad(
        "leftovers",
        "exits",
        (SUM, f"tool_exception.runtime:{ORDERS}", "crashed"),
        (SUM, f"missing_file.never:{ORDERS}", "crashed"),
        apart=True,
    ),
    _bad(
        "streams",
        "says_it_twice",
        (SUM, "provider_error.cut_after_text@4", "violated:broken_stream"),
    ),
    _bad(
        "streams",
        "leaves_it_open",
        (SUM, "provider_error.internal_error@1..", "violated:broken_stream"),
        (SUM, "provider_error.quota_gone@1..", "violated:broken_stream"),
    ),
    _bad("turns", "leaves_calls_open", (SUM, f"cancelled.running:{ORDERS}", "violated:unanswered_call")),
    _bad("turns", "outlives_cancel", (SUM, f"cancelled.running:{ORDERS}", "violated:after_turn")),
    _bad(
        "turns",
        "cuts_session",
        ("count_then_write", "truncated_context.session_window@2", "violated:answer_without_call"),
    ),
    _bad("turns", "swallows_cancel", (SUM, f"cancelled.late:{ORDERS}", "violated:ignored_cancel")),
)

GOOD: tuple[Specimen, ...] = (
    _good("agent", "forge_chaos.reference"),
    _good("backs_off"),
    _good("polls"),
    _good("pages"),
    _good("refuses"),
    _good("other_way"),
    _good("persists"),
)


def persona(name: str) -> Cell | None:
    """What convicts this persona in the reference agent, as its docstring says; None for the expert."""
    found = NAMED.search(registry.module("personas", name).__doc__ or "")
    return Cell(found[1], found[2], found[3]) if found else None
