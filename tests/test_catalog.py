"""What there is to choose from, and one clear message for whatever does not exist."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forge_chaos import catalog, notation
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Call, Err, Ok, Rule

FAULT = """\
family  = "failure"
seam    = "tool"
summary = "It fails."
tempts  = "giving up"
roles   = ["read"]

[bar]
once = "full"

[[variants]]
id        = "plain"
mechanism = "fail"
params    = { code = "timeout" }
text      = { clear = "slow: {target}" }

[[variants]]
id        = "other"
mechanism = "fail"
roles     = ["write"]
seam      = "tool"
needs     = ["text"]
bar       = { once = "wrong" }
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str = FAULT, name: str = "mine") -> Path:
        (tmp_path / f"{name}.toml").write_text(text)
        return tmp_path

    return write


@pytest.mark.parametrize("path", sorted(catalog.builtin("faults").glob("*.toml")), ids=lambda path: path.stem)
def test_every_fault_file_of_ours_loads(path: Path) -> None:
    fault = catalog.faults()[path.stem]
    assert fault.variants
    assert fault.convicts, "a fault that convicts nobody is deleted"
    for variant in fault.variants:
        assert catalog.resolve(Rule(fault.id, variant.id), {fault.id: fault}).variant == variant


def test_the_five_named_classes_are_there() -> None:
    named = {"missing_file", "timeout", "malformed_output", "blocked_command", "truncated_context"}
    assert named <= set(catalog.faults())


def test_a_directory_of_the_user_adds_and_overrides(written: Callable[..., Path]) -> None:
    written(FAULT)
    place = written(FAULT, "timeout")
    found = catalog.faults([place])
    assert found["timeout"].summary == "It fails."
    assert {"mine", "missing_file"} <= set(found)
    assert list(found) == sorted(found)


def test_a_changed_file_is_read_again(written: Callable[..., Path]) -> None:
    assert catalog.faults([written()])["mine"].summary == "It fails."
    place = written(FAULT.replace("It fails.", "It fails in another way."))
    assert catalog.faults([place])["mine"].summary == "It fails in another way."


def test_a_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"faults directory '.*gone' does not exist"):
        catalog.faults([tmp_path / "gone"])


class Hand:
    """As much of a mechanism's environment as `fail` touches."""

    def __init__(self) -> None:
        self.fired: list[dict[str, object]] = []

    def fire(self, **detail: object) -> None:
        self.fired.append(detail)

    def text(self) -> str:
        return "slow"


async def untouched(call: Call) -> Ok | Err:
    raise AssertionError("the tool must not run")


def test_a_rule_is_resolved_with_its_mechanism_bound(written: Callable[..., Path]) -> None:
    found = catalog.resolve(Rule("mine"), catalog.faults([written()]))
    assert (found.text, found.variant.id, found.seam, found.bar) == ("mine", "plain", "tool", "full")
    hand = Hand()

    async def perform() -> Ok | Err:
        return await found.mechanism(Call(1, "read_file", {}), untouched, hand)

    assert asyncio.run(perform()) == Err("timeout", "slow")
    assert hand.fired == [{"code": "timeout"}]
    other = catalog.resolve(notation.parse("mine.other@1..:read_*"), catalog.faults([written()]))
    assert (other.text, other.variant.id, other.bar) == ("mine.other@1..:read_*", "other", None)
    assert catalog.resolve(Rule("mine", "other"), catalog.faults([written()])).bar == "wrong"


def test_a_burst_has_a_bar_of_its_own_where_one_is_stated() -> None:
    known = catalog.faults()

    def bar(text: str) -> str | None:
        return catalog.resolve(notation.parse(text), known).bar

    assert (bar("rate_limited.no_header@2"), bar("rate_limited.no_header@2..4")) == ("full", "wrong")
    assert (bar("rate_limited@1..+heal=20"), bar("rate_limited@1..")) == ("full", "wrong")
    assert (bar("timeout@1..3"), bar("timeout@1..+heal=20")) == ("full", "wrong")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            Rule("mising_file"),
            "no fault 'mising_file'. Did you mean 'missing_file'? Known: bad_tool_call, ",
        ),
        (Rule("mine", "plian"), "no variant of mine 'plian'. Did you mean 'plain'? Known: other, plain."),
        (Rule("mine", text="bare"), "no wording of mine.plain 'bare'. Known: clear."),
        (Rule("mine", "other", text="clear"), "no wording of mine.other 'clear'. Known: none."),
    ],
)
def test_a_rule_of_what_does_not_exist_is_told(written: Callable[..., Path], rule: Rule, said: str) -> None:
    with pytest.raises(Misuse) as caught:
        catalog.resolve(rule, catalog.faults([written()]))
    assert str(caught.value).startswith(said)
    assert "(forge-chaos " in str(caught.value)


def test_globs_choose_scenarios(tmp_path: Path) -> None:
    for name in ("mine_a", "mine_b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scenario.toml").write_text("")
    (tmp_path / "notes").mkdir()
    assert catalog.scenario_names("mine_*, mine_a,sum_orders", [tmp_path]) == (
        "mine_a",
        "mine_b",
        "sum_orders",
    )
    assert "notes" not in catalog.scenario_names("*", [tmp_path])
    with pytest.raises(
        Misuse, match=r"no scenario 'sum_ordres'\. Did you mean 'sum_orders'\? Known: charge_once, "
    ):
        catalog.scenario_names("mine_a,sum_ordres", [tmp_path])
    with pytest.raises(Misuse, match=r"no scenario 'sum_ordres'\. Did you mean 'sum_orders'\?"):
        catalog.load("sum_ordres", 1)


def test_choosing_loads_nothing_heavy() -> None:
    code = (
        "import sys; from forge_chaos import catalog; catalog.scenario_names(); "
        "print([m for m in ('pydantic', 'jinja2', 'rich', 'scipy', 'hypothesis') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_data_is_found_in_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "forge_chaos"
    monkeypatch.setattr(catalog, "HERE", package)
    assert catalog.builtin("faults") == package / "data" / "faults"
    (package.parent / "faults").mkdir(parents=True)  # a neighbour of that name is not ours
    assert catalog.builtin("faults") == package / "data" / "faults"
