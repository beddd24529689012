"""What kafka-python and aiokafka call alike: the second began as a fork of the first. Each adds what is its own.

Both take Kafka's names with `_` for `.` as keyword arguments, `.ms` included.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokernat.clients.translation import As, Without, boolean, choice, integer, underscored

JAVA_CLASS: Final = "it names a Java class"
_TOKENS: Final = "the library asks an object for its tokens"
_CONTEXT: Final = "Java and OpenSSL name them differently"

COMMON: Final[Mapping[str, As | Without]] = {
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
    # What they have in another form, or not at all.
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
