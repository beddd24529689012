"""The loader of the agent in Spark's JVMs, and the settings for agent and connector; pure.

`-javaagent` is the more reliable loader (the agent runs before the first class of the application), but the jar must
have the same absolute path on every host. If the jar is missing, the JVM exits at once, and a standalone cluster
restarts executors for ever (5,035 starts in 95 s, measured). So it is chosen only if the path is certain: JVMs of this
machine, a path from the user, or YARN, which puts files into the working directory of a container before its JVM
starts. Otherwise Spark ships the jar (`spark.jars`), and the agent attaches itself when a Kafka client creates its
metrics reporter.

The user's settings stay: lists are extended, regular expressions get an alternative, single values are not changed.
brokernat sets `spark.{driver,executor}.defaultJavaOptions` and not `extraJavaOptions`: Spark puts the defaults before
the user's options, so both apply.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from brokernat.config.client_properties import SECRET_NAMES
from brokernat.errors import ConfigError, Finding
from brokernat.jvm import require_absolute

AGENT_CLASS = "io.brokernat.agent.Agent"
REPORTER_CLASS = "io.brokernat.agent.ReporterLoader"
FUNCTIONS_CLASS = "io.brokernat.spark.BrokernatFunctions"
CATALOG = "brokernat"
CATALOG_KEY = f"spark.sql.catalog.{CATALOG}"
"""Spark loads the catalog when a function of it is called for the first time."""
LOADER_KEY = "spark.brokernat.loader"
"""The session's setting in which `configure` stores its choice of loader."""

JARS = "spark.jars"
YARN_FILES = "spark.yarn.dist.files"
"""Files that YARN puts into the working directory of each container (Client.prepareLocalResources)."""
DRIVER_OPTIONS = "spark.driver.defaultJavaOptions"
EXECUTOR_OPTIONS = "spark.executor.defaultJavaOptions"

# Spark's default pattern misses the JAAS line and key stores given as text.
_SPARK_SECRETS = r"(?i)secret|password|token|access[.]?key"
_SPARK_OPTION_SECRETS = r"(?i)url"

# JEP 451: Java 21 and newer print a warning at each attach without this option.
ALLOW_ATTACH = "-XX:+EnableDynamicAgentLoading"


class Loader(enum.StrEnum):
    """How a JVM gets the agent."""

    AUTO = "auto"
    """`configure` chooses and logs the reason."""
    JAVAAGENT = "javaagent"
    """The JVM option `-javaagent`."""
    REPORTER = "reporter"
    """A metrics reporter of Kafka's client attaches the agent to the running JVM."""


@dataclass(frozen=True)
class LoaderChoice:
    """The loader of one application and the reason for it."""

    loader: Loader
    reason: str
    driver_agent: Path
    """The jar on this machine."""
    executor_agent: str
    """The jar's absolute path on the executors' hosts, or its name in a YARN container (javaagent only)."""


def choose_loader(
    master: str, requested: Loader, jar: Path, agent_path: str | None = None, *, too_late: bool = False
) -> LoaderChoice:
    """The loader for an application on `master`.

    Args:
        master: Spark's master URL.
        requested: the caller's choice; AUTO decides by the master.
        jar: the agent jar on this machine.
        agent_path: the absolute path of the jar on every host that runs an executor.
        too_late: whether the driver's JVM has started without the agent.

    Raises:
        ConfigError: a relative `agent_path`, or `-javaagent` for other hosts without `agent_path`.
    """
    if agent_path is not None:
        require_absolute(agent_path)
    here = runs_on_this_machine(master)
    if requested is Loader.REPORTER:
        return LoaderChoice(requested, "asked for", jar, str(jar))
    if agent_path is not None:
        return LoaderChoice(Loader.JAVAAGENT, f"agent_path names the jar on every host: {agent_path}", jar, agent_path)
    if here:
        reason = "asked for" if requested is Loader.JAVAAGENT else f"all JVMs of {master} run on this machine"
        return LoaderChoice(Loader.JAVAAGENT, reason, jar, str(jar))
    if runs_on_yarn(master) and not (too_late and requested is Loader.AUTO):
        reason = (
            "asked for"
            if requested is Loader.JAVAAGENT
            else "YARN puts the jar into each container before its JVM starts"
        )
        return LoaderChoice(Loader.JAVAAGENT, reason, jar, jar.name)
    if requested is Loader.JAVAAGENT:
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
    """Whether executors are YARN containers; `yarn-client` is the name in Spark 1, which Spark still accepts."""
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
    """The settings to add.

    Args:
        present: the settings of the launch without brokernat.
        choice: the agent's loader.
        jars: the connector's jars; none if the user's settings have a connector.
    """
    shipped = [*map(str, jars)]
    if choice.loader is Loader.JAVAAGENT:
        driver, executor = (java_option(f"-javaagent:{jar}") for jar in (choice.driver_agent, choice.executor_agent))
    else:
        driver = executor = ALLOW_ATTACH
        shipped.append(str(choice.driver_agent))
    named = choice.loader is Loader.JAVAAGENT and not PurePosixPath(choice.executor_agent).is_absolute()
    needed = {
        YARN_FILES: joined(present.get(YARN_FILES, ""), [str(choice.driver_agent)], ",") if named else "",
        JARS: joined(present.get(JARS, ""), shipped, ","),
        DRIVER_OPTIONS: joined(present.get(DRIVER_OPTIONS, ""), [driver], " "),
        EXECUTOR_OPTIONS: joined(present.get(EXECUTOR_OPTIONS, ""), [executor], " "),
        "spark.redaction.regex": _alternatives(present.get("spark.redaction.regex", _SPARK_SECRETS), SECRET_NAMES),
        "spark.sql.redaction.options.regex": _alternatives(
            present.get("spark.sql.redaction.options.regex", _SPARK_OPTION_SECRETS), SECRET_NAMES
        ),
        # With speculation, two attempts of a task would write its rows twice.
        "spark.speculation": present.get("spark.speculation", "false"),
        LOADER_KEY: choice.loader.value,
    }
    return {name: value for name, value in needed.items() if value}


def joined(present: str, additions: Iterable[str], separator: str) -> str:
    """`present` with each addition once, in order."""
    parts = [present] if present else []
    parts += [addition for addition in dict.fromkeys(additions) if addition not in present.split(separator)]
    return separator.join(parts)


def java_option(option: str) -> str:
    """An option in the line of a JVM's options, which Spark splits like a shell."""
    return f'"{option}"' if re.search(r"\s", option) else option


def _alternatives(theirs: str, ours: str) -> str:
    return theirs if ours in theirs else f"{theirs}|{ours}"
