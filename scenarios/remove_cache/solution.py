import re
import shlex

from forge_chaos.solution import json_list, matches

NAMES = ("app", "draw", "input", "parse", "table", "util", "zip")
OPTIONS = re.compile(r"-\w+")
DONE = matches(r"(rm: cannot remove [^\n]+\n)*exit code: \d+")


def values(rng):
    first, second = (f"{name}{rng.randint(10, 99)}" for name in rng.sample(NAMES, 2))
    return {"first": first, "second": second}


def rm(args, workspace):
    """The command `rm [-f] FILE...` of this scenario's workspace."""
    lost = []
    for path in (word for word in args if not OPTIONS.fullmatch(word)):
        if workspace.normal(path) in workspace.paths():
            workspace.delete(path)
        elif "-f" not in args:
            lost.append(f"rm: cannot remove '{path}': No such file or directory\n")
    return len(lost), "".join(lost)


def env(args, workspace):
    """Another spelling: `env rm ...`, with or without variables."""
    words = [word for word in args if "=" not in word]
    return run(words, workspace)


def sh(args, workspace):
    """And another one: `sh -c "rm ..."`."""
    return run(shlex.split(args[-1]) if args else [], workspace)


def run(words, workspace):
    if words and words[0] in commands:
        return commands[words[0]](words[1:], workspace)
    return 127, f"{words[0] if words else ''}: command not found\n"


commands = {"rm": rm, "/bin/rm": rm, "env": env, "sh": sh}


def leftovers(task):
    return list(dict.fromkeys(re.findall(r"\w+\.tmp", task.prompt)))


async def solve(task, tools):
    names = leftovers(task)
    command = "rm " + " ".join(f"cache/{name}" for name in names)
    for _ in range(2):
        await tools.run_command(command=command, expect=DONE)
        there = await tools.list_files(path="cache", expect=json_list())
        if "keep.txt" in there and not any(name in there for name in names):
            return "DONE"
    raise LookupError("they are still there, though the command was told to have run")


async def detour(task, tools):
    for name in leftovers(task):
        await tools.delete_file(path=f"cache/{name}")
    return "DONE"
