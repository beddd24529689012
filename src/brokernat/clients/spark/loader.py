"""How the agent gets into Spark's JVMs: chosen before the start, with the reason in words.

`-javaagent` is the stronger of the two (it is there before the first class of the host) but needs the jar under the
same absolute path on every host; a JVM whose option names a missing jar dies at once, and a standalone cluster
starts the next executor for ever (5,035 starts in 95 s, seen). So it is chosen only where the path is certain: the
JVMs of this machine, or a path that the user vouches for. Everywhere else Spark ships the jar (`spark.jars`) and the
agent attaches itself when a Kafka client makes its metrics reporter.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import ConfigError, Problem
from brokernat.jvm import require_absolute

AGENT_CLASS = "io.brokernat.agent.Agent"
REPORTER_CLASS = "io.brokernat.agent.ReporterLoader"


class Loader(enum.StrEnum):
    """What brings the agent into a JVM."""

    AUTO = "auto"
    JAVAAGENT = "javaagent"
    REPORTER = "reporter"


@dataclass(frozen=True)
class LoaderChoice:
    """The loader of one application and why it is this one."""

    loader: Loader
    reason: str
    driver_agent: Path
    """The jar on this machine."""
    executor_agent: str
    """The jar's absolute path on the hosts of the executors (javaagent only)."""


def choose_loader(master: str, asked: Loader, jar: Path, agent_path: str | None = None) -> LoaderChoice:
    """The loader for an application on `master`.

    Args:
        master: Spark's master URL.
        asked: what the caller wants; AUTO decides by the master.
        jar: the agent jar on this machine.
        agent_path: absolute path of the jar on every host that runs an executor, vouched for by the caller.

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


def _refused(kind: str, message: str, hint: str) -> ConfigError:
    return ConfigError(Problem(kind, message, hint))
