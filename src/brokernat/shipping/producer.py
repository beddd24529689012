"""The producer of shipping: confluent-kafka with the cluster's map, the meaning of each error for a record, and why
the leaders of a topic acknowledge nothing while librdkafka reports no error.

A record is rejected only by errors about the record itself. All other errors (missing ACL, topic or broker, failed
login, a wrong clock on this machine, a batch that was corrupted on the network) can be repaired: the record stays in
the spool and is sent again. Records do not expire.

A broker that is not the leader refuses records (NOT_LEADER_OR_FOLLOWER). librdkafka sends them again and reports
nothing, because this also happens for a moment when a leader moves. It never ends if a rule or a forward leads to
another broker. So after some seconds without an acknowledgement an AdminClient requests the end offset of each
partition from its leader: only the leader returns it, and the right to write to the topic is enough.
"""

from __future__ import annotations

import logging
import re
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, cast

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.errors import BrokernatError, ConfigError, Finding, MissingToolError
from brokernat.shipping.threads import log_later


class _Log:
    """librdkafka's log, without the names of threads and states.

    librdkafka logs a failure at each attempt, and also calls the error callback. The sender reports it once if records
    wait for it, so these lines are logged at DEBUG.
    """

    def log(self, level: int, message: str, *arguments: object) -> None:
        facility, _client, text = arguments if len(arguments) == _LOG_ARGUMENTS else ("", "", message % arguments)
        repeated = facility in ("FAIL", "ERROR", "GETPID")
        log_later(logging.DEBUG if repeated else level, "librdkafka: %s", simplified(str(text)), log=_LIBRDKAFKA)


_LIBRDKAFKA: Final = logging.getLogger("brokernat.shipping.librdkafka")
_LOG: Final = _Log()
_LOG_ARGUMENTS: Final = 3

# Kafka's errors that a retry does not change: the record is too large, or the topic refuses its content.
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
# Faults of a broker that was reached.
REACHED: Final = frozenset({"_AUTHENTICATION", "_SSL"})
_LOGIN_REFUSED: Final = re.compile(r"broker (\S+): SASL authentication error: (.+)", re.DOTALL)
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
# At-least-once delivery needs these; only the caller of the handler can override them.
REQUIRED: Final[Mapping[str, object]] = {
    "acks": "all",
    # Records do not expire in librdkafka: an expired one would have to be sent again, perhaps twice.
    "message.timeout.ms": 0,
    "delivery.report.only.error": True,
}
# Defaults for shipping; the cluster's own properties win.
DEFAULTS: Final[Mapping[str, object]] = {
    # Prevents duplicates and keeps the order. Brokers before 2.8 require an ACL on the cluster for it
    # (KIP-679); without that ACL, set it to false.
    "enable.idempotence": True,
    "linger.ms": 5,
    "batch.size": 1_000_000,
    # Above the brokers' default, so that the topic's limit applies.
    "message.max.bytes": 16_000_000,
    "queue.buffering.max.messages": 1_000_000,
    "topic.metadata.propagation.max.ms": 5_000,
}


class KafkaFault(Protocol):
    """The used part of `confluent_kafka.KafkaError`."""

    def name(self) -> str: ...
    def str(self) -> str: ...
    def fatal(self) -> bool: ...


def is_rejection(fault: KafkaFault) -> bool:
    """Whether the record can never be delivered."""
    return fault.name() in REJECTING


def describe(fault: KafkaFault) -> str:
    """The meaning of the error, with Kafka's name if it comes from a broker."""
    name = fault.name()
    if name.startswith("_"):
        text = simplified(fault.str())
        if refusal := _LOGIN_REFUSED.fullmatch(text):
            return f"the login is refused by {refusal[1]} ({refusal[2]})"
        return _CLIENT_FAULTS.get(name, "") + text
    return f"{_BROKER_FAULTS.get(name) or fault.str()} ({name})"


def simplified(text: str) -> str:
    """A log line of librdkafka without its threads, protocols, address families and states.

    >>> simplified("[thrd:a]: sasl_ssl://k:9092/1: Connect to ipv4#10.0.0.1:9092 failed (after 0ms in state CONNECT)")
    'broker k:9092: Connect to 10.0.0.1:9092 failed'
    """
    for pattern, replacement in _NOISE:
        text = re.sub(pattern, replacement, text)
    return text


def require_all_acks(overrides: Mapping[str, object]) -> None:
    """Check `acks=all` for audit records: a record on one replica only may be lost with it.

    Raises:
        ConfigError: the properties set another value.
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
        cluster: the cluster, with its map and login.
        on_error: called with errors of the whole client, within `poll` and `flush`.
        overrides: librdkafka properties, which override brokernat's.

    Raises:
        MissingToolError: confluent-kafka is not installed, or the plug-in was not built.
        ConfigError: librdkafka does not support these properties.
    """
    try:
        from confluent_kafka import KafkaException, Producer
    except ModuleNotFoundError:
        raise MissingToolError(
            "shipping needs confluent-kafka, which is not installed", hint="pip install 'brokernat[shipping]'"
        ) from None
    properties = _properties(cluster, overrides)
    try:
        return Producer({**properties, "error_cb": on_error}, logger=_LOG)
    except KafkaException as error:
        message = f"the producer of cluster `{cluster.name}` cannot be created: {error.args[0].str()}"
        raise ConfigError(Finding("client-refused", message, "check the cluster's `client` properties")) from None


