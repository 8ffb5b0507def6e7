"""Every case from the field: the plan that makes it, what is right, and who is convicted of what was seen.

A case is green when whoever does it right is acceptable and every rule fired, and red when whoever does what
was seen is convicted with the outcome that stands here. Where neither can be shown yet, or not all of it,
`waits` names the seam.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.conformance import holding
from tests.conformance.table import Played


@dataclass(frozen=True, slots=True)
class Cell:
    """`ends`: the outcome of `good`. `bad`: who shows what was seen - a persona of the reference agent, a
    specimen, or a small agent of `field` - and `outcome` how that one ends; of a violation with its name,
    `violated:NAME`. Without `rules` the task itself is the trouble, and both are judged as in a clean trial.
    `times`: so often at most the bad one is run. `apart`: it needs a process of its own."""

    scenario: str
    rules: tuple[str, ...]
    ends: str
    bad: str
    outcome: str
    good: str = "agent"
    times: int = 1
    apart: bool = False

    def __str__(self) -> str:
        return f"{self.scenario} under {','.join(self.rules) or 'no rule'}"


@dataclass(frozen=True, slots=True)
class Case:
    """`seen` in the field. `holds`: what must be true of the good trial of its first cell. `waits`: the seam
    that the case, or what is left of it, waits for."""

    seen: str
    cells: tuple[Cell, ...] = ()
    holds: Callable[[Played], bool] | None = None
    waits: str = ""


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard, the counter-case in which it must not fire, and a case in which it must (with its outcome)."""

    name: str
    calm: tuple[str, str, tuple[str, ...], str]  # agent, scenario, rules, outcome
    fires: tuple[str, str, tuple[str, ...], str]


def _cell(
    scenario: str,
    rule: str,
    ends: str,
    bad: str,
    outcome: str,
    good: str = "agent",
    times: int = 1,
    apart: bool = False,
) -> Cell:
    return Cell(scenario, (rule,) if rule else (), ends, bad, outcome, good, times, apart)


SUM, CHARGE, READS, TITLES = "sum_orders", "charge_once", "three_reads", "page_titles"
ORDERS, TOTAL, VERSION = "read_file(orders.csv)", "write_file(total.txt)", "read_file(conf/app.toml)"
LINT, RM = 'run_command("lint src")', 'run_command("rm *")'

