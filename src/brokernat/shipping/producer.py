"""The producer that ships: confluent-kafka with the cluster's map, and what each of its errors means for a record.

Only errors that say something about the record itself reject it. Every other one (no rights on the topic, no topic, no
broker, a login that fails, a clock here that the brokers do not believe, a batch torn on its way) says something about
the world, which people repair: the record stays in the spool and is sent again. Nothing expires.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from brokernat.config import Cluster
from brokernat.errors import ConfigError, MissingToolError, Problem
from brokernat.shipping.telling import tell


class _Log:
    """What librdkafka logs. It repeats a connection's failure each time; the sender tells it once, so it is detail."""

    def log(self, level: int, message: str, *arguments: object) -> None:
        repeated = bool(arguments) and arguments[0] in ("FAIL", "ERROR")
        tell(logging.DEBUG if repeated else level, message, *arguments, log=_LIBRDKAFKA)


_LIBRDKAFKA: Final = logging.getLogger("brokernat.shipping.librdkafka")
_LOG: Final = _Log()

# Kafka's names of errors that no repeat will change: the record is too large, or the topic refuses what is in it.
REJECTING: Final = frozenset({"MSG_SIZE_TOO_LARGE", "INVALID_MSG_SIZE", "INVALID_RECORD", "POLICY_VIOLATION"})
# What the promise rests on: nothing overrides it but the caller of the handler.
PROMISED: Final[Mapping[str, object]] = {
    "acks": "all",
    # Records wait in librdkafka as long as it takes: one that expired there would have to be sent again, perhaps twice.
    "message.timeout.ms": 0,
    "delivery.report.only.error": True,
}
# What serves shipping well; the cluster's own properties win.
SUITABLE: Final[Mapping[str, object]] = {
    # Spares duplicates and keeps the order. Brokers before 2.8 want a right on the cluster for it (KIP-679), and where
    # nobody grants that, a shipper must go without.
    "enable.idempotence": True,
    "linger.ms": 5,
    "batch.size": 1_000_000,
    # Above the brokers' own default, so that the topic decides what is too large.
    "message.max.bytes": 16_000_000,
    "queue.buffering.max.messages": 1_000_000,
    "topic.metadata.propagation.max.ms": 5_000,
}


class KafkaFault(Protocol):
    """What is used of `confluent_kafka.KafkaError`."""

    def name(self) -> str: ...
    def str(self) -> str: ...
    def fatal(self) -> bool: ...


def rejects(fault: KafkaFault) -> bool:
    """Whether the record can never be delivered."""
    return fault.name().lstrip("_") in REJECTING


def describe(fault: KafkaFault) -> str:
    """`NAME: what librdkafka says`."""
    return f"{fault.name()}: {fault.str()}"


def open_producer(
    cluster: Cluster, on_error: Callable[[KafkaFault], None], overrides: Mapping[str, object] = MappingProxyType({})
) -> Any:
    """A `confluent_kafka.Producer`.

    Args:
        cluster: where to, with the map and the login.
        on_error: told of what concerns the client as a whole, from within `poll` and `flush`.
        overrides: properties in librdkafka's names that win over ours.

    Raises:
        MissingToolError: confluent-kafka is not installed, or the plug-in that holds the map was not built.
        ConfigError: librdkafka cannot have these properties.
    """
    try:
        from confluent_kafka import KafkaException, Producer
    except ModuleNotFoundError:
        raise MissingToolError(
            "shipping needs confluent-kafka, which is not installed", hint="pip install 'brokernat[shipping]'"
        ) from None
    from brokernat.clients.confluent import configure

    properties = {**SUITABLE, **configure({}, cluster), **PROMISED, **overrides}
    try:
        return Producer({**properties, "error_cb": on_error}, logger=_LOG)
    except KafkaException as error:
        message = f"the producer of cluster `{cluster.name}` cannot be made: {error.args[0].str()}"
        raise ConfigError(Problem("client-refused", message, "look at the cluster's `client` properties")) from None
