"""The releases of a package: their order, their dates, and which of them are meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from forge_chaos.errors import Misuse, near

if TYPE_CHECKING:
    from packaging.version import Version

MARGIN = timedelta(hours=1)  # a release in several packages is uploaded one after the other
SHOWN = 8


@dataclass(frozen=True, slots=True)
class Release:
    """`version` as its files say it, `uploaded` the ISO time of the first of them; `yanked`: its maker asks
    nobody to use it."""

    version: str
    uploaded: str
    yanked: bool = False

    @property
    def until(self) -> str:
        """The date at which its dependencies are resolved: just after the release."""
        return (datetime.fromisoformat(self.uploaded) + MARGIN).strftime("%Y-%m-%dT%H:%M:%SZ")


def parsed(version: str) -> Version:
    """The version, to be compared. Raises Misuse for what is none."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version)
    except InvalidVersion:
        raise Misuse(f"{version!r} is no version. Write one as 1.2.3, several as 1.2.3,1.2.4.") from None


def releases(package: str, listing: Mapping[str, Any]) -> tuple[Release, ...]:
    """All releases of a package in their order, from its page in an index (PEP 691 with the times of PEP 700).

    Raises Misuse where the page states no times.
    """
    found: dict[Version, list[Mapping[str, Any]]] = {}
    for file in listing.get("files", ()):
        version = _version(str(file.get("filename", "")))
        if version is not None:
            found.setdefault(version, []).append(file)
    if not found:
        raise Misuse(f"the index knows {package!r}, and no release of it.")
    if not all(file.get("upload-time") for files in found.values() for file in files):
        raise Misuse(
            f"the index does not say when {package!r} was uploaded (PEP 700), so that the dependencies of that "
            "time are unknown. Name an index that does in UV_DEFAULT_INDEX."
        )
    return tuple(
        Release(
            str(version),
            min(str(file["upload-time"]) for file in files),
            all(file.get("yanked") for file in files),
        )
        for version, files in sorted(found.items())
    )


def _version(filename: str) -> Version | None:
    """The version that a file's name states; None for a kind of file that is not installed."""
    from packaging.utils import (
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )

    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


def one(package: str, version: str, known: Sequence[Release]) -> Release:
    """The release of that version. Raises Misuse, with the near miss, where there is none."""
    wanted = parsed(version)
    for release in known:
        if parsed(release.version) == wanted:
            return release
    names = [release.version for release in known]
    before = [name for name in names if parsed(name) < wanted]
    beside = [*before[-SHOWN // 2 :], *names[len(before) : len(before) + SHOWN // 2]]
    raise Misuse(
        f"{package} has no release {version!r}.{near(version, names)} It has {len(names)}, from {names[0]} to "
        f"{names[-1]}; those beside it: {', '.join(beside)}."
    )


def between(package: str, span: str, known: Sequence[Release]) -> tuple[Release, ...]:
    """The releases of a span `A..B`, both among them: no pre-release unless A or B is one, and none that
    was yanked. Raises Misuse for what is no span, and for one with fewer than two releases."""
    first, dots, last = span.partition("..")
    if not (first and dots and last):
        raise Misuse(f"cannot read the range {span!r}. Write A..B, such as 1.2.0..1.9.3.")
    ends = (one(package, first, known), one(package, last, known))
    low, high = sorted(parsed(release.version) for release in ends)
    early = low.is_prerelease or high.is_prerelease
    chosen = tuple(
        release
        for release in known
        if low <= parsed(release.version) <= high
        and (release in ends or not release.yanked)
        and (early or release in ends or not parsed(release.version).is_prerelease)
    )
    if len(chosen) < 2:
        raise Misuse(
            f"there is one release of {package} in {span}: name it with --versions {ends[0].version}."
        )
    return chosen


def newest(known: Sequence[Release]) -> Release:
    """The newest release that is no pre-release and was not yanked; the newest of all where none is so."""
    return _last(r for r in known if not r.yanked and not parsed(r.version).is_prerelease) or known[-1]


def _last(chosen: Iterable[Release]) -> Release | None:
    return next(iter(reversed(list(chosen))), None)
