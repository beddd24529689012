"""The producer that ships: confluent-kafka with the cluster's map, and what each of its errors means for a record.

Only errors that say something about the record itself reject it. Every other one (no rights on the topic, no topic, no
broker, a login that fails, a clock here that the brokers do not believe, a batch torn on its way) says something about
the world, which people repair: the record stays in the spool and is sent again. Nothing expires.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, MissingToolError
from brokernat.shipping.threads import log_later


class _Log:
    """What librdkafka logs, without the names of its threads and states.

    It repeats a failure with each attempt, and gives it to the error callback when records wait for it: the sender
    reports that once, so here it is detail.
    """

    def log(self, level: int, message: str, *arguments: object) -> None:
        facility, _client, text = arguments if len(arguments) == _LOG_ARGUMENTS else ("", "", message % arguments)
        repeated = facility in ("FAIL", "ERROR", "GETPID")
        log_later(logging.DEBUG if repeated else level, "librdkafka: %s", plain(str(text)), log=_LIBRDKAFKA)


_LIBRDKAFKA: Final = logging.getLogger("brokernat.shipping.librdkafka")
_LOG: Final = _Log()
_LOG_ARGUMENTS: Final = 3

# Kafka's names of errors that no repeat will change: the record is too large, or the topic refuses what is in it.
REJECTING: Final = frozenset({"MSG_SIZE_TOO_LARGE", "INVALID_MSG_SIZE", "INVALID_RECORD", "POLICY_VIOLATION"})
_FEW_REPLICAS: Final = "fewer in-sync replicas than the topic's min.insync.replicas"
_BROKER_FAULTS: Final = {
    "CLUSTER_AUTHORIZATION_FAILED": "the user may not use an idempotent producer: it needs IDEMPOTENT_WRITE on the "
    "cluster, or `enable.idempotence: false`",
    "INVALID_TIMESTAMP": "the topic does not accept the time of this machine's clock",
    "MSG_SIZE_TOO_LARGE": "larger than the topic's max.message.bytes or the producer's message.max.bytes",
    "NOT_ENOUGH_REPLICAS": _FEW_REPLICAS,
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND": _FEW_REPLICAS,
    "SASL_AUTHENTICATION_FAILED": "the broker rejects the login",
    "TOPIC_AUTHORIZATION_FAILED": "the user may not write to the topic: it needs the WRITE permission",
    "UNKNOWN_TOPIC_OR_PART": "the cluster has no such topic, or this user may not see it",
}
_CLIENT_FAULTS: Final = {
    "_AUTHENTICATION": "the login failed: ",
    "_SSL": "the TLS handshake failed: ",
    "_UNKNOWN_TOPIC": "the cluster has no such topic, or this user may not see it: ",
}
_NOISE: Final = (
    (r"^\[thrd:[^\]]*\]: ", ""),
    (r"^(?:\w+://)?(\S+)/(?:bootstrap|\d+): ", r"broker \1: "),
    (r" \(after \d+ms in state .*\)$", ""),
    (r"\bipv[46]#", ""),
)
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
    return fault.name() in REJECTING


def describe(fault: KafkaFault) -> str:
    """What it means for who reads it, with Kafka's name where a broker answered."""
    name = fault.name()
    if name.startswith("_"):
        return _CLIENT_FAULTS.get(name, "") + plain(fault.str())
    return f"{_BROKER_FAULTS.get(name) or fault.str()} ({name})"


def plain(text: str) -> str:
    """A line of librdkafka's without its threads, protocols, address families and states.

    >>> plain("[thrd:a]: sasl_ssl://k:9092/1: Connect to ipv4#10.0.0.1:9092 failed (after 0ms in state CONNECT)")
    'broker k:9092: Connect to 10.0.0.1:9092 failed'
    """
    for pattern, replacement in _NOISE:
        text = re.sub(pattern, replacement, text)
    return text


def require_all_acks(overrides: Mapping[str, object]) -> None:
    """For audit records: what one replica alone has may be lost with it.

    Raises:
        ConfigError: the properties ask for less.
    """
    legacy = overrides.get("default.topic.config")
    for properties in (overrides, legacy if isinstance(legacy, Mapping) else {}):
        for name in ("acks", "request.required.acks"):
            if str(properties.get(name, "all")) not in ("all", "-1"):
                message = (
                    f"`audit=True` needs acknowledgements of all in-sync replicas, not `{name}={properties[name]}`"
                )
                hint = f"leave `{name}` out of `producer=`, or give the handler `audit=False`"
                raise ConfigError(Finding("acks-not-all", message, hint))


def open_producer(
    cluster: Cluster, on_error: Callable[[KafkaFault], None], overrides: Mapping[str, object] = MappingProxyType({})
) -> Any:
    """A `confluent_kafka.Producer`.

    Args:
        cluster: where to, with the map and the login.
        on_error: called with what concerns the client as a whole, from within `poll` and `flush`.
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
        message = f"the producer of cluster `{cluster.name}` cannot be created: {error.args[0].str()}"
        raise ConfigError(Finding("client-refused", message, "check the cluster's `client` properties")) from None
