"""The model of `brokernat.yaml`. The JSON Schema and the reference page are generated from it.

Sections are frozen and refuse unknown keys. This module checks each section alone; `checks.py` checks references
between sections (a pipeline that names a cluster), so one mistake does not hide another.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, model_validator

from brokernat.address import Endpoint
from brokernat.config.client_properties import ClientProperties
from brokernat.config.fields import (
    EVERY_TIME,
    Age,
    DataPath,
    Delimiter,
    Endpoints,
    Epoch,
    FunctionName,
    Interval,
    ListenEndpoint,
    MaybeEmpty,
    OptionText,
    Profile,
    Refresh,
    RegistryUrl,
    RuleField,
    SecretText,
    Share,
    Size,
    Topic,
)
from brokernat.config.problems import Fault, faults, raise_all
from brokernat.config.secrets import Secret
from brokernat.errors import Finding
from brokernat.text import seconds

NonEmpty = Annotated[str, Field(min_length=1)]
REGISTRY_LOGINS = ("basic.auth.user.info", "bearer.auth.token")


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KubectlSection(Section):
    """Where `kubectl port-forward` finds the brokers' pods."""

    namespace: NonEmpty | None = Field(None, description="The namespace of a bare service name; default: kubectl's.")
    context: NonEmpty | None = Field(None, description="The context of the kubeconfig; default: the current one.")


class TunnelSection(Section):
    """What opens one forward per broker from this machine; exactly one of `ssh`, `kubectl` and `via`."""

    ssh: NonEmpty | None = Field(None, description="The arguments of `ssh`: a host, `user@bastion`, options.")
    kubectl: KubectlSection | None = Field(
        None,
        description="`kubectl port-forward` to each broker's pod; `{}` for kubectl's default context and namespace.",
    )
    via: NonEmpty | None = Field(
        None, description="A command that opens one forward, with `{host}`, `{port}` and `{local}`, a port."
    )
    also: Endpoints = Field((), description="Further endpoints to forward, for example a schema registry.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.ssh, self.kubectl, self.via).count(None) != 2:
            hint = "write one of `ssh: user@bastion`, `kubectl: {namespace: kafka}` and `via: COMMAND`"
            raise faults([Fault(Finding("tunnel-way", "a tunnel has exactly one of `ssh`, `kubectl` and `via`", hint))])
        missing = [each for each in ("{host}", "{port}", "{local}") if self.via is not None and each not in self.via]
        if missing:
            hint = "such as `socat TCP-LISTEN:{local},bind=127.0.0.1,fork TCP:{host}:{port}`"
            raise faults(
                [Fault(Finding("bad-via", f"the command does not contain {', '.join(missing)}", hint), ("via",))]
            )
        return self


class ClusterSection(Section):
    """A Kafka cluster, as clients here must use it."""

    bootstrap_servers: Endpoints = Field(description="Endpoints that can be dialled from here: `host:port,host:port`.")
    address_map: tuple[RuleField, ...] | None = Field(
        None, description="Rules `advertised = reachable`, in order; the first match wins."
    )
    broker_nat: Endpoints | None = Field(
        None,
        description="Short form of a map: the advertised endpoint of the broker behind each bootstrap server, in the "
        "same order.",
    )
    unmapped: Literal["fail", "pass"] = Field(
        "fail", description="An advertised endpoint without a rule is refused (`fail`) or dialled unchanged (`pass`)."
    )
    profile: Profile = Field(
        "auto",
        description="The network latency, for the settings of Spark's clients: `wan` from a round trip of 10 ms on; "
        "`auto` measures it at `pipeline check` and `run`. `client` wins over each setting.",
    )
    client: ClientProperties = Field(
        default_factory=dict,
        description="Kafka client properties in Kafka's own names; `${env:NAME}` and `${file:PATH}`.",
    )
    tunnel: TunnelSection | None = Field(
        None, description="How this machine reaches the brokers; the commands that connect open it."
    )


class Source(Section):
    """Where records come from."""

    cluster: str = Field(description="The name of a cluster of this file.")
    topics: tuple[Topic, ...] = Field(min_length=1, description="The topics to read.")
    starting_offsets: Literal["earliest", "latest"] = Field(
        "earliest", description="Where a pipeline without a checkpoint starts."
    )
    min_partitions: int | None = Field(
        None,
        gt=0,
        description="Read with at least this many tasks, each with its own connection; a partition that several tasks "
        "read loses its order.",
    )
    max_offsets_per_trigger: int | None = Field(None, gt=0, description="At most this many records in one batch.")
    commit_group: NonEmpty | None = Field(
        None,
        description="A consumer group of the source cluster for which the offsets of each batch are committed, so "
        "that Kafka's own tools show the lag. The pipeline never reads them.",
    )


class Registry(Section):
    """A schema registry with Confluent's API."""

    url: RegistryUrl = Field(
        description="The URL of its API. The map and the tunnel of the source's cluster apply to its host and port."
    )
    client: ClientProperties = Field(
        default_factory=dict,
        description="The login in Confluent's names: `basic.auth.user.info` (`user:password`) or "
        "`bearer.auth.token`; `${env:NAME}` and `${file:PATH}`.",
    )

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        unknown = [name for name in self.client if name not in REGISTRY_LOGINS]
        known = " or ".join(f"`{name}`" for name in REGISTRY_LOGINS)
        if unknown:
            raise faults(
                Fault(Finding("unknown-property", f"a registry's `client` has no `{name}`", f"it takes {known}"),
                      ("client", name), key=True)
                for name in unknown
            )  # fmt: skip
        if len(self.client) > 1:
            raise faults([Fault(Finding("two-logins", "a registry has one login", f"keep {known}"), ("client",))])
        return self

    @property
    def endpoint(self) -> Endpoint:
        """The URL's host and port."""
        parts = urlsplit(self.url)
        return Endpoint(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))

    @property
    def authorization(self) -> Secret | None:
        """The value of HTTP's header of this name; None without a login."""
        for name, value in self.client.items():
            text = value.reveal() if isinstance(value, Secret) else value
            basic = name == "basic.auth.user.info"
            return Secret(f"Basic {base64.b64encode(text.encode()).decode()}" if basic else f"Bearer {text}")
        return None