def open_admin(cluster: Cluster, overrides: Mapping[str, object] = MappingProxyType({})) -> Any:
    """A `confluent_kafka.admin.AdminClient` with the producer's properties, without its log lines."""
    from confluent_kafka.admin import AdminClient

    return AdminClient({**_properties(cluster, overrides), "log_level": 0})


def _properties(cluster: Cluster, overrides: Mapping[str, object]) -> dict[str, Any]:
    from brokernat.clients.confluent import configure

    return {**DEFAULTS, **configure({}, cluster), **REQUIRED, **overrides}


_PAUSE: Final = 4.0
_TIMEOUT: Final = 4.0
_METADATA_TIMEOUT: Final = 2.0
_REFUSALS: Final = ("NOT_LEADER_FOR_PARTITION", "NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PART")


class Delay(NamedTuple):
    """The reason why records have no answer; empty while it is not known."""

    reason: str = ""
    is_certain: bool = False
    """Whether it is the reason although the client reports an error of some connection."""


_UNKNOWN: Final = Delay()
_SILENT: Final = Delay("the brokers have acknowledged nothing for some seconds, and report no error")


def find_delay(cluster: Cluster, open_admin: Callable[[], Any], producer: Any, topic: str) -> Iterator[Delay]:
    """Looks for the reason as long as it is iterated; does not block, except for the request of metadata.

    A reason that is found twice in succession is returned: a leader that moves is another one by then.

    Args:
        cluster: the cluster of the producer.
        open_admin: creates an AdminClient of the cluster.
        producer: the producer that waits; while no broker answers it, no AdminClient connects.
        topic: the topic of the records.
    """
    before, admin = _UNKNOWN, None
    while True:
        resume = time.monotonic() + _PAUSE
        while time.monotonic() < resume:
            yield _UNKNOWN
        found = _UNKNOWN
        with suppress(Exception):  # the producer reports its errors itself
            metadata = producer.list_topics(topic, timeout=_METADATA_TIMEOUT)
            found = _SILENT  # confluent-kafka before 2.3 cannot request offsets
            admin = admin or open_admin()
            found = yield from _ask_leaders(cluster, admin, metadata, topic)
        yield found if found == before else _UNKNOWN
        before = found


def _ask_leaders(cluster: Cluster, admin: Any, metadata: Any, topic: str) -> Generator[Delay, None, Delay]:
    """The reason now; yields while the leaders have not answered."""
    from confluent_kafka import TopicPartition
    from confluent_kafka import admin as library

    latest = cast("Any", library).OffsetSpec.latest()
    if metadata.topics[topic].error is not None:
        return Delay(describe(metadata.topics[topic].error), is_certain=True)
    partitions = defaultdict(list)
    for number, led in sorted(metadata.topics[topic].partitions.items()):
        if led.leader not in metadata.brokers:
            return Delay(f"{topic}/{number} has no leader", is_certain=True)
        partitions[led.leader].append(TopicPartition(topic, number))
    # One request for each leader: a broker that hangs delays the results of its request only.
    requests = {
        leader: admin.list_offsets(dict.fromkeys(of_leader, latest), request_timeout=_TIMEOUT)
        for leader, of_leader in partitions.items()
    }
    silent = _SILENT
    for leader, results in requests.items():
        endpoint = _dialled_endpoint(cluster, leader, metadata.brokers[leader])
        for one, result in results.items():
            partition = f"{topic}/{one.partition}"
            while not result.done():
                admin.poll(0)  # OAUTHBEARER requests its token in `poll`
                yield _UNKNOWN
            name = _error_name(result)
            if name in _REFUSALS:
                return Delay(
                    f"the leader of {partition} is node {leader}, and node {leader}'s endpoint "
                    f"{endpoint} does not accept records for it: another broker may be behind it; "
                    f"`brokernat doctor --cluster {cluster.name}` finds which",
                    is_certain=True,
                )
            if name == "_TIMED_OUT" and silent is _SILENT:
                silent = Delay(f"node {leader} ({endpoint}), the leader of {partition}, does not answer")
    return silent


def _error_name(result: Any) -> str:
    error = result.exception()
    if error is not None:
        name: str = error.args[0].name()
        return name
    # librdkafka returns no error and no offset if it could not connect in time.
    return "" if result.result().offset >= 0 else "_TIMED_OUT"


def _dialled_endpoint(cluster: Cluster, node_id: int, broker: Any) -> str:
    """The endpoint that the client dials for a broker of the metadata."""
    try:
        advertised = Endpoint(broker.host, broker.port)
        return str(cluster.address_map.translate(advertised, node_id).endpoint if cluster.address_map else advertised)
    except BrokernatError:
        return f"{broker.host}:{broker.port}"
