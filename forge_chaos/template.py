"""`{{ name }}` in prompts, graders and files: filled in with the values drawn from the seed.

Jinja2 with undefined names as errors: a scenario that silently asked for an empty number would be
solved by nobody and judged as if it could be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from forge_chaos.errors import Misuse, unknown

if TYPE_CHECKING:
    from jinja2 import Environment

_ALONE = re.compile(r"\s*\{\{((?:(?!\}\}).)*)\}\}\s*", re.S)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    return Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)


def filled(source: str, values: Mapping[str, Any], where: str, line: int | None = None) -> str:
    """`source` with its templates filled in.

    `where` is the place that a complaint names; with `line` it is a file, and the line inside the
    template is added to it. Raises Misuse for bad syntax and for a name that `values` does not draw.
    """
    if "{" not in source:
        return source
    from jinja2 import TemplateError, TemplateSyntaxError

    try:
        return _environment().from_string(source).render(values)
    except TemplateSyntaxError as error:
        raise Misuse(f"{_place(where, line, error.lineno)}: bad template: {error.message}") from None
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise _complaint(error, values, _place(where, line, _line(error))) from None


def deep(value: Any, values: Mapping[str, Any], where: str, *, native: bool) -> Any:
    """`value` with every string inside filled in.

    With `native`, a string that is nothing but one `{{ expression }}` becomes the value itself, so
    that a count stays a number.
    """
    if isinstance(value, str):
        alone = _ALONE.fullmatch(value) if native else None
        return _evaluated(alone[1], values, where) if alone else filled(value, values, where)
    if isinstance(value, list):
        return [deep(item, values, where, native=native) for item in value]
    if isinstance(value, dict):
        return {
            filled(key, values, where): deep(item, values, where, native=native)
            for key, item in value.items()
        }
    return value


def _evaluated(expression: str, values: Mapping[str, Any], where: str) -> Any:
    from jinja2 import TemplateError, Undefined

    try:
        found = _environment().compile_expression(expression.strip(), undefined_to_none=False)(values)
        return str(found) if isinstance(found, Undefined) else found  # which raises what a template would
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise _complaint(error, values, where) from None


def _complaint(error: Exception, values: Mapping[str, Any], where: str) -> Misuse:
    undefined = re.match(r"'(\w+)' is undefined", str(error))
    if undefined:
        return unknown("value", undefined[1], values, where, "values(rng) in solution.py draws them")
    return Misuse(f"{where}: cannot be filled in: {type(error).__name__}: {error}")


def _place(where: str, line: int | None, inside: int) -> str:
    return where if line is None else f"{where}:{line + inside - 1}"


def _line(error: BaseException) -> int:
    """The template's line at which rendering failed."""
    line, frame = 1, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "<template>":
            line = frame.tb_lineno
        frame = frame.tb_next
    return line
