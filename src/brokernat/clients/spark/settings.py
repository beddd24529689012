"""How the agent gets into Spark's JVMs, and the settings that bring it and the connector there; pure.

`-javaagent` is the stronger of the two (it is there before the first class of the host) but needs the jar under the
same absolute path on every host; a JVM whose option names a missing jar dies at once, and a standalone cluster
starts the next executor for ever (5,035 starts in 95 s, seen). So it is chosen only where the path is certain: the
JVMs of this machine, a path that the user vouches for, or YARN, which puts files into the working directory of a
container before its JVM starts. Everywhere else Spark ships the jar (`spark.jars`) and the agent attaches itself when a
Kafka client makes its metrics reporter.

What the user has set stays: lists are added to, regular expressions get an alternative, single values are left alone.
`spark.{driver,executor}.defaultJavaOptions` are used and not `extraJavaOptions`: Spark puts the defaults in front of
the user's own, so both count.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from brokernat.errors import ConfigError, Finding
from brokernat.jvm import require_absolute

AGENT_CLASS = "io.brokernat.agent.Agent"
REPORTER_CLASS = "io.brokernat.agent.ReporterLoader"
FUNCTIONS_CLASS = "io.brokernat.spark.BrokernatFunctions"
CATALOG = "brokernat"
CATALOG_KEY = f"spark.sql.catalog.{CATALOG}"
"""Spark loads the catalog when a function of it is called for the first time."""
LOADER_KEY = "spark.brokernat.loader"
"""Where `configure` leaves its choice of loader, so that every later part can ask the session."""

JARS = "spark.jars"
YARN_FILES = "spark.yarn.dist.files"
"""YARN puts them into the working directory of each container, under their names (Client.prepareLocalResources)."""
DRIVER_OPTIONS = "spark.driver.defaultJavaOptions"
EXECUTOR_OPTIONS = "spark.executor.defaultJavaOptions"

# Spark's own pattern knows neither the JAAS line nor a key store given as text.
SECRET_NAMES = r"sasl[.]jaas[.]config|ssl[.]keystore[.]key|[.]user[.]info"  # noqa: S105
_SPARK_SECRETS = r"(?i)secret|password|token|access[.]?key"
_SPARK_OPTION_SECRETS = r"(?i)url"

# JEP 451: says in advance what a warning at each attach would ask for on Java 21 and newer.
ALLOW_ATTACH = "-XX:+EnableDynamicAgentLoading"


class Loader(enum.StrEnum):
    """How a JVM gets the agent."""

    AUTO = "auto"
    """`configure` chooses and logs why."""
    JAVAAGENT = "javaagent"
    """The JVM option `-javaagent`."""
    REPORTER = "reporter"
    """A metrics reporter of Kafka's client, which attaches the agent to the running JVM."""


@dataclass(frozen=True)
class LoaderChoice:
    """The loader of one application and why it is this one."""

    loader: Loader
    reason: str
    driver_agent: Path
    """The jar on this machine."""
    executor_agent: str
    """The jar's absolute path on the hosts of the executors, or its name in a container of YARN (javaagent only)."""


def choose_loader(
    master: str, asked: Loader, jar: Path, agent_path: str | None = None, *, too_late: bool = False
) -> LoaderChoice:
    """The loader for an application on `master`.

    Args:
        master: Spark's master URL.
        asked: what the caller wants; AUTO decides by the master.
        jar: the agent jar on this machine.
        agent_path: absolute path of the jar on every host that runs an executor, vouched for by the caller.
        too_late: the driver's JVM has started without the agent.

    Raises:
        ConfigError: a relative `agent_path`, or `-javaagent` asked for hosts whose path nobody named.
    """
    if agent_path is not None:
        require_absolute(agent_path)
    here = runs_on_this_machine(master)
    if asked is Loader.REPORTER:
        return LoaderChoice(asked, "asked for", jar, str(jar))
    if agent_path is not None:
        return LoaderChoice(Loader.JAVAAGENT, f"agent_path names the jar on every host: {agent_path}", jar, agent_path)
    if here:
        reason = "asked for" if asked is Loader.JAVAAGENT else f"all JVMs of {master} run on this machine"
        return LoaderChoice(Loader.JAVAAGENT, reason, jar, str(jar))
    if runs_on_yarn(master) and not (too_late and asked is Loader.AUTO):
        reason = (
            "asked for" if asked is Loader.JAVAAGENT else "YARN puts the jar into each container before its JVM starts"
        )
        return LoaderChoice(Loader.JAVAAGENT, reason, jar, jar.name)
    if asked is Loader.JAVAAGENT:
        raise _refused(
            "agent-path-unknown",
            f"loader javaagent on {master}: where the agent jar is on the executors' hosts is not known",
            "copy it there (brokernat agent --copy-to DIR) and pass agent_path='/DIR/brokernat-agent.jar', "
            "or use the reporter loader",
        )
    return LoaderChoice(
        Loader.REPORTER,
        f"executors of {master} may run on other hosts, and no agent_path names the jar there",
        jar,
        str(jar),
    )


def runs_on_this_machine(master: str) -> bool:
    """Whether every JVM of the application is a child of this process: local[..] and local-cluster[..]."""
    return master == "local" or master.startswith(("local[", "local-cluster["))


def runs_on_yarn(master: str) -> bool:
    """Whether executors are containers of YARN; `yarn-client` is what Spark 1 called it, and Spark still takes it."""
    return master.startswith("yarn")


def executors_elsewhere(master: str) -> ConfigError:
    """The error for a job whose executors cannot reach a tunnel."""
    message = f"the executors of {master} run on other hosts, and the tunnel's forwards listen only on this one"
    hint = (
        "run the job here with `--master 'local[*]'`, or let executors reach a gateway: `brokernat render nginx` and "
        "`brokernat proxy --listen` are for a host that both sides reach"
    )
    return _refused("executors-elsewhere", message, hint)


def _refused(kind: str, message: str, hint: str) -> ConfigError:
    return ConfigError(Finding(kind, message, hint))


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
    named = choice.loader is Loader.JAVAAGENT and not PurePosixPath(choice.executor_agent).is_absolute()
    needed = {
        YARN_FILES: joined(present.get(YARN_FILES, ""), [str(choice.driver_agent)], ",") if named else "",
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
