"""What is added to a Spark job's settings so that its executors get the agent, and how it is told from the user's.

Whatever is added is found again by its own name (our jar's, our plugin's, our variables'), so that an `exec` inside an
`exec` replaces it; what the user has in the same setting stays in front of it. Only the leave to attach is not taken
out again: it may be the user's, and does nothing by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from brokernat.address import AddressMap, canonical_text
from brokernat.clients.launch.environment import MAP, UNMAPPED, without_agent
from brokernat.clients.spark.settings import ALLOW_ATTACH, DRIVER_OPTIONS, EXECUTOR_OPTIONS, JARS, joined
from brokernat.jvm import agent_argument, agent_jar

_PLUGIN: Final = "io.brokernat.agent.spark.MapPlugin"
_JAR_NAME: Final = "brokernat-agent.jar"
_PLUGINS: Final = "spark.plugins"
_EXECUTOR_ENV: Final = "spark.executorEnv."


@dataclass(frozen=True, slots=True)
class Addition:
    """Our part of one setting, behind what the user has there; without a separator it is the whole."""

    name: str
    ours: str
    separator: str | None

    def words(self, present: Mapping[str, str]) -> tuple[str, str]:
        """The two words of the command line."""
        value = self.ours
        if self.separator is not None:
            value = joined(without_agent(present.get(self.name, "")), [self.ours], self.separator)
        # `--jars` wins over the setting of the same meaning, whatever the order.
        return ("--jars", value) if self.name == JARS else ("--conf", f"{self.name}={value}")


def by_path(jar: str, address_map: AddressMap, *, driver: bool) -> list[Addition]:
    """Executors, and with `driver` the driver, start with the agent at `jar`, an absolute path on their hosts."""
    option = f"-javaagent:{jar}={agent_argument(address_map)}"
    names = [EXECUTOR_OPTIONS, *([DRIVER_OPTIONS] if driver else [])]
    return [Addition(name, option, " ") for name in names]


def shipped(address_map: AddressMap) -> list[Addition]:
    """Spark ships the agent's jar, and the plugin in it loads the agent into each executor.

    Raises:
        MissingToolError: the jar was not built.
    """
    return [
        Addition(JARS, str(agent_jar()), ","),
        Addition(_PLUGINS, _PLUGIN, ","),
        Addition(f"{_EXECUTOR_ENV}{MAP}", canonical_text(address_map), None),
        Addition(f"{_EXECUTOR_ENV}{UNMAPPED}", address_map.unmapped.value, None),
        Addition(EXECUTOR_OPTIONS, ALLOW_ATTACH, " "),
    ]


def theirs(option: str, value: str) -> str:
    """What the user has in an option's value; empty where it is all ours."""
    if option == "--jars":
        return _without_jar(value)
    name, _, set_to = value.partition("=")
    rest = _CLEAN[name](set_to) if name in _CLEAN else set_to
    return value if rest == set_to else f"{name}={rest}" if rest else ""


def _without_jar(value: str) -> str:
    return ",".join(jar for jar in value.split(",") if PurePosixPath(jar).name != _JAR_NAME)


def _without_plugin(value: str) -> str:
    return ",".join(name for name in value.split(",") if name != _PLUGIN)


def _nothing(_: str) -> str:
    return ""


_CLEAN: Final = {
    _PLUGINS: _without_plugin,
    EXECUTOR_OPTIONS: without_agent,
    DRIVER_OPTIONS: without_agent,
    f"{_EXECUTOR_ENV}{MAP}": _nothing,
    f"{_EXECUTOR_ENV}{UNMAPPED}": _nothing,
}
"""Each setting that we add to, and what it was without us."""
