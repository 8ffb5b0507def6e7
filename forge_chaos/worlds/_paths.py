"""Paths inside a workspace: relative, with `/`, without `.`, `..` or doubled separators."""

from __future__ import annotations

import errno
import os
from functools import lru_cache

LONGEST_NAME = 255
LONGEST_PATH = 2_000


@lru_cache(maxsize=8192)
def relative(path: str) -> str:
    """`./a//b/../c` -> `a/c`; the workspace itself is `.`, also for an empty path.

    `..` is taken by name, before any link is followed. Raises PermissionError(13, .., path) for an
    absolute path or one that leads out, OSError(ENAMETOOLONG) where a file system would, ValueError for
    a NUL and UnicodeEncodeError for a lone surrogate.
    """
    if "\0" in path:
        raise ValueError("embedded null byte")
    if path.startswith("/"):
        raise failure(errno.EACCES, path)
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                raise failure(errno.EACCES, path)
            parts.pop()
        elif part not in ("", "."):
            if len(part.encode()) > LONGEST_NAME:
                raise failure(errno.ENAMETOOLONG, path)
            parts.append(part)
    whole = "/".join(parts) or "."
    if len(whole.encode()) > LONGEST_PATH:
        raise failure(errno.ENAMETOOLONG, path)
    return whole


def failure(number: int, path: str) -> OSError:
    """The natural OSError of that errno: `[Errno 2] No such file or directory: 'path'`."""
    return OSError(number, os.strerror(number), path)


def parent(path: str) -> str:
    """The folder that holds a normalised path; `.` holds the top ones and itself."""
    head, _, _ = path.rpartition("/")
    return head or "."


def parents(path: str) -> list[str]:
    """The folders above a normalised path, outermost first, without `.`."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def name(path: str) -> str:
    """The last part of a normalised path."""
    return path.rpartition("/")[2]


def inside(path: str, folder: str) -> bool:
    """Is `path` the folder itself or something under it?"""
    return folder == "." or path == folder or path.startswith(folder + "/")