class Decode(Section):
    """How the bytes of a record become columns."""

    format: Literal["json", "csv", "avro", "protobuf", "raw"] = Field(description="The format of the record's value.")
    ddl: NonEmpty | None = Field(
        None,
        alias="schema",
        description="`json`, `csv`: the columns as a Spark DDL string: `id STRING, amount DOUBLE`. `raw`: one column, "
        "`body BINARY` or `line STRING`.",
    )
    delimiter: Delimiter = Field(",", description="`csv`: the character between two fields.")
    schema_file: DataPath | None = Field(
        None,
        min_length=1,
        description="A file with the schema whose fields are the columns. `avro`: the Avro schema of a record "
        "(`.avsc`). `protobuf`: what `protoc --descriptor_set_out --include_imports` writes.",
    )
    message: NonEmpty | None = Field(
        None,
        description="`protobuf`: the full name of the message, such as `acme.Order`; default: the only one of the "
        "file.",
    )
    registry: Registry | None = Field(
        None,
        description="`avro`, `protobuf`: the registry of the schema ids with which records begin (Confluent's wire "
        "format). Without it all records are written with the schema of `schema_file` and have no id.",
    )
    subject: NonEmpty | None = Field(
        None,
        description="`avro`, `protobuf`, in place of `schema_file`: the subject of the registry whose newest schema "
        "defines the columns, requested at each start.",
    )
    on_unknown_schema: Literal["dead-letter", "stop"] | None = Field(
        None,
        description="With a registry: what happens to a record whose schema id is unknown; default: `dead-letter`. A "
        "registry that does not answer always stops the run.",
    )

    @model_validator(mode="after")
    def _keys_of_the_format(self) -> Self:
        given = {type(self).model_fields[name].alias or name for name in self.model_fields_set}
        needed = _NEEDED[self.format]
        if needed not in given and (needed != "schema_file" or self.subject is None):
            hint = f"`format: {self.format}` needs it"
            hint += ", or a `registry` and a `subject`" if needed == "schema_file" else ""
            raise faults([Fault(Finding("missing", f"`{needed}` is missing", hint), (needed,))])
        found = [
            Fault(
                Finding("other-format", f"`{key}` has no effect with `format: {self.format}`", "remove it"),
                (key,),
                key=True,
            )
            for key in sorted(given - {"format"} - _TAKEN[self.format])
        ]
        if self.registry is None and not found:
            found = _without_registry(given)
        if self.schema_file is not None and self.subject is not None and not found:
            found = [_two_schemas("subject")]
        if found:
            raise faults(found)
        return self


_NEEDED = {"json": "schema", "csv": "schema", "avro": "schema_file", "protobuf": "schema_file", "raw": "schema"}
_TAKEN = {
    "json": {"schema"},
    "csv": {"schema", "delimiter"},
    "avro": {"schema_file", "registry", "subject", "on_unknown_schema"},
    "protobuf": {"schema_file", "message", "registry", "subject", "on_unknown_schema"},
    "raw": {"schema"},
}
"""The keys of each format."""


