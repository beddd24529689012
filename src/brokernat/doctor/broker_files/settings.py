"""Which of a broker's settings are about listeners, and how images of Kafka spell them as variables; pure.

Only these settings are taken out of a file: a broker's file holds passwords.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from brokernat.config.java_properties import parse_properties

LISTENER_SETTINGS = frozenset(
    {
        "listeners",
        "advertised.listeners",
        "listener.security.protocol.map",
        "inter.broker.listener.name",
        "security.inter.broker.protocol",
        "controller.listener.names",
        "process.roles",
        "node.id",
        "broker.id",
        # No longer read from Kafka 3.0 on.
        "host.name",
        "port",
        "advertised.host.name",
        "advertised.port",
    }
)

_PREFIXES = ("KAFKA_CFG_", "KAFKA_")
_RUNS = {1: ".", 2: "_", 3: "-"}


def parse_server_properties(text: str, source: str) -> tuple[tuple[str, str], ...]:
    """The settings of a `server.properties` that are about listeners.

    Raises:
        ConfigError: Java refuses the file.
    """
    return about_listeners((each.name, each.value) for each in parse_properties(text, source))


def about_listeners(settings: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Those of the settings; Kafka trims what it reads."""
    return tuple((name, value.strip()) for name, value in settings if name in LISTENER_SETTINGS)


def setting_of(variable: str) -> str | None:
    """The setting that a variable sets, None where it is none of Kafka's.

    The images of Apache and Confluent take `KAFKA_`, Bitnami's takes `KAFKA_CFG_`. One underline is a dot, two are an
    underline, three a dash (`KafkaDockerWrapper`, `getServerConfigsFromEnv`).
    """
    for prefix in _PREFIXES:
        if variable.startswith(prefix):
            rest = variable.removeprefix(prefix).lower()
            return re.sub("_{1,3}", lambda run: _RUNS[len(run[0])], rest)
    return None
