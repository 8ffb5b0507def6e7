from __future__ import annotations

import pytest

from forge_chaos.specimens import wording
from tests.specimens.playing import play, sent

ORDERS = "read_file(orders.csv)"
PAYMENTS = "read_file(payments.json)"


@pytest.mark.parametrize(
    ("agent", "scenario", "rule", "error"),
    [
        (wording.crashes_on_empty, "sum_orders", f"empty_output.text:{ORDERS}", "ValueError: the tool"),
        (wording.crashes_on_nan, "dedupe_payments", f"malformed_output.nan:{PAYMENTS}", "ValueError: Out of"),
        (wording.crashes_on_date, "dedupe_payments", f"malformed_output.date:{PAYMENTS}", "TypeError: "),
        (wording.crashes_on_bytes, "sum_orders", f"malformed_output.bytes:{ORDERS}", "UnicodeDecodeError: "),
        (
            wording.sends_surrogates,
            "sum_orders",
            f"malformed_output.lone_surrogate:{ORDERS}",
            "UnicodeEncodeError: ",
        ),
    ],
)
def test_each_crashes_by_an_exception_of_its_own(agent: object, scenario: str, rule: str, error: str) -> None:
    assert play(agent, scenario, rule).facts.error.startswith(error)


@pytest.mark.parametrize(
    ("agent", "rule"),
    [
        (wording.crashes_on_nan, f"malformed_output.date:{PAYMENTS}"),
        (wording.crashes_on_date, f"malformed_output.bytes:{PAYMENTS}"),
        (wording.crashes_on_bytes, f"malformed_output.date:{PAYMENTS}"),
        (wording.sends_surrogates, f"malformed_output.nul_and_invalid_utf8:{PAYMENTS}"),
        (wording.sends_nul, f"malformed_output.lone_surrogate:{PAYMENTS}"),
    ],
)
def test_none_fails_by_the_bug_of_another(agent: object, rule: str) -> None:
    trial = play(agent, "dedupe_payments", rule)
    assert trial.judgement.acceptable, str(trial)


def test_sends_null_sends_no_content() -> None:
    messages = sent(play(wording.sends_null, "sum_orders", f"empty_output.text:{ORDERS}"))
    assert next(message for message in messages if message["role"] == "tool")["content"] is None


def test_trims_what_sends_all_sends() -> None:
    swollen = f"oversized_output.two_megabytes:{ORDERS}"
    for agent, least, most in ((wording.trims, 1, wording.WIDTH), (wording.sends_all, 1_900_000, 3_000_000)):
        messages = sent(play(agent, "sum_orders", swollen))
        content = next(message for message in messages if message["role"] == "tool")["content"]
        size = content["$length"] if isinstance(content, dict) else len(content)
        assert least <= size <= most