def _without_registry(given: AbstractSet[str]) -> list[Fault]:
    hint = "add `registry: {url: 'http://HOST:8081'}`, or remove it"
    return [
        Fault(Finding("no-registry", f"`{key}` has no effect without a `registry`", hint), (key,), key=True)
        for key in sorted(given & {"subject", "on_unknown_schema", "register"})
    ]


def _two_schemas(key: str) -> Fault:
    message = "`schema_file` and `subject` exclude each other"
    return Fault(Finding("two-schemas", message, "remove one of them"), (key,), key=True)


class Enrich(Section):
    """One join with reference data."""

    reference: str = Field(description="The name of a reference of this pipeline.")
    key: NonEmpty = Field(description="The column that record and reference share.")
    columns: tuple[NonEmpty, ...] | None = Field(
        None, min_length=1, description="The reference's columns to add; default: all."
    )


class KafkaReference(Section):
    """A topic that is a table: of each key the newest value counts, and a record without a value removes its key."""

    cluster: str = Field(description="The name of a cluster of this file.")
    topic: Topic = Field(description="The topic; `cleanup.policy=compact` keeps the newest record of each key.")
    decode: Decode = Field(
        description="How to decode a value. A join key that is not a column is the text of the record's key."
    )


class JdbcReference(Section):
    """A table of a database, or what a query returns; exactly one of `table` and `query`."""

    url: SecretText = Field(description="For example `jdbc:postgresql://db:5432/crm`.")
    table: NonEmpty | None = Field(None, description="The table or view.")
    query: NonEmpty | None = Field(None, description="A SELECT.")
    user: SecretText | None = Field(None, description="The user.")
    password: SecretText | None = Field(None, description="The password: `${env:NAME}` or `${file:PATH}`.")
    driver: NonEmpty | None = Field(
        None,
        description="Maven coordinates of the driver's jar, or its class name if Spark has the jar; default for "
        "PostgreSQL, MySQL, MariaDB, SQL Server and Oracle: a tested driver.",
    )
    version: NonEmpty | None = Field(
        None,
        description="A query whose result changes when the rows change: `SELECT max(updated_at), count(*) FROM "
        "customers`. Without it all rows are read at each `refresh`.",
    )
    options: Annotated[Mapping[str, SecretText], MaybeEmpty] = Field(
        default_factory=dict, description="Options of Spark's JDBC source, and properties of the driver."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.table is None) is (self.query is None):
            hint = "write `table: customers` or `query: SELECT …`"
            raise faults([Fault(Finding("jdbc-rows", "`jdbc` has exactly one of `table` and `query`", hint))])
        return self


class CatalogReference(Section):
    """A table or view of a catalog that is configured in Spark."""

    table: NonEmpty = Field(description="The name, such as `warehouse.crm.customers`.")
    version: NonEmpty | None = Field(
        None,
        description="A Spark SQL query whose result changes when the rows change. Without it the table's files are "
        "compared; of a table without files, such as a view, all rows are read at each `refresh`.",
    )


_SOURCES = ("path", "kafka", "jdbc", "catalog")
_REFRESH_OF_SERVERS = "1 minute"


