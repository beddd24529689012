"""The formats of a record's value: each decodes a BINARY column to a struct of fault and columns, which `decode` adds
to the envelope. A value without the declared type is a fault.

`native/spark-functions` has a `Decoder` for each format. The settings of a decoder are in the name of the function, by
which Spark binds it. Spark shows these names, so a name contains only an id of the registry, which the driver's JVM
assigns, and not the login.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brokernat.clients.spark import check_schema
from brokernat.clients.spark import decode as json
from brokernat.clients.spark.functions import FAULT, call, check_names, time_zone
from brokernat.config import Cluster, Secret
from brokernat.config.model import Decode, Encode
from brokernat.config.model import Registry as RegistrySection
from brokernat.config.record_schema import quoted
from brokernat.errors import ConfigError, Finding
from brokernat.pipelines.root_cause import root_cause
from brokernat.pipelines.steps.envelope import COORDINATES, VALUE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField, StructType

    ValueFormat = Callable[[Column, StructType, SparkSession], Column]
    """A function of the value (BINARY), the columns and the session; returns a struct like `clients.spark.decode`."""
    TagFormat = Callable[[Column, Sequence[StructField], SparkSession], Column]
    """A function of a struct of a tag's columns, these columns and the session; returns the value (BINARY)."""

_NO_REGISTRY = "none"
_DECODED = "brokernat_decoded"


@dataclass(frozen=True, slots=True)
class Registry:
    """A schema registry as executors use it. `address` is dialled in place of the URL's host and port."""

    url: str
    address: str | None = None
    authorization: Secret | None = None
    stops_on_unknown: bool = False

    @classmethod
    def of(cls, section: RegistrySection, cluster: Cluster, *, stops_on_unknown: bool = False) -> Registry:
        """The registry of a section, dialled through the map and the tunnel of a cluster."""
        reached = cluster.reachable(section.endpoint)
        address = None if reached == section.endpoint else str(reached)
        return cls(section.url, address, section.authorization, stops_on_unknown)

    def name_in(self, spark: SparkSession) -> str:
        """The id of this registry in the session's JVM, for names of functions."""
        login = self.authorization.reveal() if self.authorization else None
        return str(_java(spark).add(self.url, self.address, login, self.stops_on_unknown))

    def id_of(self, schema: str, subject: str, spark: SparkSession, *, register: bool) -> int:
        """The id of an Avro schema in a subject.

        Raises:
            ConfigError: the registry does not answer, refuses the schema, or does not have it.
        """
        from py4j.protocol import Py4JJavaError

        try:
            found = _java(spark).idOf(self.name_in(spark), subject, schema, register)
        except Py4JJavaError as error:
            raise _registry_error(error) from None
        if found is None:
            message = f"the subject `{subject}` of the schema registry {self.url} does not have the schema"
            raise ConfigError(Finding("not-registered", message, "register it, or write `register: true`"))
        return int(found)

    def newest(self, subject: str, section: Decode | Encode, spark: SparkSession) -> tuple[str, int]:
        """The newest schema of a subject in the format of a section, as `schema_of_text` reads it, and its id.

        Raises:
            ConfigError: the registry does not answer, has no such subject, or a schema of another kind.
        """
        from py4j.protocol import Py4JJavaError

        try:
            found = _java(spark).newest(self.name_in(spark), subject, section.format.upper(), section.message)
        except Py4JJavaError as error:
            raise _registry_error(error) from None
        if found is None:
            hint = f"correct `subject`; {self.url}/subjects lists those that exist"
            message = f"the schema registry {self.url} has no subject `{subject}`"
            raise ConfigError(Finding("no-subject", message, hint))
        return str(found[1]), int(found[0])


def _registry_error(error: Exception) -> ConfigError:
    return ConfigError(Finding("registry", root_cause(error), "check `url` and `client` of the registry's section"))


def _java(spark: SparkSession) -> Any:
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - PySpark has no public access to py4j
    return jvm.io.brokernat.spark.Registry


