"""A scenario folder is filled in from the seed, and whatever is wrong with it is told with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from forge_chaos import catalog, scenariofile
from forge_chaos.errors import Misuse
from forge_chaos.nouns import Check, Limits

TOML = """\
prompt  = "Write {{ number }} to out.txt."
tools   = ["read_file", "write_file"]
outputs = ["{{ name }}.txt"]
[limits]
steps = 5
[effects]
append_file = 2
[[full]]
grader = "file_equals"
path   = "out.txt"
text   = "{{ number }}"
[[full]]
grader = "file_json"
path   = "x.json"
value  = { n = "{{ number }}", all = ["{{ rows }}"], text = "n = {{ number }}" }
[[must_not]]
grader = "tool_used"
tool   = "delete_file"
"""
SOLUTION = """\
def values(rng):
    return {"number": rng.randint(100, 999), "rows": [1, 2], "name": "out"}


async def solve(task, tools):
    return "DONE"


def right(trace):
    return True
"""
Write: TypeAlias = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(toml: str = TOML, solution: str | None = SOLUTION, **files: str | bytes) -> Path:
        folder = tmp_path / "mine"
        for name, content in {"scenario.toml": toml, "solution.py": solution, **files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is not None:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return write


def test_everything_is_filled_in_from_the_seed(written: Write) -> None:
    written(
        **{
            "files/a.txt.j2": "n {{ number }}\n",
            "files/deep/{{ name }}.csv.j2": "x",
            "files/raw.bin": b"\xff{{ number }}",
            "records.json.j2": '{"orders": {"A1": {"amount": {{ number }}}}}',
        }
    )
    found = catalog.load("mine", 3, [written().parent])
    number = found.values["number"]
    assert found.prompt == f"Write {number} to out.txt."
    assert found.files == {
        "a.txt": f"n {number}\n".encode(),
        "deep/out.csv": b"x",
        "raw.bin": b"\xff{{ number }}",
    }
    assert found.records == {"orders": {"A1": {"amount": number}}}
    assert found.full == (
        Check("file_equals", {"path": "out.txt", "text": str(number)}),
        Check(
            "file_json",
            {"path": "x.json", "value": {"n": number, "all": [[1, 2]], "text": f"n = {number}"}},
        ),
    )
    assert found.must_not == (Check("tool_used", {"tool": "delete_file"}),)
    assert (found.name, found.seed, found.limits) == ("mine", 3, Limits(5, 3600.0))
    assert (found.tools, found.outputs, found.effects) == (
        ("read_file", "write_file"),
        ("out.txt",),
        {"append_file": 2},
    )
    assert found.solve is not None


def test_a_seed_draws_the_same_again_and_another_one_something_else(written: Write) -> None:
    folder = written()
    assert scenariofile.scenario(folder, 1) is scenariofile.scenario(folder, 1)
    assert scenariofile.scenario(folder, 1).values != scenariofile.scenario(folder, 2).values


def test_a_changed_folder_is_another_scenario(written: Write) -> None:
    first = scenariofile.scenario(written(), 1)
    second = scenariofile.scenario(written(**{"files/b.txt": "b"}), 1)
    third = scenariofile.scenario(written(TOML.replace("steps = 5", "steps = 6")), 1)
    assert len({first.hash, second.hash, third.hash}) == 3
    assert first.hash.startswith("b2:")
    assert (first.files, second.files, third.limits.steps) == ({}, {"b.txt": b"b"}, 6)


def test_what_python_leaves_behind_changes_no_hash(written: Write) -> None:
    first = scenariofile.scenario(written(), 1)
    assert scenariofile.scenario(written(**{"__pycache__/solution.pyc": b"x"}), 1).hash == first.hash


def test_it_may_have_no_solution(written: Write) -> None:
    toml = 'prompt = "p"\n[[full]]\ngrader = "answer_contains"\ntext = "yes"\n'
    found = scenariofile.scenario(written(toml, None), 1)
    assert (found.solve, found.values) == (None, {})


def test_a_check_command_is_a_goal(written: Write) -> None:
    found = scenariofile.scenario(written('prompt = "p"\ncheck_command = "python -m unittest t.py"\n'), 1)
    assert found.full == (Check("check_command", {"command": "python -m unittest t.py"}),)


def test_a_function_of_the_solution_can_be_a_grader(written: Write) -> None:
    toml = 'prompt = "p"\n[[full]]\ngrader = "function"\ncall = "{}"\n'
    found = scenariofile.scenario(written(toml.format("right")), 1)
    assert found.full[0].params["call"]("trace") is True
    assert scenariofile.scenario(written(toml.format("math:isnan")), 1).full[0].params["call"](0.0) is False
    for name in ("wrong", "math:wrong", "no_such_module_x:f"):
        with pytest.raises(Misuse, match=rf"mine/scenario\.toml:4: no function '{name}' in "):
            scenariofile.scenario(written(toml.format(name)), 1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "outputs",
            "outptus",
            ":3: no key 'outptus'. Did you mean 'outputs'? Known: check_command, degraded, ",
        ),
        ("steps = 5", "step = 5", ":5: no key 'step'. Did you mean 'steps'? Known: cost, price, "),
        ("steps = 5", "cost = inf", ":5: "),
        ("steps = 5", "seconds = nan", ":5: "),
        ("steps = 5", "cost = 5.0", ":5: a budget needs both: cost, and the price of each reply"),
        ("steps = 5", "price = 5.0", ":5: a budget needs both: cost, and the price of each reply"),
        ("steps = 5", "steps = 0", ":5: key 'limits.steps': Input should be greater than 0 (it is 0)."),
        ("file_equals", "file_equal", ":9: no grader 'file_equal'. Did you mean 'file_equals'?"),
        ("text   =", "txt =", ":11: no parameter of grader 'file_equals' 'txt'. Did you mean 'text'?"),
        ('path   = "out.txt"\n', "", ":8: grader 'file_equals': parameter 'path': Field required."),
        ("{{ number }} to", "{{ nubmer }} to", ":1: no value 'nubmer'. Did you mean 'number'? Known: name, "),
        ('text   = "{{ number', 'text   = "{{ nubmer', ":11: no value 'nubmer'. Did you mean 'number'?"),
        (
            '"write_file"]',
            '"wriet_file"]',
            ":2: no tool in world 'files' 'wriet_file'. Did you mean 'write_file'?",
        ),
        ("append_file = 2", "apend_file = 2", ":7: no tool in world 'files' 'apend_file'. Did you mean"),
        ("prompt  =", 'world = "file"\nprompt  =', ":1: no world 'file'. Did you mean 'files'?"),
        ("[limits]", "[limits", ":4: bad TOML: "),
        (
            TOML[TOML.index("[[full]]") : TOML.index("[[must_not]]")],
            "",
            ":1: no [[full]] grader looks at state or",
        ),
        (
            TOML[TOML.index("[[full]]") : TOML.index("[[must_not]]")],
            '[[full]]\ngrader = "steps_at_most"\nn = 3\n',
            ":8: no [[full]] grader looks at state or answer",
        ),
    ],
)
def test_a_bad_scenario_is_told_with_file_and_line(written: Write, old: str, new: str, said: str) -> None:
    assert old in TOML
    folder = written(TOML.replace(old, new, 1))
    with pytest.raises(Misuse) as caught:
        scenariofile.scenario(folder, 1)
    assert str(caught.value).startswith(f"{folder}/scenario.toml{said}")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("files/a.txt.j2", "one\n{{ nubmer }}\n", ":2: no value 'nubmer'. Did you mean 'number'?"),
        ("files/a.txt.j2", b"\xff{{ number }}", ": byte 0 is no UTF-8; only text can be filled in."),
        ("records.json", '{"a":\n oops}', ":2: bad JSON: Expecting value."),
        ("records.json", '{"a": [1]}', ': must be {"table": {"id": {"column": value}}}.'),
        (
            "solution.py",
            "def values(rng):\n    return {1: 2}\n",
            ":1: values(rng) must return a dict of names",
        ),
        ("solution.py", "\nraise KeyError('x')\n", ":2: KeyError: 'x'"),
    ],
)
def test_a_bad_file_of_a_scenario_is_told(written: Write, name: str, content: str | bytes, said: str) -> None:
    folder = written(**{name: content})
    with pytest.raises(Misuse) as caught:
        scenariofile.scenario(folder, 1)
    assert str(caught.value).startswith(f"{folder}/{name}{said}")


def test_a_folder_without_scenario_toml_is_told(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"holds no scenario\.toml"):
        scenariofile.scenario(tmp_path, 1)


def test_each_further_message_needs_what_plays_it(written: Write) -> None:
    folder = written(
        toml=TOML + '[[turns]]\nprompt = "Now {{ number }} again."\n',
        solution=SOLUTION + "\n\nasync def solve_2(task, tools):\n    return 'DONE'\n",
    )
    (turn,) = scenariofile.scenario(folder, 1).turns
    assert turn.prompt.startswith("Now ")
    assert "{{" not in turn.prompt
    assert turn.solve is not None
    lacking = written(toml=TOML + '[[turns]]\nprompt = "Go on."\n')
    with pytest.raises(Misuse, match=r"it has none, and the 1 \[\[turns\]\] .* need solve_2"):
        scenariofile.scenario(lacking, 1)