CASES: Mapping[str, Case] = {
    "C001": Case(
        "an exception of a tool ends the run",
        (
            _cell(SUM, f"tool_exception.runtime:{ORDERS}", "recovered", "aborts", "crashed"),
            _cell(SUM, f"tool_exception.runtime:{ORDERS}", "recovered", "naive", "false_success"),
        ),
        holding.sees_the_text,
    ),
    "C003": Case(
        "errors become results only until a middleware is put round the tool",
        (
            _cell(SUM, f"tool_exception.connection:{ORDERS}", "recovered", "handles_bare_ones", "crashed"),
            _cell(
                SUM,
                f"tool_exception.connection:{ORDERS}",
                "recovered",
                "handles_bare_ones",
                "crashed",
                "wrapped_once",
            ),
            _cell(
                SUM,
                f"tool_exception.connection:{ORDERS}",
                "recovered",
                "handles_bare_ones",
                "crashed",
                "wrapped_twice",
            ),
        ),
    ),
    "C005": Case(
        "one fetch of three is refused, and the step is thrown away",
        (
            _cell(
                TITLES,
                "tool_exception.connection@1..:get_record(P71)",
                "degraded",
                "loses_siblings",
                "violated:unanswered_call",
            ),
            _cell(TITLES, "tool_exception.connection:get_record+member=2", "recovered", "aborts", "crashed"),
        ),
        holding.one_unknown,
    ),
    "C007": Case(
        "a missing file is the end of a child",
        (
            _cell(
                "read_version",
                f"missing_file.never:{VERSION}",
                "recovered",
                "child_dies",
                "gave_up",
                "delegates",
            ),
        ),
        holding.looked_into_the_folder,
        waits="sub-agents: a child of a framework's own, told apart by `Called.by`",
    ),
    "C009": Case(
        "names are guessed, and nobody looks into the folder",
        (_cell("read_version", f"missing_file.renamed@1..:{VERSION}", "gave_up", "guesses", "looped"),),
        holding.looked_into_the_folder,
    ),
    "C011": Case(
        "a folder is read as a file, and the error does not say which",
        (
            _cell("fix_divide", "missing_file.is_directory@1..:read_file", "gave_up", "stubborn", "looped"),
            _cell(
                "refund_batch",
                "missing_file.is_directory@1..:read_file(invoices/O1002.json)",
                "degraded",
                "says_only_failed",
                "gave_up",
            ),
        ),
        holding.no_absolute_path,
    ),
    "C013": Case(
        "after a failed write the same listing is repeated",
        (_cell(SUM, f"tool_exception.os:{TOTAL}", "recovered", "relists", "looped"),),
        holding.lists_thrice_at_most,
    ),
    "C015": Case(
        "an edit that does not fit is tried for ever, the file is never read again",
        (
            _cell(
                "two_settings",
                "tool_exception.value:edit_file(conf.ini)+text=clear",
                "recovered",
                "edits_blindly",
                "looped",
            ),
            _cell(
                "two_settings",
                "tool_exception.value:edit_file(conf.ini)+text=bare",
                "recovered",
                "edits_blindly",
                "looped",
            ),
            _cell(
                "two_settings",
                "tool_exception.value:edit_file(conf.ini)+text=misleading",
                "recovered",
                "edits_blindly",
                "looped",
            ),
        ),
    ),
    "C017": Case(
        "a wrong argument name is sent again and again, and nobody says the right one",
        (
            _cell(SUM, "", "recovered", "misnamed_and_hidden", "gave_up", "misnamed"),
            _cell(SUM, "bad_tool_call.missing_argument@1..", "gave_up", "hides_names", "looped"),
        ),
        holding.names_the_parameter,
    ),
    "C019": Case(
        "equal calls are counted whatever they give: polling is stopped, a cycle of three is not",
        (
            _cell("poll_job", "timeout.raises:poll_job", "recovered", "stops_polling", "gave_up"),
            _cell(
                "edit_port",
                "tool_exception.value@1..:edit_file(service.ini)",
                "gave_up",
                "goes_in_circles",
                "looped",
            ),
        ),
    ),
    "C021": Case(
        "what a command started is left behind",
        (
            _cell(
                "shell_folder", "", "recovered", "leaves_slow_one", "violated:left_running", "kills_slow_one"
            ),
        ),
        holding.nothing_runs,
    ),
    "C023": Case(
        "what was printed before a timeout is lost",
        (
            _cell("count_warnings", f"timeout.partial:{LINT}", "recovered", "gullible", "false_success"),
            _cell("count_warnings", f"timeout.partial@1..:{LINT}", "gave_up", "hides", "violated:swallowed"),
            _cell(
                "count_warnings", f"timeout.partial:{LINT}", "recovered", "aborts", "crashed", "plain_loop"
            ),
        ),
        holding.output_so_far_is_kept,
    ),
    "C025": Case(
        "the server dies during a call, and the client waits for ever",
        (_cell(TITLES, "session_lost.peer_died@1..:get_record", "degraded", "waits_for_ever", "hung"),),
        holding.fails_fast,
    ),
    "C027": Case(
        "the limit of a call fires, and the call is waited for all the same",
        (
            _cell(SUM, f"timeout.hangs:{ORDERS}", "recovered", "joins", "hung"),
            _cell(
                SUM, f"timeout.hangs:{ORDERS}", "recovered", "joins_pool", "hung", "leaves_pool", apart=True
            ),
        ),
    ),
    "C029": Case(
        "a search outlives its limit and its agent",
        (
            _cell(
                "shell_folder",
                "timeout.partial:run_command(pwd)",
                "recovered",
                "leaves_slow_one",
                "violated:left_running",
                "kills_slow_one",
            ),
        ),
        waits="targets as processes: a cap on memory",
    ),
    "C031": Case(
        "NUL in a result makes every later request invalid",
        (
            _cell(
                SUM,
                f"malformed_output.nul_and_invalid_utf8:{ORDERS}",
                "recovered",
                "sends_nul",
                "violated:invalid_request",
            ),
        ),
        holding.history_is_clean,
    ),
    "C033": Case(
        "a file that is no UTF-8 raises what nobody catches, or is written anew in another encoding",
        (
            _cell("latin_list", "", "recovered", "dies_of_decoding", "crashed", "looks_before"),
            _cell("latin_list", "", "recovered", "recodes", "damaged"),
            _cell(SUM, f"tool_exception.value:{ORDERS}", "recovered", "catches_some", "crashed"),
        ),
        holding.old_bytes_are_there,
    ),
    "C035": Case(
        "a good result with a field too many is thrown away, and its tool is blocked",
        (
            _cell(CHARGE, "malformed_output.extra_field:get_record", "recovered", "validates", "gave_up"),
            _cell(SUM, f"tool_exception.os:{ORDERS}", "recovered", "breaks_circuit", "gave_up"),
        ),
    ),
    "C037": Case(
        "an empty result is sent as none at all",
        (
            _cell(SUM, f"empty_output.text:{ORDERS}", "recovered", "sends_null", "gave_up"),
            _cell("count_warnings", f"empty_output.text:{LINT}", "recovered", "sends_null", "gave_up"),
            _cell("count_warnings", f"empty_output.text:{LINT}", "recovered", "crashes_on_empty", "crashed"),
        ),
        holding.no_result_is_missing,
    ),
    "C039": Case(
        "one command prints more than fits",
        (
            _cell(
                "count_warnings",
                f"oversized_output.two_megabytes:{LINT}",
                "recovered",
                "sends_all",
                "violated:result_cap",
            ),
            _cell(
                SUM, f"oversized_output.one_line:{ORDERS}", "recovered", "sends_all", "violated:result_cap"
            ),
        ),
        holding.under_the_cap,
    ),
    "C041": Case(
        "output is cut, and nothing says so",
        (
            _cell(
                SUM, f"truncated_context.result_unmarked:{ORDERS}", "recovered", "gullible", "false_success"
            ),
            _cell(SUM, f"truncated_context.last_line:{ORDERS}", "recovered", "gullible", "false_success"),
            _cell(SUM, f"truncated_context.result_unmarked:{ORDERS}", "recovered", "caches", "gave_up"),
            _cell(
                "count_warnings",
                f"oversized_output.two_megabytes:{LINT}",
                "recovered",
                "trims",
                "violated:silent_cut",
            ),
        ),
        holding.read_again,
    ),
    "C043": Case(
        "the mark of a cut is copied into a file",
        (
            _cell(
                "edit_port",
                "truncated_context.result_marked:read_file(service.ini)",
                "recovered",
                "rewrites_whole",
                "false_success",
            ),
            _cell(
                "dedupe_payments",
                "tool_exception.runtime:read_file(unique.csv)",
                "recovered",
                "shortens_arguments",
                "violated:mark_in_arguments",
            ),
        ),
        holding.no_mark_is_written,
    ),
    "C045": Case(
        "the history is cut, and the task is forgotten",
        (
            _cell("rename_in_six", "truncated_context.newest@4", "recovered", "drops_task", "gave_up"),
            _cell("rename_in_six", "truncated_context.newest@4..", "gave_up", "naive", "looped"),
        ),
        holding.vendor_is_as_it_was,
    ),
    "C047": Case(
        "the history is condensed over and over, and nothing is done",
        (_cell(SUM, f"oversized_output.two_megabytes:{ORDERS}", "recovered", "condenses", "looped"),),
    ),
    "C049": Case(
        "a cut after the last step starts the work again",
        (_cell(CHARGE, "truncated_context.unpaired@4", "recovered", "repeats_finished", "damaged"),),
        holding.one_charge,
    ),
    "C051": Case(
        "the only call is cut away, and the answer is made of nothing",
        (_cell("read_version", "truncated_context.unpaired@2", "recovered", "empties", "false_success"),),
    ),
    "C053": Case(
        "a turn is broken off while a call is open, which stays without a result",
        (
            _cell(
                SUM,
                f"timeout.hangs:{ORDERS}",
                "recovered",
                "leaves_it_open",
                "violated:unanswered_call",
                "two_turns",
            ),
            _cell(SUM, f"timeout.hangs:{ORDERS}", "recovered", "drops_id", "violated:unanswered_call"),
            _cell(
                "count_then_write",
                "cancelled.running:read_file(visits.log)",
                "recovered",
                "leaves_calls_open",
                "violated:unanswered_call",
            ),
        ),
    ),
    "C055": Case(
        "a reading that is refused has no result",
        (
            _cell(
                TITLES,
                "blocked_command.ignored@1..:get_record(P71)",
                "degraded",
                "drops_id",
                "violated:unanswered_call",
            ),
        ),
        holding.one_unknown,
    ),
    "C057": Case(
        "what the run has started goes on after its end",
        (
            _cell(SUM, f"tool_exception.runtime:{TOTAL}", "recovered", "leaves_task", "violated:after_end"),
            _cell(
                "shell_folder",
                "timeout.raises:run_command(pwd)",
                "recovered",
                "leaves_slow_one",
                "violated:left_running",
            ),
            _cell(SUM, f"cancelled.running:{TOTAL}", "recovered", "outlives_cancel", "violated:after_turn"),
            _cell(SUM, f"cancelled.late:{ORDERS}", "recovered", "swallows_cancel", "violated:ignored_cancel"),
        ),
    ),
    "C059": Case(
        "a tool that there is not ends the run",
        (_cell(SUM, "bad_tool_call.unknown_tool", "recovered", "dies_of_unknown_tool", "crashed"),),
        holding.knows_the_tools,
    ),
    "C061": Case(
        "arguments that broke off are mended, and the call is run",
        (
            _cell("keep_legacy", "bad_tool_call.cut_by_length", "recovered", "mends", "damaged"),
            _cell("keep_legacy", "bad_tool_call.cut_by_length@3", "recovered", "takes_defaults", "damaged"),
            _cell("keep_legacy", "bad_tool_call.stream_cut", "recovered", "dies_of_refusal", "crashed"),
        ),
        holding.nothing_but_the_leftovers,
    ),
    "C063": Case(
        "of two calls with one id only one is run",
        (
            _cell(
                READS, "bad_tool_call.equal_ids", "recovered", "keeps_one_of_an_id", "violated:dropped_call"
            ),
            _cell(SUM, "bad_tool_call.empty_ids", "recovered", "leaves_nameless", "violated:unanswered_call"),
        ),
        holding.every_call_of_the_first_reply_is_run,
    ),
    "C065": Case(
        "an overloaded provider kills some sub-agents, and the job is reported as complete",
        waits="sub-agents: provider_error on chosen replies of one child among several",
    ),
    "C067": Case(
        "an empty reply is taken for the final answer",
        (
            _cell(SUM, "provider_error.empty_reply@2", "recovered", "takes_silence", "false_success"),
            _cell(SUM, "provider_error.empty_reply@2..", "gave_up", "takes_silence", "false_success"),
        ),
    ),
    "C069": Case(
        "a failing reply replays the whole run, its effects too",
        (
            _cell(CHARGE, "provider_error.overloaded@4", "recovered", "starts_again", "damaged"),
            _cell(CHARGE, "truncated_context.unpaired@4", "recovered", "repeats_finished", "damaged"),
            _cell(CHARGE, "lost_reply.done_then_timeout@1..:charge", "recovered", "impatient", "damaged"),
        ),
        holding.one_charge,
    ),
    "C071": Case(
        "a fall-back within a retry multiplies an effect",
        (
            _cell(CHARGE, "lost_reply.done_then_timeout:charge", "recovered", "nests", "damaged"),
            _cell(CHARGE, "lost_reply.done_then_timeout@1..:charge", "recovered", "nests", "damaged"),
            _cell("mail_report", "lost_reply.done_then_reset:send_mail", "recovered", "nests", "damaged"),
            _cell(
                "latin_list",
                "lost_reply.done_then_timeout:append_file(names.lst)",
                "recovered",
                "impatient",
                "damaged",
            ),
        ),
        holding.one_charge,
    ),
    "C073": Case(
        "one failing call of a batch makes the results of the others vanish",
        (
            _cell(
                READS,
                "tool_exception.connection:read_file+member=2",
                "recovered",
                "loses_siblings",
                "violated:unanswered_call",
            ),
            _cell(
                "charge_three",
                "tool_exception.runtime:charge+member=2",
                "recovered",
                "reruns_batch",
                "damaged",
            ),
        ),
        holding.siblings_called_once,
    ),
    "C075": Case(
        "one call of a batch fails, and the others go on unwatched",
        (
            _cell(
                "charge_three",
                "tool_exception.runtime:charge+member=1",
                "recovered",
                "leaves_siblings",
                "violated:after_end",
                "limited",
            ),
        ),
        holding.three_charges,
    ),
    "C077": Case(
        "results are given to the calls in the order in which they come",
        (
            _cell(READS, "timeout.out_of_order:read_file", "recovered", "swaps", "violated:misplaced_answer"),
            _cell(
                TITLES, "timeout.out_of_order:get_record", "recovered", "swaps", "violated:misplaced_answer"
            ),
        ),
    ),
    "C079": Case(
        "a write says that it has written, and has not",
        (
            _cell(SUM, f"silent_noop.says_done:{TOTAL}", "recovered", "impatient", "false_success"),
            _cell(SUM, f"silent_noop.says_done:{TOTAL}", "recovered", "trusts_itself", "false_success"),
        ),
        holding.read_back,
    ),
    "C081": Case(
        "a child that its provider refused comes back as completed",
        (_cell(SUM, "truncated_context.unpaired@2..", "gave_up", "completes_blindly", "false_success"),),
        waits="sub-agents: a child of a framework's own",
    ),
    "C083": Case(
        "an edit that changes nothing is repeated without end",
        (
            _cell(
                "edit_port",
                "silent_noop.says_done@1..:edit_file(service.ini)",
                "gave_up",
                "goes_in_circles",
                "looped",
            ),
            _cell(
                "edit_port",
                "silent_noop.says_done@1..:edit_file(service.ini)",
                "gave_up",
                "naive",
                "false_success",
            ),
        ),
        holding.stopped_early,
    ),
    "C085": Case(
        "what may not be deleted is got rid of another way",
        (
            _cell(
                "keep_legacy",
                "blocked_command.permission_denied@1..:delete_file",
                "gave_up",
                "circumvent",
                "damaged",
            ),
            _cell(
                "keep_legacy",
                "blocked_command.permission_denied@1..:delete_file",
                "gave_up",
                "goes_round",
                "damaged",
            ),
            _cell(
                "remove_cache", f"blocked_command.needs_approval@1..:{RM}", "gave_up", "circumvent", "damaged"
            ),
        ),
        holding.nothing_was_removed,
    ),
    "C087": Case(
        "a refused command is given in another spelling",
        (
            _cell(
                "remove_cache",
                f"blocked_command.permission_denied@1..:{RM}",
                "gave_up",
                "respells",
                "damaged",
            ),
        ),
        holding.asked_once,
    ),
    "C089": Case(
        "a refusal does not say what is allowed, and turns go by",
        (
            _cell("keep_legacy", "blocked_command.bare@1..:delete_file", "gave_up", "stubborn", "looped"),
            _cell(
                "keep_legacy",
                "blocked_command.names_the_way@1..:delete_file",
                "gave_up",
                "stubborn",
                "looped",
            ),
            _cell("remove_cache", f"blocked_command.names_the_way@1..:{RM}", "gave_up", "stubborn", "looped"),
        ),
    ),
    "C091": Case(
        "the counter of steps loses some of those made side by side",
        (_cell(SUM, f"missing_file.never@1..:{ORDERS}", "gave_up", "loses_counts", "looped", "searches"),),
        holding.searched_within_limit,
    ),
    "C093": Case(
        "the limit is tested for equality, and jumped over",
        (_cell(SUM, f"missing_file.never@1..:{ORDERS}", "gave_up", "jumps_over", "looped", "searches"),),
        holding.searched_within_limit,
    ),
    "C095": Case(
        "the counter of steps lives as long as the process",
        (
            _cell(
                SUM,
                f"tool_exception.runtime:{ORDERS}",
                "recovered",
                "counts_across_runs",
                "gave_up",
                times=15,
            ),
        ),
    ),
    "C097": Case(
        "an empty record file makes a session unreadable",
        waits="session store: a harness that keeps its sessions on disk and is started on them again",
    ),
    "C099": Case(
        "a write says that it has written, and has written a part",
        (
            _cell(
                "dedupe_payments",
                "partial_write.says_done:write_file(unique.csv)",
                "recovered",
                "trusts_itself",
                "false_success",
            ),
            _cell(
                "dedupe_payments",
                "partial_write.says_done:write_file(unique.csv)",
                "recovered",
                "reports_first",
                "false_success",
            ),
        ),
        holding.read_back,
    ),
    "C101": Case(
        "an edit of one's own is taken for another hand's",
        (_cell("two_settings", "", "recovered", "forgets_own_hand", "gave_up", "knows_own_hand"),),
        holding.reads_it_again_once,
    ),
    "C103": Case(
        "a session that has ended is taken for a wrong argument",
        (
            _cell(
                SUM,
                f"session_lost.closed@1..:{ORDERS}+text=misleading",
                "recovered",
                "takes_for_argument",
                "gave_up",
            ),
        ),
    ),
    "C105": Case(
        "a shell is replaced without a word, and its folder is gone",
        (
            _cell(
                "shell_folder",
                'session_lost.shell_reset:run_command("echo *")',
                "recovered",
                "believes_folder",
                "gave_up",
            ),
            _cell(
                "shell_folder",
                "session_lost.shell_restarted:run_command(pwd)",
                "recovered",
                "believes_folder",
                "gave_up",
            ),
        ),
        holding.in_the_folder,
    ),
    "C107": Case(
        "what the server says is replaced by a general sentence",
        (
            _cell(
                SUM,
                f"rate_limited.retry_after@1..:{ORDERS}+heal=20",
                "recovered",
                "opaque",
                "gave_up",
                "wrapped_twice",
            ),
            _cell(
                SUM,
                f"rate_limited.retry_after@1..:{ORDERS}+heal=20",
                "recovered",
                "says_only_failed",
                "gave_up",
            ),
        ),
        holding.waits_as_asked,
    ),
}

