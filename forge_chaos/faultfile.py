"""`faults/<class>.toml` -> Fault: what users write, checked at the edge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from forge_chaos import registry, tomlfile
from forge_chaos.errors import Misuse, unknown
from forge_chaos.nouns import Bar, Family, Fault, Lasts, Role, Seam, Variant

ID = re.compile(r"[a-z0-9_]+")


def _id(value: str) -> str:
    if not ID.fullmatch(value):
        raise ValueError("must be made of a-z, 0-9 and _")
    return value


class BarTable(BaseModel):
    model_config = ConfigDict(extra="forbid")
    once: Bar | None = None
    burst: Bar | None = None
    ever: Bar | None = None

    def stated(self) -> dict[Lasts, Bar]:
        pairs: tuple[tuple[Lasts, Bar | None], ...] = (
            ("once", self.once),
            ("burst", self.burst),
            ("ever", self.ever),
        )
        return {lasts: bar for lasts, bar in pairs if bar is not None}


class VariantTable(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, AfterValidator(_id)]
    mechanism: str
    explicit: bool = True
    lasts: Annotated[list[Lasts], Field(min_length=1)] = ["once", "ever"]
    heal: Annotated[float, Field(gt=0)] | None = None
    params: dict[str, Any] = {}
    text: dict[Literal["clear", "bare", "misleading"], str] = {}
    needs: list[str] = []
    roles: list[Role] = []
    refuses: Literal["command", "effect"] | None = None
    seam: Seam | None = None
    bar: BarTable = BarTable()


class FaultTable(BaseModel):
    model_config = ConfigDict(extra="forbid")
    family: Family
    seam: Seam
    summary: Annotated[str, Field(min_length=1)]
    tempts: Annotated[str, Field(min_length=1)]
    roles: list[Role] = []
    convicts: list[str] = []
    bar: BarTable = BarTable()
    variants: Annotated[list[VariantTable], Field(min_length=1)]


def fault(path: Path) -> Fault:
    """The fault class that a file describes; its id is the file's name.

    `bar` may be left out: it is looked up only where no expert can play. Raises Misuse with file and
    line for a key, a mechanism or a parameter that does not exist, and for two variants of one name.
    """
    if not ID.fullmatch(path.stem):
        raise Misuse(f"{path}: a fault's name must be made of a-z, 0-9 and _ (it is {path.stem!r}).")
    document = tomlfile.read(path)
    table = tomlfile.checked(document, FaultTable, "forge-chaos show missing_file")
    variants: list[Variant] = []
    for n, row in enumerate(table.variants):
        if any(variant.id == row.id for variant in variants):
            raise Misuse(f"{document.where('variants', n, 'id')}: variant {row.id!r} stands here twice.")
        variants.append(_variant(document, n, row, table.family))
    return Fault(
        id=path.stem,
        family=table.family,
        seam=table.seam,
        summary=table.summary,
        tempts=table.tempts,
        roles=tuple(table.roles),
        convicts=tuple(table.convicts),
        bar=table.bar.stated(),
        variants=tuple(variants),
    )


def _variant(document: tomlfile.Document, n: int, row: VariantTable, family: Family) -> Variant:
    at = ("variants", n)
    if row.mechanism not in registry.names("mechanisms"):
        raise unknown(
            "mechanism",
            row.mechanism,
            registry.names("mechanisms"),
            document.where(*at, "mechanism"),
            "forge-chaos list mechanisms",
        )
    if (row.refuses is None) == (family == "refusal"):
        raise Misuse(
            f"{document.where(*at, 'refuses' if row.refuses else 'id')}: variant {row.id!r}: a variant of family "
            f'"refusal", and no other, says refuses = "command" or "effect" (family is "{family}").'
        )
    return Variant(
        id=row.id,
        mechanism=row.mechanism,
        explicit=row.explicit,
        lasts=tuple(row.lasts),
        heal=row.heal,
        params=params(document, (*at, "params"), "mechanisms", row.mechanism, row.params),
        text={str(kind): wording for kind, wording in row.text.items()},
        needs=tuple(row.needs),
        roles=tuple(row.roles),
        refuses=row.refuses,
        seam=row.seam,
        bar=row.bar.stated(),
    )


def params(
    document: tomlfile.Document, at: tomlfile.Loc, package: str, name: str, given: dict[str, Any]
) -> dict[str, Any]:
    """`registry.params`, its complaint put at the line of the key that it names."""
    try:
        return registry.params(package, name, given)
    except Misuse as error:
        key = next((key for key in given if repr(key) in str(error)), None)
        where = document.where(*at) if key is None else document.where(*at, key)
        raise Misuse(f"{where}: {error}") from None
