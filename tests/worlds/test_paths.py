from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge_chaos.worlds._paths import inside, parent, parents, relative


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("./a//b/../c", "a/c"),
        ("a/", "a"),
        ("", "."),
        (".", "."),
        ("a/..", "."),
        ("a/../b/./c/", "b/c"),
        ("...", "..."),
        ("a b/ü", "a b/ü"),
    ],
)
def test_a_path_is_made_plain(path: str, plain: str) -> None:
    assert relative(path) == plain


@pytest.mark.parametrize("path", ["/etc/passwd", "..", "../x", "a/../../x", "a/b/../../../x", "/"])
def test_a_path_that_leads_out_is_refused_as_given(path: str) -> None:
    with pytest.raises(PermissionError) as caught:
        relative(path)
    assert (caught.value.errno, caught.value.filename) == (errno.EACCES, path)


def test_what_no_file_system_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="embedded null byte"):
        relative("a\0b")
    with pytest.raises(UnicodeEncodeError):
        relative("a\ud800")
    for long in ("n" * 256, "/".join(["ab"] * 700)):
        with pytest.raises(OSError, match="too long") as caught:
            relative(long)
        assert caught.value.errno == errno.ENAMETOOLONG


@given(st.text("ab./", max_size=12))
def test_plain_paths_stay_as_they_are(path: str) -> None:
    try:
        plain = relative(path)
    except PermissionError:
        return
    assert relative(plain) == plain
    assert not {"", ".."}.intersection(plain.split("/"))


def test_parents() -> None:
    assert (parent("a/b/c"), parent("a"), parent(".")) == ("a/b", ".", ".")
    assert parents("a/b/c") == ["a", "a/b"]
    assert inside("a/b", "a")
    assert inside("a", "a")
    assert not inside("ab", "a")
    assert inside("x", ".")
