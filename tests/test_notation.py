"""Rule notation: what is written is what is read."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.errors import Misuse
from forge_chaos.notation import Item, literal, parse, parse_list, parse_plan, write
from forge_chaos.nouns import Plan, Rule

IDS = st.text("abcxyz019_", min_size=1, max_size=8)
# Lone surrogates stand in names of files that are no UTF-8; a low one after a high one would be a pair.
ANY = st.text() | st.text('(),+"%@:.[]*?\\ \n\t\x00\u2028é数', max_size=12) | st.text("a\udc80", max_size=4)
RANGES = st.tuples(st.integers(1, 50), st.none() | st.integers(0, 5))
RULES = st.builds(
    lambda fault, variant, span, p, tool, target, member, heal, text: Rule(
        fault,
        variant,
        span[0],
        None if span[1] is None else span[0] + span[1],
        p,
        tool,
        target,
        member,
        heal,
        text,
    ),
    IDS,
    st.none() | IDS,
    RANGES,
    st.just(100.0) | st.floats(0, 100, exclude_min=True),
    st.just("*") | ANY,
    st.just("*") | ANY,
    st.none() | st.integers(1, 9),
    st.none() | st.floats(0, 1e30, exclude_min=True),
    st.sampled_from([None, "clear", "bare", "misleading"]),
)


@given(RULES)
def test_parse_reads_what_write_wrote(rule: Rule) -> None:
    assert parse(write(rule)) == rule


@given(RULES)
def test_what_is_written_can_be_printed(rule: Rule) -> None:
    assert write(rule).isprintable()


@given(st.lists(RULES, max_size=4))
def test_a_list_is_cut_where_its_rules_end(rules: list[Rule]) -> None:
    text = ",".join(write(rule) for rule in rules)
    assert tuple(item.rule for item in parse_list(text)) == tuple(rules)
    assert parse_plan(text, seed=7) == Plan(tuple(rules), 7)


@given(ANY, ANY)
def test_a_literal_matches_itself_alone(text: str, other: str) -> None:
    assert fnmatchcase(text, literal(text))
    assert fnmatchcase(other, literal(text)) == (other == text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("timeout", Rule("timeout")),
        ("timeout.hangs@2:read_*", Rule("timeout", "hangs", 2, 2, tool="read_*")),
        (
            "missing_file.never@1..:read_file(orders.csv)",
            Rule("missing_file", "never", 1, None, tool="read_file", target="orders.csv"),
        ),
        ("timeout@2..4", Rule("timeout", first=2, last=4)),
        ("50%malformed_output@1..", Rule("malformed_output", first=1, last=None, p=50)),
        ("50%malformed_output", Rule("malformed_output", first=1, last=None, p=50)),
        ("0.5%timeout@1", Rule("timeout", p=0.5)),
        ("timeout:*(a.csv)", Rule("timeout", target="a.csv")),
        ("timeout:send_mail(bob@example.org)", Rule("timeout", tool="send_mail", target="bob@example.org")),
        ('timeout:run_command("ls, (-la)")', Rule("timeout", tool="run_command", target="ls, (-la)")),
        ("timeout.partial:run_command+member=2", Rule("timeout", "partial", tool="run_command", member=2)),
        ("timeout+heal=2.5+text=bare", Rule("timeout", heal=2.5, text="bare")),
    ],
)
def test_the_forms_of_the_notation(text: str, rule: Rule) -> None:
    assert parse(text) == rule


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" timeout@1 ", "timeout"),
        ("timeout@2..2", "timeout@2"),
        ("100%timeout", "timeout@1.."),
        ("50%timeout@1..", "50%timeout"),
        ("50.0%timeout@1", "50%timeout@1"),
        ("timeout:*", "timeout"),
        ("timeout:read_file(*)", "timeout:read_file"),
        ('timeout:read_file("a.csv")', "timeout:read_file(a.csv)"),
        ("timeout+text=bare+member=1", "timeout+member=1+text=bare"),
        ('timeout:read_file("\\u00e9t\\u00e9 1.csv")', 'timeout:read_file("été 1.csv")'),
    ],
)
def test_one_rule_has_one_canonical_text(text: str, canonical: str) -> None:
    assert write(parse(text)) == canonical
    assert write(parse(canonical)) == canonical


def test_an_item_without_range_and_probability_is_swept() -> None:
    items = parse_list('timeout, missing_file.never:read_file("a@1%.csv"),timeout@1,50%timeout,x:t("@%")')
    assert [item.swept for item in items[::2]] == [True, False, True]
    assert [item.swept for item in parse_list("timeout:send(bob@x),50%timeout")] == [True, False]
    assert items[2] == Item("timeout@1", Rule("timeout"), False)


def test_nothing_is_no_item() -> None:
    assert parse_list("  ") == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at its end"),
        ("Timeout", "character 1"),
        ("missing-file", "'-file'"),
        ("timeout.", "a variant"),
        ("timeout@0", "from 1"),
        ("timeout@", "number of a call"),
        ("timeout@x", "'x'"),
        ("timeout@3..2", "the last call (2) comes before the first (3)"),
        ("timeout@9999999999", "number of a call"),
        ("0%timeout", "more than 0%"),
        ("101%timeout", "at most 100%"),
        ("timeout:", "a tool is expected"),
        ("timeout:(x)", "a tool is expected"),
        ("timeout:read_file@2", "'@' comes before ':'"),
        ("timeout:read_file(x)@2", "'@' comes before ':'"),
        ("timeout:read_file(a b)", 'timeout:read_file("a b.csv")'),
        ("timeout:read_file(a", "ends with ')'"),
        ("timeout:read_file()", "a target is expected"),
        ('timeout:read_file("a)', "no JSON string"),
        ("timeout:read file", "JSON string"),
        ("timeout+mumber=2", "Did you mean 'member'?"),
        ("timeout+member=0", "from 1"),
        ("timeout+heal=nan", "seconds above 0"),
        ("timeout+heal", "seconds above 0"),
        ("timeout+text=bar", "Did you mean 'bare'?"),
        ("timeout+heal=1+heal=2", "given twice"),
    ],
)
def test_an_error_shows_the_rule_and_the_wrong_part(text: str, says: str) -> None:
    with pytest.raises(Misuse) as caught:
        parse(text)
    assert repr(text) in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["a,,b", "a,", ",a"])
def test_an_empty_item_is_an_error(text: str) -> None:
    with pytest.raises(Misuse, match="empty item"):
        parse_list(text)


@given(RULES)
def test_equal_rules_have_equal_texts(rule: Rule) -> None:
    assert write(replace(rule, p=int(rule.p)) if rule.p.is_integer() else rule) == write(rule)


def test_a_comma_inside_parentheses_cuts_nothing() -> None:
    with pytest.raises(Misuse, match=r"rule 'timeout:run_command\(ls,pwd\)', at ',pwd\)'"):
        parse_list("timeout:run_command(ls,pwd),x")
