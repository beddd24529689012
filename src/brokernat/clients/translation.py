"""Translates the `client:` section to a library's property names, by a table for each library.

`brokernat.yaml` has Kafka's names. A table maps each to the library's name and a converter for its value, or has the
reason why the library lacks it. A property that is not in the table is an error, because without a security setting the
connection may be insecure. All problems are raised together, and messages contain no secrets.

Stores and logins have another form in Java. `java_security.py` splits them first into these parts with librdkafka's
names, which a table lists instead:

| part | from |
|---|---|
| `sasl.username`, `sasl.password` | the same, or `sasl.jaas.config` |
| `ssl.ca.location`, `ssl.ca.pem` | `ssl.truststore.location` of type PEM, `ssl.truststore.certificates` |
| `ssl.certificate.location`, `ssl.key.location` | `ssl.keystore.location` of type PEM, the same file twice |
| `ssl.certificate.pem`, `ssl.key.pem` | `ssl.keystore.certificate.chain`, `ssl.keystore.key` |
| `ssl.keystore.location`, `ssl.keystore.password` | a PKCS12 store, only where the table lists the first |
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from brokernat.clients.java_security import Part, login_parts, store_parts
from brokernat.config import Cluster
from brokernat.config.client_properties import LOGIN_NAMES, NAMES, instead_of, is_secret
from brokernat.config.secrets import Secret, Unresolved
from brokernat.errors import ConfigError, Finding, Location


@dataclass(frozen=True, slots=True)
class As:
    """A library's name for a property, and the converter of its value from Kafka's text.

    `convert` raises ValueError with the expected form, such as "a whole number", and without the given text.
    """

    name: str
    convert: Callable[[str], Any] = str


@dataclass(frozen=True, slots=True)
class Without:
    """The reason why a library lacks a property; `instead` is an argument of the library for the same purpose."""

    reason: str
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """One library's names for Kafka's properties; `library` is its name in messages."""

    library: str
    entries: Mapping[str, As | Without]


def translated(cluster: Cluster, table: Table, given: Container[str] = ()) -> dict[str, Any]:
    """The `client:` section of a cluster in a library's names, without bootstrap servers and map.

    It contains revealed secrets: never log it.

    Args:
        cluster: the cluster, from the file or made in the program.
        table: the library's table.
        given: the library's names that the program sets itself. They override the file, so a property without a
            counterpart is accepted if one of them replaces it.

    Raises:
        ConfigError: all properties that Kafka does not have (code `unknown-property`), that the library does not have
            (`no-counterpart`) or with an invalid value (`bad-value`, `store-format`, `login-module`); a tunnel that
            is not open (`closed-tunnel`).
    """
    cluster.require_open()
    problems: list[Finding] = []
    result: dict[str, Any] = {}
    for part in _parts(cluster, table):
        outcome = _translate(part, table, given) if isinstance(part, Part) else part
        if isinstance(outcome, Finding):
            problems.append(outcome.at(Location(path=f"clusters.{cluster.name}.client")))
        else:
            result |= outcome
    if problems:
        raise ConfigError(*problems)
    return result


def _parts(cluster: Cluster, table: Table) -> Iterator[Part | Finding]:
    properties: dict[str, Part] = {}
    for name, value in cluster.client.items():
        if name not in NAMES | LOGIN_NAMES:
            yield Finding("unknown-property", f"Kafka has no property `{name}`", instead_of(name))
            continue
        secret = isinstance(value, Secret) or is_secret(name)
        text = value.reveal() if isinstance(value, Secret) else value
        properties[name] = Part(name, text, written=name, secret=secret, known=not isinstance(value, Unresolved))
    yield from login_parts(properties)
    yield from store_parts(properties, pkcs12="ssl.keystore.location" in table.entries)
    yield from properties.values()


def _translate(part: Part, table: Table, given: Container[str]) -> dict[str, Any] | Finding:
    match table.entries.get(part.name):
        case As(name, convert):
            try:
                return {name: convert(part.text) if part.known else part.text}
            except ValueError as expected:
                given_value = "" if part.secret else f", not `{part.text}`"
                return Finding("bad-value", f"`{part.written}` must be {expected}{given_value}")
        case Without(_, instead) if instead is not None and instead in given:
            return {}
        case Without(reason, instead):
            hint = f"give `{instead}` in the program" if instead else None
            return Finding("no-counterpart", f"{table.library} has no `{part.written}`: {reason}", hint)
        case None:
            hint = "remove it, or write another cluster section for this library"
            return Finding("no-counterpart", f"{table.library} has no `{part.written}`", hint)


def same(*names: str, convert: Callable[[str], Any] = str) -> dict[str, As]:
    """Entries of properties with the same name in the library."""
    return {name: As(name, convert) for name in names}


def underscored(*names: str, convert: Callable[[str], Any] = str) -> dict[str, As]:
    """Entries of properties whose name in the library is Kafka's with `_` for `.`."""
    return {name: As(name.replace(".", "_"), convert) for name in names}


