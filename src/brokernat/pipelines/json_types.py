"""Does a JSON value have the declared type? Asked of a VARIANT, which still knows the tokens; answered with a sentence.

Strict where `from_json` and casts are generous, because a generous reading is a wrong tag that nobody notices:
a number is not a STRING, a quoted number is not a number, seconds and milliseconds are not a TIMESTAMP, a value that
does not fit is not rounded or cut. A null or a missing field is well unless the schema says NOT NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

_NUMBER = ("BIGINT", "DECIMAL(", "DOUBLE", "FLOAT")

TOKENS: Mapping[str, tuple[str, ...]] = {
    "string": ("STRING",),
    "boolean": ("BOOLEAN",),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), ("BIGINT",)),
    **dict.fromkeys(("float", "double", "decimal"), _NUMBER),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), ("STRING",)),
    **dict.fromkeys(("struct", "map"), ("OBJECT<",)),
    "array": ("ARRAY<",),
}
"""Type name -> how `schema_of_variant` may describe a token of it; an open bracket means "begins with"."""

ANY = "variant"
"""The type for a field that may hold anything."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value in three readings, which may be columns or expressions.

    `raw` is the VARIANT, null where the field is missing; `shape` what `schema_of_variant` says of it; `read` the value
    as the declared type, null where that is not possible.
    """

    raw: Column
    shape: Column
    read: Column

    @classmethod
    def at(cls, variant: Column, path: str, declared: DataType) -> Self:
        from pyspark.sql import functions as F  # noqa: N812

        raw = F.try_variant_get(variant, path, "variant")
        return cls(raw, F.schema_of_variant(raw), F.try_variant_get(variant, path, declared.simpleString()))


def unreadable(declared: DataType) -> str | None:
    """The part of a declared type that JSON values cannot be held against, None where all of it can."""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    match declared:
        case StructType():
            return next((bad for field in declared if (bad := unreadable(field.dataType))), None)
        case ArrayType():
            return unreadable(declared.elementType)
        case MapType():
            return unreadable(declared.valueType) if isinstance(declared.keyType, StringType) else _sql(declared)
    return None if _name(declared) in TOKENS or _name(declared) == ANY else _sql(declared)


def member(name: str, parent: str = "$") -> str:
    """The path of a member. Names are quoted: a blank or a dot in one is part of the name."""
    return f"{parent}['{name}']"


def mismatch(value: Value, declared: DataType, label: str, *, nullable: bool = True) -> Column:
    """What a value should have been, naming the field; null where it has its type.

    The sentence is a literal: what was found is told once for the record, by the caller, or the generated code of a
    wide schema would grow past what a Java method may hold.

    Args:
        label: how the sentence names the field: `address.city`, `items[].price`.
    """
    from pyspark.sql import functions as F  # noqa: N812

    if _name(declared) == ANY and nullable:
        return F.lit(None).cast("string")
    absent = F.lit(None).cast("string") if nullable else F.lit(f"field `{label}`: expected a value (NOT NULL)")
    verdict = F.when(value.shape.isNull() | (value.shape == "VOID"), absent)
    if _name(declared) == ANY:
        return verdict
    expected = F.lit(f"field `{label}`: expected {_sql(declared)}")
    return verdict.when(~_describes(value.shape, TOKENS[_name(declared)]), expected).otherwise(
        _inside(value, declared, label, expected)
    )


def _inside(value: Value, declared: DataType, label: str, expected: Column) -> Column:
    """For a value whose token is right: what is wrong with its parts or with its size."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import ArrayType, MapType, StructType

    def part(of: Column, path: str, part_type: DataType, part_label: str, *, nullable: bool = True) -> Column:
        return mismatch(Value.at(of, path, part_type), part_type, part_label, nullable=nullable)

    def first_wrong(elements: Column, element_type: DataType) -> Column:
        wrong = F.transform(elements, lambda element: part(element, "$", element_type, f"{label}[]"))
        return F.get(F.filter(wrong, lambda sentence: sentence.isNotNull()), F.lit(0))

    match declared:
        case StructType():
            parts = (
                part(value.raw, member(f.name), f.dataType, f"{label}.{f.name}", nullable=f.nullable) for f in declared
            )
            return F.coalesce(F.lit(None).cast("string"), *parts)
        case ArrayType():
            return first_wrong(F.try_variant_get(value.raw, "$", "array<variant>"), declared.elementType)
        case MapType():
            values = F.map_values(F.try_variant_get(value.raw, "$", "map<string,variant>"))
            return first_wrong(values, declared.valueType)
    return F.when(~_fits(value, declared), expected)


def _fits(value: Value, declared: DataType) -> Column:
    """Whether a scalar can be read as its type without losing any of it."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import DecimalType

    name = _name(declared)
    if name in ("string", "boolean", ANY):
        return F.lit(True)
    if name in ("float", "double"):
        return F.coalesce(F.abs(value.read) < float("inf"), F.lit(False))
    if name in ("date", "timestamp", "timestamp_ntz"):
        # Casting is generous: "2026" is a date to it, and "12:30" is half past twelve of whatever day it is now.
        text = F.try_variant_get(value.raw, "$", "string")
        return value.read.isNotNull() & (F.substring(text, 5, 1) == "-") & (F.substring(text, 8, 1) == "-")
    if isinstance(declared, DecimalType):
        # A decimal that has too many places is rounded by the cast.
        wide = F.try_variant_get(value.raw, "$", f"decimal(38,{min(38, declared.scale + 18)})")
        return value.read.isNotNull() & F.coalesce(value.read == wide, F.lit(True))
    return value.read.isNotNull()


def _describes(found: Column, tokens: tuple[str, ...]) -> Column:
    return reduce(or_, (found.startswith(t) if t[-1] in "<(" else found == t for t in tokens))


def _name(declared: DataType) -> str:
    return declared.simpleString().partition("(")[0].partition("<")[0]


def _sql(declared: DataType) -> str:
    """The type as a schema writes it; of a struct, an array or a map only which of them it is."""
    text = declared.simpleString()
    return text.partition("<")[0].upper()