class Reference(Section):
    """Data that records are joined with; exactly one of `path` (files), `kafka`, `jdbc` and `catalog`."""

    format: Literal["csv", "json", "parquet"] | None = Field(None, description="The format of the files.")
    path: DataPath | None = Field(
        None, min_length=1, description="A file or a folder, relative to this file, or a URI that Spark reads."
    )
    kafka: KafkaReference | None = Field(None, description="A compacted topic.")
    jdbc: JdbcReference | None = Field(None, description="A table of a database.")
    catalog: CatalogReference | None = Field(None, description="A table of a Spark catalog.")
    options: Annotated[Mapping[str, OptionText], MaybeEmpty] = Field(
        default_factory=dict, description="Of files: options of Spark's reader."
    )
    ddl: NonEmpty | None = Field(None, alias="schema", description="Of files: the columns as a Spark DDL string.")
    refresh: Refresh | None = Field(
        None,
        description="When the source is checked for a new version: `every_batch`, `never` (only at each start), or at "
        "most once per interval, such as `5 minutes`. Default: `every_batch` for files, else `1 minute`. `mode: "
        "realtime` has `every_epoch`: the query restarts after its epoch.",
    )
    duplicates: Literal["fail", "first", "last"] = Field(
        "fail",
        description="What to do with duplicate keys. Rows of a database and a catalog have no order, so `first` and "
        "`last` do not work there.",
    )
    version_column: NonEmpty | None = Field(
        None, description="The name of a column that the join adds to every tag: the version of the reference."
    )
    max_age: Age | None = Field(
        None,
        description="The maximum time since the newest file was written, or since another source was last reached; "
        "default: unlimited.",
    )
    stale: Literal["fail", "warn"] = Field(
        "fail", description="What to do if the reference is older than `max_age`: stop the run, or log a warning."
    )

    @property
    def refresh_seconds(self) -> float | None:
        """The shortest time between two looks at the source; None where it is looked at when the run starts alone."""
        refresh = self.refresh or ("every_batch" if self.path else _REFRESH_OF_SERVERS)
        if refresh == "never":
            return None
        return 0 if refresh in EVERY_TIME else seconds(refresh)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(f"`{name}`" for name in given) or "none"
            hint = "write one of `path: customers.csv`, `kafka: {…}`, `jdbc: {…}` and `catalog: {…}`"
            message = f"a reference has exactly one of `path`, `kafka`, `jdbc` and `catalog`, not {found}"
            raise faults([Fault(Finding("reference-source", message, hint))])
        (source,) = given
        raise_all(self._misfits(source))
        return self

    def _misfits(self, source: str) -> Iterator[Fault]:
        if source == "path" and self.format is None:
            yield Fault(Finding("missing", "`format` is missing", "write `format: csv`, `json` or `parquet`"))
        for name, key in (("format", "format"), ("options", "options"), ("ddl", "schema")):
            if source != "path" and getattr(self, name):
                message = f"`{key}` is for files, but this reference is `{source}`"
                yield Fault(Finding("reference-option", message, "remove it"), (key,), key=True)
        if source in ("jdbc", "catalog") and self.duplicates != "fail":
            message = f"`duplicates: {self.duplicates}` needs ordered rows, which `{source}` does not have"
            hint = "choose one row per key in a query or a view"
            yield Fault(Finding("reference-option", message, hint), ("duplicates",))
        if source != "path" and self.max_age and self.refresh_seconds and seconds(self.max_age) <= self.refresh_seconds:
            message = f"`max_age: {self.max_age}` ends before the next check of `{source}`"
            hint = "set it to several times `refresh` (default `1 minute`)"
            yield Fault(Finding("reference-option", message, hint), ("max_age",))


class Encode(Section):
    """How to encode the value of a tag."""

    format: Literal["avro", "protobuf"] = Field(description="The format of a tag's value; without `encode` it is JSON.")
    schema_file: DataPath | None = Field(
        None,
        min_length=1,
        description="A file with the schema of a tag, as in `decode`; its fields are the columns of tags. With "
        "`format: protobuf` and a registry the schema is the newest of the subject.",
    )
    message: NonEmpty | None = Field(None, description="`protobuf`: the full name of the message, as in `decode`.")
    registry: Registry | None = Field(
        None,
        description="The registry of the schema; tags then begin with its id (Confluent's wire format). The map and "
        "the tunnel of the sink's cluster apply to its host and port.",
    )
    subject: NonEmpty | None = Field(
        None, description="The subject of the schema in the registry; default: the topic and `-value`."
    )
    register_schema: bool = Field(
        False, alias="register", description="`avro`: register the schema if the subject does not have it."
    )

    @model_validator(mode="after")
    def _keys_of_the_format(self) -> Self:
        given = {type(self).model_fields[name].alias or name for name in self.model_fields_set}
        found = [] if self.registry else _without_registry(given)
        if self.format == "avro" and self.message is not None:
            problem = Finding("other-format", "`message` has no effect with `format: avro`", "remove it")
            found.append(Fault(problem, ("message",), key=True))
        if self.format == "protobuf" and self.register_schema and not found:
            hint = "register the `.proto` file where it is built, and remove `register`"
            problem = Finding("not-registering", "registering a Protobuf schema is not supported", hint)
            found.append(Fault(problem, ("register",)))
        if self.takes_subject and self.schema_file is not None and not found:
            found.append(_two_schemas("schema_file"))
        if not self.takes_subject and self.schema_file is None and not found:
            problem = Finding("missing", "`schema_file` is missing", f"`format: {self.format}` needs it")
            found.append(Fault(problem, ("schema_file",)))
        if found:
            raise faults(found)
        return self

    @property
    def takes_subject(self) -> bool:
        """Whether tags have the schema that the subject has, and not that of a file."""
        return self.format == "protobuf" and self.registry is not None


