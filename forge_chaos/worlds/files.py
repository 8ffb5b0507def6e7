"""The world of files: a workspace and the tools of a coding agent."""

from __future__ import annotations

from forge_chaos.worlds._commands import COMMAND_TOOLS
from forge_chaos.worlds._file_tools import FILE_TOOLS
from forge_chaos.worlds._ground import Kind

files = Kind("files", {**FILE_TOOLS, **COMMAND_TOOLS})
