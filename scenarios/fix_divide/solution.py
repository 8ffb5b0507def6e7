import re

OLD = "    return a / b\n"


def values(rng):
    return {
        "message": f"cannot divide by zero (case {rng.randint(100, 999)})",
        "quotient": rng.randint(2, 9),
        "divisor": rng.randint(2, 9),
    }


def helper(text):
    if text.count(OLD) != 1 or not text.rstrip().endswith("# end of math_helper.py"):
        raise ValueError("not math_helper.py")
    return text


async def solve(task, tools):
    message = re.search(r'ValueError\("([^"]+)"\)', task.prompt)[1]
    await tools.read_file(path="math_helper.py", expect=helper)
    guard = f'    if b == 0:\n        raise ValueError("{message}")\n'
    await tools.edit_file(path="math_helper.py", old=OLD, new=guard + OLD)
    return "DONE"