@dataclass(frozen=True, slots=True)
class SchemaValues:
    """Records of a schema, after Confluent's schema id if there is a registry.

    `format` is `avro`, and `schema` the text of an Avro schema; or `protobuf`, and the JSON that
    `config/protobuf_schema.py` describes.
    """

    format: str
    schema: str
    registry: Registry | None = None

    def __call__(self, value: Column, columns: StructType, spark: SparkSession) -> Column:
        check_names(columns)
        name = self.registry.name_in(spark) if self.registry else _NO_REGISTRY
        return call(spark, "decode", (self.format, name, self.schema, columns.json()), value)


@dataclass(frozen=True, slots=True)
class Csv:
    """One line of CSV, its fields in the order of the columns."""

    delimiter: str = ","

    def __call__(self, value: Column, columns: StructType, spark: SparkSession) -> Column:
        check_schema(columns)
        nested = {"array", "map", "struct", "variant"}
        problems = [
            Finding("unreadable-type", f"field `{field.name}`: {field.dataType.simpleString()} cannot be read from CSV")
            for field in columns
            if field.dataType.typeName() in nested
        ]
        if problems:
            raise ConfigError(*problems)
        return call(spark, "decode", ("csv", time_zone(spark), self.delimiter, columns.json()), value)


def raw(value: Column, columns: StructType, spark: SparkSession) -> Column:
    """The unchanged value in one column: BINARY, or STRING in UTF-8."""
    from pyspark.sql.types import BinaryType, StringType

    if [field.dataType for field in columns] not in ([BinaryType()], [StringType()]):
        hint = "for example `body BINARY`, or `line STRING` for UTF-8"
        raise ConfigError(Finding("not-one-column", "`format: raw` has one column, of BINARY or STRING", hint))
    check_names(columns)
    return call(spark, "decode", ("raw", columns.json()), value)


@dataclass(frozen=True, slots=True)
class SchemaTags:
    """Tags as records of a schema, after the schema's id if there is a registry; `format` and `schema` as above."""

    format: str
    schema: str
    columns: StructType
    schema_id: int | None = None

    def __call__(self, content: Column, tags: Sequence[StructField], spark: SparkSession) -> Column:
        """The BINARY of a struct of a tag's columns.

        Raises:
            ConfigError: tags have other columns than the schema, or other types.
        """
        wanted = {field.name: _nullable(field.dataType) for field in self.columns}
        found = {field.name: _nullable(field.dataType) for field in tags}
        problems = [
            Finding(
                "other-columns",
                f"sink.encode: column `{name}` is {_shown(found, name)}, but {_shown(wanted, name)} in the schema",
            )
            for name in dict.fromkeys((*wanted, *found))
            if found.get(name) != wanted.get(name)
        ]
        if problems:
            raise ConfigError(*problems)
        schema_id = _NO_REGISTRY if self.schema_id is None else str(self.schema_id)
        return call(spark, "encode", (self.format, schema_id, self.schema), content)


def _shown(types: Mapping[str, DataType], name: str) -> str:
    return types[name].simpleString().upper() if name in types else "not there"


def _nullable(declared: DataType) -> DataType:
    """A type without NOT NULL, because null values are detected when they are written."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    match declared:
        case StructType():
            return StructType([StructField(field.name, _nullable(field.dataType)) for field in declared])
        case ArrayType():
            return ArrayType(_nullable(declared.elementType))
        case MapType():
            return MapType(_nullable(declared.keyType), _nullable(declared.valueType))
    return declared


def decode(envelope: DataFrame, schema: StructType, value_format: ValueFormat = json) -> DataFrame:
    """Add `brokernat_fault` and one column per field of the schema.

    Raises:
        ConfigError: the schema has a type that the format does not support, or a reserved name.
    """
    from pyspark.sql import functions as F  # noqa: N812

    # A separate step, because Spark would compute an expression again for each column that uses it.
    decoded = envelope.withColumn(_DECODED, value_format(F.col(VALUE), schema, envelope.sparkSession))
    return decoded.select(
        COORDINATES,
        VALUE,
        F.col(f"{_DECODED}.{FAULT}").alias(FAULT),
        *(F.col(f"{_DECODED}.{quoted(name)}").alias(name) for name in schema.fieldNames()),
    )
