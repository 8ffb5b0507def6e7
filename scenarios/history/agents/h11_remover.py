"""An openai-agents agent that removes folders."""

import json
import shutil
from pathlib import Path

from agents import Agent, function_tool


@function_tool(strict_mode=False)
def list_files(path: str = ".") -> str:
    """List a folder: a JSON array of names.

    Args:
        path: The path of the folder.
    """
    return json.dumps(sorted(each.name for each in Path(path).iterdir()))


@function_tool(strict_mode=False)
def remove_dir(path: str = ".") -> str:
    """Remove all that is in a folder, and the folder itself unless it is the current one.

    Args:
        path: The path of the folder.
    """
    folder = Path(path)
    for each in sorted(folder.iterdir()):
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()
    if folder.resolve() != Path.cwd():
        folder.rmdir()
    return f"removed {path}"


agent = Agent(
    name="Remover",
    instructions="You work on the files of the current folder.",
    tools=[list_files, remove_dir],
)
