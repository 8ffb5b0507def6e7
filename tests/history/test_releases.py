"""Releases: in their order, dated, chosen by version, range and newness."""

from __future__ import annotations

from typing import Any

import pytest

from forge_chaos.errors import Misuse
from forge_chaos.history import releases
from forge_chaos.history.releases import Release


def listing(*files: str, **more: str) -> dict[str, Any]:
    return {"files": [{"filename": name, "upload-time": "2025-01-01T00:00:00Z", **more} for name in files]}


def those(*versions: str) -> tuple[Release, ...]:
    return tuple(Release(version, "2025-01-01T00:00:00Z") for version in versions)


def test_they_stand_in_the_order_of_their_versions_and_each_once() -> None:
    names = ("a_b-1.10.0.tar.gz", "a_b-1.9.0-py3-none-any.whl", "a_b-1.9.0.tar.gz", "a_b-1.9.0rc1.tar.gz")
    found = releases.releases("a-b", listing(*names, "a_b-1.9.0.exe", "notes.txt"))
    assert [release.version for release in found] == ["1.9.0rc1", "1.9.0", "1.10.0"]


def test_a_release_has_the_date_of_its_first_file_and_its_dependencies_one_just_after() -> None:
    page = listing("a-1.0.tar.gz", "a-1.0-py3-none-any.whl")
    page["files"][0]["upload-time"] = "2025-01-01T23:30:10.123456Z"
    page["files"][1]["upload-time"] = "2025-01-02T08:00:00Z"
    (found,) = releases.releases("a", page)
    assert found.uploaded == "2025-01-01T23:30:10.123456Z"
    assert found.until == "2025-01-02T00:30:10Z"


def test_it_is_yanked_when_all_its_files_are() -> None:
    page = listing("a-1.0.tar.gz", "a-1.0-py3-none-any.whl")
    page["files"][0]["yanked"] = "a reason"
    assert not releases.releases("a", page)[0].yanked
    page["files"][1]["yanked"] = True
    assert releases.releases("a", page)[0].yanked


def test_a_page_without_times_or_without_files_is_refused() -> None:
    with pytest.raises(Misuse, match=r"does not say when 'a' was uploaded.*UV_DEFAULT_INDEX"):
        releases.releases("a", {"files": [{"filename": "a-1.0.tar.gz"}]})
    with pytest.raises(Misuse, match="no release of it"):
        releases.releases("a", {"files": []})


def test_a_version_may_be_written_in_any_way() -> None:
    assert releases.one("a", "1.0.0rc1", those("0.9", "1.0rc1", "1.0")).version == "1.0rc1"
    assert releases.one("a", "1.0.0", those("0.9", "1.0rc1", "1.0")).version == "1.0"


def test_a_version_that_is_not_there_is_told_with_its_near_miss_and_its_neighbours() -> None:
    known = those(*(f"1.{n}" for n in range(20)))
    with pytest.raises(Misuse) as told:
        releases.one("a", "1.7.1", known)
    assert "a has no release '1.7.1'. Did you mean '1.7'? It has 20, from 1.0 to 1.19" in str(told.value)
    assert "those beside it: 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 1.10, 1.11." in str(told.value)
    with pytest.raises(Misuse, match="'latest' is no version"):
        releases.one("a", "latest", known)


def test_a_range_has_both_ends_and_no_early_or_yanked_ones_unless_they_are_its_ends() -> None:
    known = (
        *those("1.0", "1.1a1", "1.1"),
        Release("1.2", "2025-01-01", yanked=True),
        *those("1.3", "2.0rc1"),
    )
    assert [r.version for r in releases.between("a", "1.0..1.3", known)] == ["1.0", "1.1", "1.3"]
    assert [r.version for r in releases.between("a", "1.3..1.0", known)] == ["1.0", "1.1", "1.3"]
    assert [r.version for r in releases.between("a", "1.1..1.2", known)] == ["1.1", "1.2"]
    early = ["1.0", "1.1a1", "1.1", "1.3", "2.0rc1"]
    assert [r.version for r in releases.between("a", "1.0..2.0rc1", known)] == early


@pytest.mark.parametrize("span", ["1.0", "1.0..", "..1.0", "1.0-1.1"])
def test_what_is_no_range_is_refused(span: str) -> None:
    with pytest.raises(Misuse, match=r"Write A\.\.B"):
        releases.between("a", span, those("1.0", "1.1"))


def test_a_range_of_one_release_is_refused() -> None:
    with pytest.raises(Misuse, match=r"--versions 1\.0"):
        releases.between("a", "1.0..1.0", those("1.0", "1.1"))


def test_the_newest_is_no_early_one_where_there_is_another() -> None:
    known = (*those("1.0", "1.1"), Release("1.2", "2025-01-01", yanked=True), *those("1.3b1"))
    assert releases.newest(known).version == "1.1"
    assert releases.newest(those("1.0a1", "1.0a2")).version == "1.0a2"