class Sink(Section):
    """Where records go."""

    cluster: str = Field(description="The name of a cluster of this file.")
    topic: Topic = Field(description="The topic to write.")
    key: NonEmpty | None = Field(
        None, description="The column that becomes the record's key; default: the source record's key."
    )
    encode: Encode | None = Field(None, description="The format of tags; default: JSON.")
    dead_letters: Topic = Field(description="The topic for records that cannot be decoded or lack their reference.")
    dead_letter_limit: Share | None = Field(
        None,
        description="Stop when more than this share of the last records became dead letters, such as `5% of 10000`; "
        "default: never.",
    )


class PipelineSection(Section):
    """From a topic to a topic: decode, enrich, transform."""

    source: Source
    decode: Decode
    enrich: tuple[Enrich, ...] = Field((), description="Joins, in order.")
    references: Annotated[Mapping[str, Reference], MaybeEmpty] = Field(
        default_factory=dict, description="Reference data by name."
    )
    transform: FunctionName | None = Field(None, description="`module:function`, DataFrame -> DataFrame.")
    sink: Sink
    checkpoint: DataPath = Field(min_length=1, description="A folder for Spark's progress, relative to this file.")
    mode: Literal["micro-batch", "realtime"] = Field(
        "micro-batch",
        description="`realtime` writes each record when it arrives (Spark 4.1 or newer, one task slot per partition).",
    )
    trigger_interval: Interval | None = Field(
        None, description="The time between the starts of two batches; default: as soon as the last has ended."
    )
    epoch: Epoch = Field(
        "2 minutes",
        description="`mode: realtime`: how often progress is committed; a crash repeats at most this much.",
    )
    retry_for: Age = Field(
        "10 minutes",
        description="How long a batch is retried while brokers are unavailable or reject it, before the run ends.",
    )
    status: ListenEndpoint | None = Field(
        None,
        description="The address of the status page, metrics and health check: `host:port`, or a port of 127.0.0.1. "
        "Everybody who can connect can read dead letters.",
    )
    stalled_after: Age = Field(
        "5 minutes",
        description="A run is unhealthy after this time without progress of a batch; `mode: realtime` adds one "
        "`epoch`.",
    )


class ShippingSection(Section):
    """Lines of files to a topic: what `brokernat ship NAME` does."""

    cluster: str = Field(description="The name of a cluster of this file.")
    topic: Topic = Field(description="The topic to ship to.")
    spool: DataPath = Field(
        min_length=1, description="A folder where records wait, on a local disk, relative to this file."
    )
    max_spool: Size = Field(1 << 30, description="Records that the spool may hold: bytes, or `512M`, `2G`.")
    files: tuple[DataPath, ...] = Field(
        (), description="Files, folders or patterns, relative to this file; without any only the spool is sent."
    )
    from_beginning: bool = Field(False, description="At the first start read files from their beginning.")
    durable: bool = Field(False, description="Accepted records survive a power cut; costs an fsync per block.")


class ConfigFile(Section):
    """The whole file."""

    clusters: Mapping[str, ClusterSection] = Field(min_length=1, description="Kafka clusters by name.")
    pipelines: Annotated[Mapping[str, PipelineSection], MaybeEmpty] = Field(
        default_factory=dict, description="Spark pipelines by name."
    )
    shipping: Annotated[Mapping[str, ShippingSection], MaybeEmpty] = Field(
        default_factory=dict, description="What `brokernat ship` sends, by name."
    )


class Pipeline(PipelineSection):
    """A pipeline with the name that it has in the file."""

    name: str


_HEAD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "brokernat.yaml",
    "description": "Kafka clusters with their address maps, and the pipelines that use them.",
}


def json_schema() -> str:
    """The schema as text with a line end."""
    schema = ConfigFile.model_json_schema(by_alias=True, mode="validation")
    schema["$defs"] = {name.removesuffix("Section"): definition for name, definition in schema["$defs"].items()}
    text = json.dumps(
        _without_titles(_HEAD | {key: value for key, value in schema.items() if key not in _HEAD}), indent=2
    )
    return text.replace('Section"', '"') + "\n"


def _without_titles(node: object, *, names: bool = False) -> object:
    """Removes pydantic's titles, which repeat the names, but not a property named `title`."""
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_titles(value, names=key in ("properties", "$defs"))
        for key, value in node.items()
        if names or key != "title" or value == _HEAD["title"]
    }
