"""The agent jar in this package, and the options that load it with an address map."""

from __future__ import annotations

import importlib.resources
from pathlib import Path, PurePosixPath

from brokernat.address import AddressMap, canonical_text
from brokernat.errors import ConfigError, Finding, MissingToolError

JAR = "brokernat-agent.jar"


def agent_jar() -> Path:
    """The absolute path of the agent jar.

    Raises:
        MissingToolError: the agent was not built in this source tree.
    """
    return _packaged(JAR)


def spark_functions_jar() -> Path:
    """The absolute path of the jar with Spark functions, such as the decoder.

    Raises:
        MissingToolError: it was not built in this source tree.
    """
    return _packaged("brokernat-spark.jar")


def _packaged(name: str) -> Path:
    jar = Path(str(importlib.resources.files("brokernat.jvm") / "_native" / name))
    if not jar.is_file():
        raise MissingToolError(f"{name} is not built: no {jar}", hint="in the source tree: make agent")
    return jar.absolute()


def require_absolute(agent_path: str) -> None:
    """Check that the agent's path is absolute.

    Raises:
        ConfigError: the path is relative, and the JVMs start in different folders.
    """
    if not PurePosixPath(agent_path).is_absolute():
        message = (
            f"the agent's path `{agent_path}` is relative: a JVM that does not find it exits at its start, and "
            f"executors restart for ever"
        )
        hint = "pass an absolute path that exists on every host, such as /opt/brokernat/brokernat-agent.jar"
        raise ConfigError(Finding("agent-path-relative", message, hint))


def agent_argument(address_map: AddressMap) -> str:
    """`RULES;unmapped=...`, the text after `-javaagent:JAR=`, without blanks."""
    return f"{canonical_text(address_map)};unmapped={address_map.unmapped.value}"


def javaagent_option(address_map: AddressMap | None) -> str:
    """The JVM option that loads the agent; without a map each client's own `brokernat.map` applies."""
    option = f"-javaagent:{agent_jar()}"
    return option if address_map is None else f"{option}={agent_argument(address_map)}"