def integer(text: str) -> int:
    """Kafka's INT and LONG."""
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError("a whole number") from None


def number(text: str) -> float:
    """Kafka's DOUBLE."""
    try:
        return float(text.strip())
    except ValueError:
        raise ValueError("a number") from None


def seconds(text: str) -> float:
    """Kafka's milliseconds, in seconds."""
    try:
        return int(text.strip()) / 1000
    except ValueError:
        raise ValueError("a whole number of milliseconds") from None


def boolean(text: str) -> bool:
    """Kafka's BOOLEAN: `true` or `false` in any case."""
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("`true` or `false`")


def words(text: str) -> list[str]:
    """Kafka's LIST: text with commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def choice(values: Mapping[str, Any]) -> Callable[[str], Any]:
    """A converter for a property with an enumeration of values."""

    def convert(text: str) -> Any:
        try:
            return values[text.strip()]
        except KeyError:
            raise ValueError(" or ".join(f"`{value}`" for value in values)) from None

    return convert


JAVA_CLASS: Final = "it names a Java class"
_TOKENS: Final = "the library asks an object for its tokens"
_CONTEXT: Final = "Java and OpenSSL name them differently"

PYTHON_NAMES: Final[Mapping[str, As | Without]] = {
    # All clients.
    **underscored("security.protocol", "client.id", "sasl.mechanism", "sasl.kerberos.service.name"),
    **underscored(
        "connections.max.idle.ms", "metadata.max.age.ms", "request.timeout.ms", "retry.backoff.ms", convert=integer
    ),
    "sasl.username": As("sasl_plain_username"),
    "ssl.ca.location": As("ssl_cafile"),
    "ssl.certificate.location": As("ssl_certfile"),
    "ssl.key.location": As("ssl_keyfile"),
    "ssl.endpoint.identification.algorithm": As("ssl_check_hostname", choice({"https": True, "": False})),
    # Producers.
    **underscored("transactional.id"),
    **underscored("linger.ms", "max.request.size", "transaction.timeout.ms", convert=integer),
    **underscored("enable.idempotence", convert=boolean),
    "acks": As("acks", choice({"all": "all", "-1": "all", "0": 0, "1": 1})),
    "compression.type": As(
        "compression_type",
        choice({"none": None, "gzip": "gzip", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}),
    ),
    # Consumers.
    **underscored("auto.offset.reset", "group.id", "group.instance.id", "isolation.level"),
    **underscored(
        "auto.commit.interval.ms",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "heartbeat.interval.ms",
        "max.partition.fetch.bytes",
        "max.poll.interval.ms",
        "max.poll.records",
        "session.timeout.ms",
        convert=integer,
    ),
    **underscored("check.crcs", "enable.auto.commit", "exclude.internal.topics", convert=boolean),
    # Properties that they have in another form, or not at all.
    "key.serializer": Without(JAVA_CLASS, "key_serializer"),
    "value.serializer": Without(JAVA_CLASS, "value_serializer"),
    "key.deserializer": Without(JAVA_CLASS, "key_deserializer"),
    "value.deserializer": Without(JAVA_CLASS, "value_deserializer"),
    "partitioner.class": Without(JAVA_CLASS, "partitioner"),
    "partition.assignment.strategy": Without(JAVA_CLASS, "partition_assignment_strategy"),
    "sasl.login.callback.handler.class": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.token.endpoint.url": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.client.credentials.client.id": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.client.credentials.client.secret": Without(_TOKENS, "sasl_oauth_token_provider"),
    "sasl.oauthbearer.scope": Without(_TOKENS, "sasl_oauth_token_provider"),
    "ssl.cipher.suites": Without(_CONTEXT, "ssl_context"),
    "ssl.enabled.protocols": Without(_CONTEXT, "ssl_context"),
    "ssl.protocol": Without(_CONTEXT, "ssl_context"),
}
"""The common names of kafka-python and of aiokafka, which is a fork of it. Both use Kafka's names with `_` for `.` as
keyword arguments, including `.ms`; the module of each library adds its own names."""
