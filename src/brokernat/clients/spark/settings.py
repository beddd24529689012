"""Spark's settings that bring connector and agent into every JVM of an application; pure.

What the user has set stays: lists are added to, regular expressions get an alternative, single values are left alone.
`spark.{driver,executor}.defaultJavaOptions` are used and not `extraJavaOptions`: Spark puts the defaults in front of
the user's own, so both count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from brokernat.clients.spark.loader import Loader, LoaderChoice
from brokernat.clients.spark.options import LOADER_KEY

JARS = "spark.jars"
DRIVER_OPTIONS = "spark.driver.defaultJavaOptions"
EXECUTOR_OPTIONS = "spark.executor.defaultJavaOptions"

# Spark's own pattern knows neither the JAAS line nor a key store given as text.
SECRET_NAMES = r"sasl[.]jaas[.]config|ssl[.]keystore[.]key|[.]user[.]info"  # noqa: S105
_SPARK_SECRETS = r"(?i)secret|password|token|access[.]?key"
_SPARK_OPTION_SECRETS = r"(?i)url"

# JEP 451: says in advance what a warning at each attach would ask for on Java 21 and newer.
ALLOW_ATTACH = "-XX:+EnableDynamicAgentLoading"


def settings(present: Mapping[str, str], choice: LoaderChoice, jars: Iterable[Path]) -> dict[str, str]:
    """What to set, given what is set.

    Args:
        present: the settings that the launch would see without us.
        choice: the agent's loader.
        jars: the connector's jars; none where the user brings a connector.
    """
    shipped = [*map(str, jars)]
    if choice.loader is Loader.JAVAAGENT:
        driver, executor = _agent_option(str(choice.driver_agent)), _agent_option(choice.executor_agent)
    else:
        driver = executor = ALLOW_ATTACH
        shipped.append(str(choice.driver_agent))
    needed = {
        JARS: joined(present.get(JARS, ""), shipped, ","),
        DRIVER_OPTIONS: joined(present.get(DRIVER_OPTIONS, ""), [driver], " "),
        EXECUTOR_OPTIONS: joined(present.get(EXECUTOR_OPTIONS, ""), [executor], " "),
        "spark.redaction.regex": _either(present.get("spark.redaction.regex", _SPARK_SECRETS), SECRET_NAMES),
        "spark.sql.redaction.options.regex": _either(
            present.get("spark.sql.redaction.options.regex", _SPARK_OPTION_SECRETS), SECRET_NAMES
        ),
        # Two attempts of one task write its rows twice.
        "spark.speculation": present.get("spark.speculation", "false"),
        LOADER_KEY: choice.loader.value,
    }
    return {name: value for name, value in needed.items() if value}


def joined(present: str, additions: Iterable[str], separator: str) -> str:
    """`present` with each addition once, in order."""
    parts = [present] if present else []
    parts += [one for one in dict.fromkeys(additions) if one not in present.split(separator)]
    return separator.join(parts)


def _agent_option(jar: str) -> str:
    option = f"-javaagent:{jar}"
    # Spark splits the line as a shell would.
    return f'"{option}"' if re.search(r"\s", jar) else option


def _either(theirs: str, ours: str) -> str:
    return theirs if ours in theirs else f"{theirs}|{ours}"
