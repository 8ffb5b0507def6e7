"""The index is asked as uv would ask it, and what it does not know is said."""

from __future__ import annotations

import pytest

from forge_chaos.errors import Inconclusive, Misuse
from forge_chaos.history import index
from tests.history import shop

ONE = shop.Wheel("my-kit", "1.0", "2025-01-01T00:00:00Z")


def test_the_first_address_that_is_stated_is_asked() -> None:
    stated = {"PIP_INDEX_URL": "http://pip", "UV_INDEX_URL": "http://old"}
    assert index.address(stated) == "http://old"
    assert index.address(stated | {"UV_DEFAULT_INDEX": "http://new"}) == "http://new"
    assert index.address({"PIP_INDEX_URL": "http://pip", "UV_DEFAULT_INDEX": ""}) == "http://pip"
    assert index.address({}).startswith("https://")


def test_the_releases_of_a_package_however_its_name_is_written() -> None:
    with shop.served([ONE]) as address:
        assert [r.version for r in index.known("My_Kit", f"{address}/")] == ["1.0"]


def test_a_package_that_is_not_there_is_told_with_its_near_miss() -> None:
    with shop.served([ONE]) as address, pytest.raises(Misuse, match=r"no package 'my-kt'.*mean 'my-kit'"):
        index.known("my-kt", address, ["my-kit", "other"])


def test_an_index_that_is_away_decides_nothing() -> None:
    with shop.served([ONE]) as address:
        pass
    with pytest.raises(Inconclusive, match="cannot be reached"):
        index.known("my-kit", address)


def test_an_index_without_json_is_named() -> None:
    with shop.served([ONE], html=True) as address, pytest.raises(Misuse, match="no pages in JSON"):
        index.known("my-kit", address)


def test_name_and_password_stand_in_a_header_and_not_in_the_address() -> None:
    url, headers = index._asked("https://me:s%40cret@host:81/simple/a/")
    assert url == "https://host:81/simple/a/"
    assert headers["Authorization"] == "Basic bWU6c0BjcmV0"
    assert "Authorization" not in index._asked("https://host/simple/a/")[1]
