"""The package index, asked when which release was uploaded."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from forge_chaos.errors import Inconclusive, Misuse, near
from forge_chaos.history.releases import Release, releases

FORM = "application/vnd.pypi.simple.v1+json"  # PEP 691
STATED = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
PUBLIC = f"https://{'pypi'}.org/simple"  # uv's and pip's own default
PATIENCE = 60.0  # seconds


def address(environment: Mapping[str, str] = os.environ) -> str:
    """The index that uv is told to use: the first that is stated, else the public one."""
    return next((found for name in STATED if (found := environment.get(name))), PUBLIC)


def known(package: str, index: str, others: Iterable[str] = ()) -> tuple[Release, ...]:
    """The releases of a package. `others` are packages that are there, for the near miss.

    Raises Misuse where the index knows no such package, Inconclusive where it cannot be reached.
    """
    from packaging.utils import canonicalize_name

    url, headers = _asked(f"{index.rstrip('/')}/{canonicalize_name(package)}/")
    try:
        with urlopen(Request(url, headers=headers), timeout=PATIENCE) as answer:
            listing: Any = json.load(answer)
    except HTTPError as error:
        if error.code == 404:
            raise Misuse(
                f"no package {package!r} in the index.{near(package, others)} Name one by --package, or in "
                "[history] of the file."
            ) from None
        raise Inconclusive(f"the index refuses to list {package!r}: {error.code} {error.reason}.") from None
    except (URLError, TimeoutError, ConnectionError) as error:
        said = getattr(error, "reason", error)
        raise Inconclusive(f"the index cannot be reached, so no release is dated: {said}.") from None
    except ValueError:
        raise Misuse(
            "the index has no pages in JSON (PEP 691), so that no release can be dated. Name one that has in "
            "UV_DEFAULT_INDEX."
        ) from None
    return releases(package, listing)


def _asked(url: str) -> tuple[str, dict[str, str]]:
    """The address without the name and password that may stand in it, and the headers that say them."""
    parts = urlsplit(url)
    headers = {"Accept": FORM}
    said, at, host = parts.netloc.rpartition("@")
    if at:
        headers["Authorization"] = "Basic " + b64encode(unquote(said).encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), headers
