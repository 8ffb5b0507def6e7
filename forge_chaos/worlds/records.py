"""The world of records: tables, a ledger of effects, a job to poll, and all tools of the files world."""

from __future__ import annotations

from forge_chaos.worlds._commands import COMMAND_TOOLS
from forge_chaos.worlds._file_tools import FILE_TOOLS
from forge_chaos.worlds._ground import Kind
from forge_chaos.worlds._record_tools import RECORD_TOOLS

records = Kind("records", {**FILE_TOOLS, **COMMAND_TOOLS, **RECORD_TOOLS}, tables=True)
