import re

SETTINGS = re.compile(
    r"\[server\]\r\nhost\t[\d.]+\r\nport\t(\d+)\r\n\r\n\[log\]\r\nlevel\t(\d+)\r\n\r\n"
    r"\[admin\]\r\nport\t\d+\r\nlevel\t\d+\r\n\r\n; end(?:\r\n)?"
)


def values(rng):
    return {"port": rng.randint(2000, 7999), "level": rng.randint(10, 99)}


def asked(prompt):
    return re.search(r"\[server\] to (\d+)", prompt)[1], re.search(r"\[log\] to (\d+)", prompt)[1]


def settings(text):
    """`port` of the server and `level` of the log."""
    return SETTINGS.fullmatch(text).groups()


async def solve(task, tools):
    port, level = asked(task.prompt)
    old_port, old_level = await tools.read_file(path="conf.ini", expect=settings)
    await tools.edit_file(
        path="conf.ini",
        old=f"[server]\r\nhost\t127.0.0.1\r\nport\t{old_port}\r\n",
        new=f"[server]\r\nhost\t127.0.0.1\r\nport\t{port}\r\n",
    )
    await tools.edit_file(
        path="conf.ini", old=f"[log]\r\nlevel\t{old_level}\r\n", new=f"[log]\r\nlevel\t{level}\r\n"
    )
    return "DONE"


def changed(trace):
    """Both settings are as they should be, and every other byte is as it was."""
    from forge_chaos.events import Snapshot, Started, find

    started = next(find(trace, Started))[1]
    port, level = asked(started.prompt)
    wanted = started.resources["conf.ini"].replace("port\t8080", f"port\t{port}")
    wanted = wanted.replace("level\t3", f"level\t{level}")
    return list(find(trace, Snapshot))[-1][1].resources.get("conf.ini") == wanted
