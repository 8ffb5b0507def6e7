import pytest

from forge_chaos.errors import Misuse
from forge_chaos.inference import infer_roles, infer_target, spec


@pytest.mark.parametrize(
    ("name", "description", "roles"),
    [
        ("read_file", "", {"read"}),
        ("readFile", "", {"read"}),
        ("list_files", "", {"list"}),
        ("write_report", "", {"write"}),
        ("append_line", "", {"effect", "write"}),
        ("charge_card", "", {"effect"}),
        ("run_shell", "", {"execute"}),
        ("fetch_page", "", {"network", "read"}),
        ("weather", "Get the weather of a city.", {"read"}),
        ("zorp", "", set()),
    ],
)
def test_roles_come_from_the_name_then_the_docstring(name: str, description: str, roles: set[str]) -> None:
    assert infer_roles(name, description) == roles


def test_target_is_the_resource_not_the_content() -> None:
    assert infer_target({"text": {"type": "string"}, "file_path": {"type": "string"}}) == "file_path"
    assert infer_target({"city": {"type": "string"}, "days": {"type": "integer"}}) == "city"
    assert infer_target({"n": {"type": "integer"}}) is None


def test_what_is_declared_overrules_what_is_inferred() -> None:
    parameters = {"properties": {"where": {"type": "string"}, "path": {"type": "string"}}}
    found = spec("zorp", "", parameters, {"roles": ["read"], "target": "where", "poll": True, "limit": 5})
    assert (set(found.roles), found.target, found.poll, found.limit) == ({"read"}, "where", True, 5.0)


def test_a_wrong_declaration_is_one_clear_error() -> None:
    with pytest.raises(Misuse, match=r"no role 'reed'\. Did you mean 'read'"):
        spec("zorp", "", {"properties": {}}, {"roles": ["reed"]})
    with pytest.raises(Misuse, match=r"no parameter 'pth'\. Did you mean 'path'"):
        spec("zorp", "", {"properties": {"path": {}}}, {"target": "pth"})
