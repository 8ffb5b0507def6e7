"""Templates are filled in from drawn values, and a name nobody drew is an error."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos import template
from forge_chaos.errors import Misuse

VALUES: dict[str, Any] = {"total": 42, "rows": [{"id": 1}], "name": "a.csv"}


def test_text_is_filled_in_and_keeps_its_last_newline() -> None:
    assert template.filled("sum of {{ name }}: {{ total }}\n", VALUES, "p") == "sum of a.csv: 42\n"
    assert template.filled("{% for r in rows %}{{ r.id }},{% endfor %}", VALUES, "p") == "1,"
    assert template.filled("no template {", VALUES, "p") == "no template {"


def test_a_lone_expression_keeps_its_type_only_where_asked() -> None:
    given = {"n": "{{ total }}", "list": ["{{ rows }}"], "{{ name }}": "{{ total }} of {{ name }}", "x": 3}
    assert template.deep(given, VALUES, "p", native=True) == {
        "n": 42,
        "list": [[{"id": 1}]],
        "a.csv": "42 of a.csv",
        "x": 3,
    }
    assert template.deep(given, VALUES, "p", native=False)["n"] == "42"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("one\n{{ totl }}", "f.j2:2: no value 'totl'. Did you mean 'total'? Known: name, rows, total."),
        ("one\n\n{{ total", "f.j2:3: bad template:"),
        ("one\n{{ 1 / 0 }}", "f.j2:2: cannot be filled in: ZeroDivisionError"),
        ("{{ rows[0].gone }}", "f.j2:1: cannot be filled in: UndefinedError"),
    ],
)
def test_a_template_that_cannot_be_filled_in_is_told_with_its_line(source: str, said: str) -> None:
    with pytest.raises(Misuse) as caught:
        template.filled(source, VALUES, "f.j2", line=1)
    assert str(caught.value).startswith(said)


def test_a_lone_expression_is_held_to_the_same() -> None:
    with pytest.raises(Misuse, match=r"^s\.toml:7: no value 'totl'\. Did you mean 'total'\?"):
        template.deep(["{{ totl }}"], VALUES, "s.toml:7", native=True)
