import re

OLD = "    raise NotImplementedError\n"
WORDS = ("amber", "bread", "cloud", "drift", "earth", "flint", "grain")


def values(rng):
    one, two = rng.sample(WORDS, 2)
    return {"one": one, "two": two, "joint": f"-{rng.randint(10, 99)}-"}


def tool(text):
    if text.count(OLD) != 1 or not text.rstrip().endswith("# end of string_tool.py"):
        raise ValueError("not string_tool.py")
    return text


async def solve(task, tools):
    joint = re.search(r'joined by "([^"]+)"', task.prompt)[1]
    await tools.read_file(path="string_tool.py", expect=tool)
    body = f'    return "{joint}".join(reversed(s.split()))\n'
    await tools.edit_file(path="string_tool.py", old=OLD, new=body)
    return "DONE"