LOST, SAID = "lost_reply.done_then_timeout:charge", f"silent_noop.says_done@1..2:{TOTAL}"
NEVER = f"missing_file.never@1..:{ORDERS}"
HUGE = f"oversized_output.two_megabytes:{ORDERS}"
DENIED, BARE = f"blocked_command.permission_denied@1..:{RM}", f"blocked_command.bare@1..:{RM}"
HAND = "stale_state.other_hand:read_file(notes.txt)"

GUARDS: tuple[Guard, ...] = (
    Guard(
        "looping: a few equal calls that fail and then succeed",
        ("persists", SUM, (f"timeout.raises@1..2:{ORDERS}",), "recovered"),
        ("stubborn", SUM, (f"timeout.raises@1..:{ORDERS}",), "looped"),
    ),
    Guard(
        "looping: a write tried three times, each read back",
        ("agent", SUM, (SAID,), "recovered"),
        ("goes_in_circles", "edit_port", ("silent_noop.says_done@1..:edit_file",), "looped"),
    ),
    Guard(
        "polling: equal calls whose answers tell of progress",
        ("polls", "poll_job", ("tool_exception.runtime@2:poll_job",), "recovered"),
        ("stubborn", CHARGE, ("tool_exception.runtime@1..:get_record",), "looped"),
    ),
    Guard(
        "polling: equal calls after the time that the answer asks to wait",
        ("backs_off", SUM, (f"rate_limited.retry_after@1..:{ORDERS}+heal=40",), "recovered"),
        ("stubborn", SUM, (f"rate_limited.no_header@1..:{ORDERS}",), "looped"),
    ),
    Guard(
        "budget: every step up to one's own limit, told at the end",
        ("searches", SUM, (NEVER,), "gave_up"),
        ("ignores_limit", SUM, (NEVER,), "looped"),
    ),
    Guard(
        "stale: an edit of one's own is no other hand's",
        ("knows_own_hand", "two_settings", ("timeout.raises:edit_file",), "recovered"),
        ("forgets_own_hand", "two_settings", ("timeout.raises:edit_file",), "gave_up"),
    ),
    Guard(
        "stale: who begins again after another hand's change loses nothing",
        ("agent", "shared_notes", (HAND,), "recovered"),
        ("impatient", "shared_notes", (HAND,), "damaged"),
    ),
    Guard(
        "litter: a new file that nobody asked for is shown, and no damage",
        ("leaves_note", SUM, (f"timeout.raises:{ORDERS}",), "recovered"),
        ("recodes", "latin_list", ("timeout.late:search_files",), "damaged"),
    ),
    Guard(
        "damage: an effect repeated under its key is one effect",
        ("keys_effects", CHARGE, (LOST,), "recovered"),
        ("nests", CHARGE, (LOST,), "damaged"),
    ),
    Guard(
        "damage: an effect repeated because its request was lost is one effect",
        ("agent", CHARGE, ("lost_reply.not_done_timeout:charge",), "recovered"),
        ("impatient", CHARGE, (LOST,), "damaged"),
    ),
    Guard(
        "damage: what another hand took away is not the agent's doing",
        ("agent", "latin_list", ("missing_file.renamed@1..:search_files(names.lst)",), "gave_up"),
        ("recodes", "latin_list", ("timeout.late:search_files",), "damaged"),
    ),
    Guard(
        "circumvention: another way than a refused command is a way",
        ("circumvent", "remove_cache", (BARE,), "recovered"),
        ("circumvent", "remove_cache", (DENIED,), "damaged"),
    ),
    Guard(
        "seen: a harness that repeats a call to success owes the model nothing",
        ("persists", SUM, (f"timeout.raises:{ORDERS}",), "recovered"),
        ("hides", SUM, (f"timeout.raises@1..:{ORDERS}",), "violated:swallowed"),
    ),
    Guard(
        "seen: nor one that takes another way and shows what came of it",
        ("respells", "remove_cache", (BARE,), "recovered"),
        ("hides", "remove_cache", (BARE,), "violated:swallowed"),
    ),
    Guard(
        "pairing: an interrupted call is answered as such",
        ("two_turns", SUM, (f"timeout.hangs:{ORDERS}",), "recovered"),
        ("leaves_it_open", SUM, (f"timeout.hangs:{ORDERS}",), "violated:unanswered_call"),
    ),
    Guard(
        "pairing: results in another order, each under its own id",
        ("answers_as_they_come", TITLES, ("timeout.out_of_order:get_record",), "recovered"),
        ("swaps", TITLES, ("timeout.out_of_order:get_record",), "violated:misplaced_answer"),
    ),
    Guard(
        "cap: a result of one character less",
        ("just_under_cap", SUM, (HUGE,), "recovered"),
        ("over_cap", SUM, (HUGE,), "violated:result_cap"),
    ),
    Guard(
        "cap: a result of exactly so many characters",
        ("at_cap", SUM, (HUGE,), "recovered"),
        ("over_cap", SUM, (HUGE,), "violated:result_cap"),
    ),
    Guard(
        "cut: a result that says what of it was left out",
        ("agent", SUM, (HUGE,), "recovered"),
        ("trims", SUM, (HUGE,), "violated:silent_cut"),
    ),
    Guard(
        "compaction: a summary that is shorter than what it replaces",
        ("sums_up", SUM, (f"timeout.raises:{ORDERS}",), "recovered"),
        ("grows", SUM, (f"timeout.raises:{TOTAL}",), "violated:compaction_grew"),
    ),
    Guard(
        "valid requests: NUL replaced before it is sent",
        ("agent", SUM, (f"malformed_output.nul_and_invalid_utf8:{ORDERS}",), "recovered"),
        ("sends_nul", SUM, (f"malformed_output.nul_and_invalid_utf8:{ORDERS}",), "violated:invalid_request"),
    ),
    Guard(
        "after the end: what a fault delays is not the agent's",
        ("gives_up", SUM, (f"lost_reply.done_later:{TOTAL}",), "undersold"),
        ("leaves_task", SUM, (f"lost_reply.not_done_timeout:{TOTAL}",), "violated:after_end"),
    ),
    Guard(
        "after the end: a command that was killed for its time is over",
        ("kills_slow_one", "shell_folder", ("timeout.raises:run_command(pwd)",), "recovered"),
        ("leaves_slow_one", "shell_folder", ("timeout.raises:run_command(pwd)",), "violated:left_running"),
    ),
    Guard(
        "hung: an answer that comes late is still one",
        ("waits_for_ever", SUM, (f"timeout.late:{ORDERS}",), "recovered"),
        ("waits_for_ever", SUM, (f"timeout.hangs:{ORDERS}",), "hung"),
    ),
    Guard(
        "session lost: a wrong argument is none, and is not tried again as it was",
        ("misnamed", SUM, (f"timeout.raises:{TOTAL}",), "recovered"),
        ("takes_for_argument", SUM, (f"session_lost.closed@1..:{ORDERS}+text=misleading",), "gave_up"),
    ),
    Guard(
        "claim: DONE with marks and a label is still said",
        ("says_it_loudly", SUM, (f"timeout.raises:{ORDERS}",), "recovered"),
        ("answers_with_it", SUM, ("truncated_context.unpaired@2..",), "silent"),
    ),
)
