"""Files of a task lie inside the workspace, or their place is told."""

from __future__ import annotations

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.seeds.files import files


def test_paths_are_normalised_and_text_is_utf8() -> None:
    assert files("here", {"./a//b.txt": "ü", "c": b"\xff"}) == {"a/b.txt": "ü".encode(), "c": b"\xff"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"/etc/x": ""}, "here: '/etc/x' is no path"),
        ({"a/../../x": ""}, "is no path"),
        ({"a\0": ""}, "is no path"),
        ({"a": "\ud800"}, "is no path of a text file"),
        ({"": ""}, "'' names a folder, no file"),
        ({"a/": ""}, "'a/' names a folder, no file"),
        ({"a": "", "./a": ""}, "'./a' stands there twice"),
        ({"a/b/c": "", "a": ""}, "'a' is a file, and 'a/b/c' needs it to be a folder"),
    ],
)
def test_what_cannot_lie_there_is_told(given: dict[str, str], said: str) -> None:
    with pytest.raises(Misuse) as caught:
        files("here", given)
    assert said in str(caught.value)
