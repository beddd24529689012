"""The functions of `native/spark-functions` as columns; `decode` parses JSON strictly, in one pass in the JVM.

They are functions of a catalog (SPARK-27658), so PySpark calls them by name, without converting values. A function's
settings are part of its name, because Spark binds a function only to the types of its arguments.

`from_json` is not used. Measured on Spark 4.3 it turns `"amount": "x"` into null, reads 1500000000000 as a TIMESTAMP of
the year 49503, makes the STRING `12` of the number 12, accepts `{'a': 1}`, `{"a": 1} rubbish` and the second of two
equal names; its corrupt-record column names no field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.clients.spark.session import class_visible
from brokernat.clients.spark.settings import CATALOG, CATALOG_KEY, FUNCTIONS_CLASS
from brokernat.config.record_schema import quoted
from brokernat.errors import ConfigError, Finding, MissingToolError

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import DataType, StructType

FAULT = "brokernat_fault"
RESERVED_PREFIX = "brokernat_"
_SCALARS = {"bigint", "boolean", "date", "decimal", "double", "float", "int", "smallint", "string", "timestamp"}
_SCALARS |= {"timestamp_ntz", "tinyint", "variant"}


def call(spark: SparkSession, function: str, settings: tuple[str, ...], *arguments: Column) -> Column:
    """The column that a function of `brokernat-spark.jar` computes from the arguments.

    Raises:
        MissingToolError: the session has started without the jar.
    """
    from pyspark.sql import functions as F  # noqa: N812

    if spark.conf.get(CATALOG_KEY, None) != FUNCTIONS_CLASS:
        _require_functions(spark, function)
        spark.conf.set(CATALOG_KEY, FUNCTIONS_CLASS)
    return F.call_function(".".join((CATALOG, function, *map(quoted, settings))), *arguments)


def time_zone(spark: SparkSession) -> str:
    """The session's time zone, for functions that read or write times."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None  # noqa: S101 - it has a default
    return zone


def _require_functions(spark: SparkSession, function: str) -> None:
    """Check that the class exists. A Connect client cannot check it: there, Spark's error names the missing class."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is not None and not class_visible(jvm, FUNCTIONS_CLASS):
        raise MissingToolError(
            f"this Spark session has no `{function}`: its JVM has started without brokernat-spark.jar",
            hint="call configure(builder, clusters) before the session starts, or name the jar in `spark.jars`: "
            "`brokernat spark-packages` prints its path",
        )


def decode(value: Column, schema: StructType, spark: SparkSession | None = None) -> Column:
    """Decode the JSON in a BINARY column.

    A field may be missing or null unless the schema has NOT NULL; names that are not in the schema are ignored. A
    TIMESTAMP without an offset is in the session's time zone.

    Args:
        value: BINARY, one JSON object in UTF-8 per row, such as the `value` of Spark's Kafka source.
        schema: a field per column. All of Spark's types except BINARY, intervals and maps with keys other than STRING.
        spark: the session of the frame; the active one by default.

    Returns:
        A struct of `brokernat_fault` (struct<kind: STRING, message: STRING>, null for a valid record) and the
        fields of the schema, all null with a fault. Kinds: Tombstone (no value), MalformedValue (not JSON, not
        UTF-8, a name twice, text after the object), WrongType (the message has the field, the type and the value).

    Raises:
        ConfigError: a type that cannot be parsed from JSON, or a field whose name begins with `brokernat_`.
        MissingToolError: the session has started without `brokernat-spark.jar`.
    """
    from pyspark.sql import SparkSession

    check_schema(schema)
    spark = spark or SparkSession.active()
    return call(spark, "decode", ("json", time_zone(spark), schema.json()), value)


def check_schema(schema: StructType) -> None:
    """Raise ConfigError, with all problems, for a schema that `decode` does not support."""
    problems = [
        Finding("unreadable-type", f"field `{field.name}`: {bad} cannot be read from JSON", "use STRING or VARIANT")
        for field in schema
        if (bad := _unreadable(field.dataType))
    ]
    if problems := [*problems, *_reserved(schema)]:
        raise ConfigError(*problems)


def check_names(schema: StructType) -> None:
    """Raise ConfigError for fields with reserved names of a pipeline."""
    if problems := _reserved(schema):
        raise ConfigError(*problems)


def _reserved(schema: StructType) -> list[Finding]:
    return [
        Finding("reserved-name", f"field `{name}`: names that begin with `{RESERVED_PREFIX}` are reserved")
        for name in schema.fieldNames()
        if name.startswith(RESERVED_PREFIX)
    ]


def _unreadable(declared: DataType) -> str | None:
    """The part of a type that cannot be parsed from JSON; None if all of it can."""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    match declared:
        case StructType():
            return next((bad for field in declared if (bad := _unreadable(field.dataType))), None)
        case ArrayType():
            return _unreadable(declared.elementType)
        case MapType() if isinstance(declared.keyType, StringType):
            return _unreadable(declared.valueType)
    # A STRING with a collation has another type name.
    name = declared.simpleString().partition("<")[0]
    return None if name.partition("(")[0] in _SCALARS else name.upper()
