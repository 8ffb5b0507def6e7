"""The file tools: plain functions over a workspace, and what each says of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from forge_chaos.nouns import Verify
from forge_chaos.ports import Workspace
from forge_chaos.worlds._tools import Block, Parameter, block, optional

SETTLE = 60.0
MATCHES = 1_000


class Ground(Protocol):
    """What a file tool needs of the ground truth."""

    @property
    def workspace(self) -> Workspace: ...


def list_files(ground: Ground, path: str = ".") -> str:
    return json.dumps([_shown(name) for name in ground.workspace.entries(path)], ensure_ascii=False)


def read_file(ground: Ground, path: str, offset: int | None = None, limit: int | None = None) -> str:
    text = _text(ground, path)
    if offset is None and limit is None:
        return text
    lines = _lines(text)
    first = offset or 0
    return "".join(lines[first:] if limit is None else lines[first : first + limit])


def write_file(ground: Ground, path: str, text: str) -> str:
    ground.workspace.write(path, text.encode())
    return f"wrote {len(text)} characters to {path}"


def append_file(ground: Ground, path: str, text: str) -> str:
    ground.workspace.append(path, text.encode())
    return f"appended {len(text)} characters to {path}"


def edit_file(ground: Ground, path: str, old: str, new: str) -> str:
    if not old:
        raise ValueError("`old` is empty: give the text that is to be replaced")
    text = _text(ground, path)
    count = text.count(old)
    if count == 0:
        raise ValueError(
            f"the text to replace does not stand in {path}. It must match exactly, white space and line "
            f"ends included: read the file and copy the text from there"
        )
    if count > 1:
        raise ValueError(
            f"the text to replace stands {count} times in {path}. Give more of what is around it, so that "
            f"it stands there once"
        )
    ground.workspace.write(path, text.replace(old, new).encode())
    return f"replaced 1 passage in {path}"


def move_file(ground: Ground, source: str, destination: str) -> str:
    ground.workspace.move(source, destination)
    return f"moved {source} to {destination}"


def delete_file(ground: Ground, path: str) -> str:
    ground.workspace.delete(path)
    return f"deleted {path}"


def search_files(ground: Ground, pattern: str, path: str = ".") -> str:
    if not pattern:
        raise ValueError("`pattern` is empty: give the text to look for")
    workspace = ground.workspace
    folder = workspace.normal(path)
    if workspace.stat(folder)["kind"] == "folder":
        head = "" if folder == "." else folder + "/"
        places = [place for place in workspace.paths() if place.startswith(head)]
    else:
        places = [folder]
    found: list[str] = []
    for place in places:
        try:
            data = workspace.read(place)
        except OSError:  # a link that leads out, a pipe
            continue
        if b"\0" in data:
            continue
        for number, line in enumerate(_lines(data.decode(errors="replace")), 1):
            if pattern in line:
                found.append(f"{_shown(place)}:{number}: {line.rstrip()}")
    if not found:
        return f"no line holds {pattern!r}"
    more = [f"... and {len(found) - MATCHES} lines more"] if len(found) > MATCHES else []
    return "\n".join(found[:MATCHES] + more)


def _text(ground: Ground, path: str) -> str:
    return ground.workspace.read(path).decode()


def _lines(text: str) -> list[str]:
    """Lines with their ends. Only `\\n` ends one: splitlines would also cut at form feeds and the like."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _shown(name: str) -> str:
    """A file name of bytes that are no UTF-8, as text that a model can be sent."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _folder_of(args: Mapping[str, Any]) -> str:
    head, _, _ = str(args.get("path", "")).rstrip("/").rpartition("/")
    return head or "."


def _written(args: Mapping[str, Any], text: str) -> bool:
    return str(args["text"]).strip() == text.strip()


def _appended(args: Mapping[str, Any], text: str) -> bool:
    return str(args["text"]).strip() in text


def _edited(args: Mapping[str, Any], text: str) -> bool:
    old, new = str(args["old"]), str(args["new"])
    return new.strip() in text and (old in new or old not in text)


def _deleted(args: Mapping[str, Any], text: str) -> bool:
    name = str(args["path"]).rstrip("/").rpartition("/")[2]
    try:
        names = json.loads(text)
    except ValueError:
        return False
    return isinstance(names, list) and name not in names and name + "/" not in names


def _readable(args: Mapping[str, Any], text: str) -> bool:
    return True


_READ_BACK = {"path": "path"}
_PATH = Parameter("string", "Path of the file, relative to the workspace.")

FILE_TOOLS: Mapping[str, Block] = {
    one.spec.name: one
    for one in (
        block(
            list_files,
            "List a folder: a JSON array of names, sorted, folders with a '/' at the end.",
            {"path": optional("string", "Folder, relative to the workspace.", ".")},
            ["list"],
            target="path",
        ),
        block(
            read_file,
            "Read a text file (UTF-8). Give offset and limit to read only some of its lines.",
            {
                "path": _PATH,
                "offset": optional("integer", "Lines to skip from the start.", minimum=0),
                "limit": optional("integer", "Most lines to read.", minimum=0),
            },
            ["read"],
            target="path",
        ),
        block(
            write_file,
            "Write a text file, replacing what was there. Missing folders are made.",
            {"path": _PATH, "text": Parameter("string", "The whole new content.")},
            ["write"],
            target="path",
            returns=r"wrote \d+ characters to (?s:.+)",
            verify=Verify("read_file", _READ_BACK, _written, whole=True),
            settle=SETTLE,
        ),
        block(
            append_file,
            "Add text to the end of a file, which is made if it is not there. Doing it twice adds it twice.",
            {
                "path": _PATH,
                "text": Parameter("string", "Text to add; end it with a line end if it is a line."),
            },
            ["write", "effect"],
            target="path",
            returns=r"appended \d+ characters to (?s:.+)",
            verify=Verify("read_file", _READ_BACK, _appended),
            settle=SETTLE,
        ),
        block(
            edit_file,
            "Replace one passage of a text file. The old text must stand in the file exactly once.",
            {
                "path": _PATH,
                "old": Parameter("string", "The text to replace, exactly as it stands in the file."),
                "new": Parameter("string", "The text to put in its place."),
            },
            ["write"],
            target="path",
            returns=r"replaced 1 passage in (?s:.+)",
            verify=Verify("read_file", _READ_BACK, _edited),
            settle=SETTLE,
        ),
        block(
            move_file,
            "Move or rename a file or folder. A file at the destination is replaced.",
            {
                "source": Parameter("string", "What to move, relative to the workspace."),
                "destination": Parameter("string", "Its new path, name included."),
            },
            ["write"],
            target="source",
            returns=r"moved (?s:.+) to (?s:.+)",
            verify=Verify("read_file", {"path": "destination"}, _readable),
            settle=SETTLE,
        ),
        block(
            delete_file,
            "Delete a file, or a folder with all that is in it.",
            {"path": Parameter("string", "File or folder, relative to the workspace.")},
            ["write"],
            target="path",
            returns=r"deleted (?s:.+)",
            verify=Verify("list_files", {"path": _folder_of}, _deleted),
            settle=SETTLE,
        ),
        block(
            search_files,
            "Find the lines that hold a text, taken literally; one line `path:line: text` each.",
            {
                "pattern": Parameter("string", "The text to look for. No regular expression."),
                "path": optional("string", "File or folder to look in.", "."),
            },
            ["read"],
            target="path",
        ),
    )
}
