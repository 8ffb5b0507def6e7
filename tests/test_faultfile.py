"""A fault file becomes frozen data, or one complaint with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge_chaos import faultfile
from forge_chaos.errors import Misuse
from tests.test_catalog import FAULT


def written(folder: Path, text: str = FAULT, name: str = "mine") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def test_a_file_becomes_frozen_data(tmp_path: Path) -> None:
    fault = faultfile.fault(written(tmp_path))
    plain, other = fault.variants
    assert (fault.id, fault.family, fault.roles, fault.bar) == (
        "mine",
        "failure",
        ("read",),
        {"once": "full"},
    )
    assert (plain.params, plain.text, plain.lasts) == (
        {"code": "timeout"},
        {"clear": "slow: {target}"},
        ("once", "ever"),
    )
    assert (other.roles, other.seam, other.needs, other.bar) == (
        ("write",),
        "tool",
        ("text",),
        {"once": "wrong"},
    )


def test_a_burst_may_last_for_a_time(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace('"other"', '"other"\nlasts = ["burst"]\nheal = 20'))
    other = faultfile.fault(path).variants[1]
    assert (other.lasts, other.heal) == (("burst",), 20.0)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "tempts  ",
            "tempst  ",
            ":4: no key 'tempst'. Did you mean 'tempts'? Known: bar, convicts, family, ",
        ),
        ('"failure"', '"failing"', ":1: key 'family': Input should be 'absence', "),
        (
            'mechanism = "fail"\nparams',
            'mechanism = "fial"\nparams',
            ":12: no mechanism 'fial'. Did you mean 'fail'?",
        ),
        ("code =", "cod =", ":13: no parameter of mechanism 'fail' 'cod'. Did you mean 'code'?"),
        ("clear =", "claer =", ":14: key 'variants.0.text.claer"),
        ('"other"', '"plain"', ":17: variant 'plain' stands here twice."),
        ('"other"', '"Other one"', ":17: key 'variants.1.id': must be made of a-z, 0-9 and _"),
        ('once = "full"', 'onc = "full"', ":8: no key 'onc'. Did you mean 'once'? Known: burst, ever, once."),
        (
            "needs ",
            'refuses = "effect"\nneeds ',
            ":21: variant 'other': a variant of family \"refusal\", and no other,",
        ),
        ('[bar]\nonce = "full"', '[bar\nonce = "full"', ":7: bad TOML: "),
    ],
)
def test_a_bad_fault_file_is_told_with_file_and_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FAULT
    path = written(tmp_path, FAULT.replace(old, new, 1))
    with pytest.raises(Misuse) as caught:
        faultfile.fault(path)
    assert str(caught.value).startswith(f"{path}{said}")


def test_a_fault_file_of_no_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"My-Fault\.toml: a fault's name must be made of a-z, 0-9 and _"):
        faultfile.fault(written(tmp_path, FAULT, "My-Fault"))
