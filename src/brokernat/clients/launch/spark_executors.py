"""Spark's executors on other hosts: the only JVMs that do not inherit the child's environment.

The driver and local mode have `JAVA_TOOL_OPTIONS` from us. An executor is started by a worker, so its options travel
as Spark's setting `spark.executor.defaultJavaOptions`, which Spark puts in front of the job's own extraJavaOptions.
A job sets its options in many places; two of them reach every job without one changed line: `--conf` of
spark-submit, and `PYSPARK_SUBMIT_ARGS` for a Python program that starts its JVM itself. In both the last word wins,
so ours stands behind the user's and holds the user's value.

An executor whose `-javaagent` names a missing jar dies at once and is started again for ever, so the jar's path on
the hosts is asked for (`--agent-path`) and never guessed. A job that is seen to run elsewhere without it is refused.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from brokernat.clients.launch.environment import without_agent
from brokernat.clients.launch.kinds import Kind
from brokernat.clients.spark.environment import launch_settings
from brokernat.clients.spark.loader import runs_on_this_machine
from brokernat.clients.spark.settings import DRIVER_OPTIONS, EXECUTOR_OPTIONS, joined
from brokernat.errors import ConfigError, Problem
from brokernat.jvm import agent_argument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brokernat.address import AddressMap

SUBMIT_ARGS: Final = "PYSPARK_SUBMIT_ARGS"
# What PySpark takes where the variable is not set; it always ends in this word.
_NO_SUBMIT_ARGS = "pyspark-shell"
# The options of spark-submit that have no value (SparkSubmitOptionParser.switches).
_SWITCHES = frozenset({"--verbose", "-v", "--supervise", "--help", "-h", "--usage-error", "--version"})


@dataclass(frozen=True, slots=True)
class SparkWords:
    """The command and `PYSPARK_SUBMIT_ARGS`, with the options of the executors in one of them."""

    command: tuple[str, ...]
    submit_args: str | None
    added: str
    """Our words; empty where there are none."""


def with_executors(
    kind: Kind,
    program: Path,
    command: Sequence[str],
    environ: Mapping[str, str],
    address_map: AddressMap,
    jar: str | None,
) -> SparkWords:
    """The words of a Spark job whose executors load the agent from `jar`.

    Args:
        kind: SPARK for Spark's own scripts, else a program that may use PySpark.
        program: the command's file; Spark's own scripts stand in `bin` beside `conf`.
        command: the command line.
        environ: the child's environment.
        address_map: the map of every executor.
        jar: the agent's absolute path on every host; None where nobody vouches for one.

    Raises:
        ConfigError: a relative path, or a job that runs on other hosts and no path.
    """
    submit_args = environ.get(SUBMIT_ARGS)
    is_submit = kind is Kind.SPARK
    own, rest = _split(command[1:] if is_submit else shlex.split(submit_args or _NO_SUBMIT_ARGS))
    present = _settings(own, environ, program.resolve().parent.parent if is_submit else None)
    if jar is None:
        _refuse_other_hosts(present.get("spark.master", ""))
        return SparkWords(tuple(command), submit_args, "")
    if not PurePosixPath(jar).is_absolute():
        raise _refused("agent-path-relative", f"the agent's path `{jar}` is relative", "pass an absolute path")
    option = f"-javaagent:{jar}={agent_argument(address_map)}"
    # In cluster mode the driver is started by a worker, too.
    names = [EXECUTOR_OPTIONS, *([DRIVER_OPTIONS] if present.get("spark.submit.deployMode") == "cluster" else [])]
    values = [f"{name}={joined(without_agent(present.get(name, '')), [option], ' ')}" for name in names]
    words = [word for value in values for word in ("--conf", value)]
    added = shlex.join(word for name in names for word in ("--conf", f"{name}={option}"))
    if is_submit:
        return SparkWords((command[0], *own, *words, *rest), submit_args, added)
    return SparkWords(tuple(command), shlex.join([*own, *words, *rest]), added)


def without_ours(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what an outer `exec` had put into `PYSPARK_SUBMIT_ARGS`."""
    words = shlex.split(environ.get(SUBMIT_ARGS, ""))
    kept: list[str] = []
    for word in words:
        name, is_setting, value = word.partition("=")
        rest = without_agent(value) if is_setting and name in (EXECUTOR_OPTIONS, DRIVER_OPTIONS) else value
        if rest:
            kept.append(f"{name}={rest}")
        elif value:
            kept.pop()
        else:
            kept.append(word)
    if kept == words:
        return dict(environ)
    others = {name: value for name, value in environ.items() if name != SUBMIT_ARGS}
    return others if kept == [_NO_SUBMIT_ARGS] else {**others, SUBMIT_ARGS: shlex.join(kept)}


def _settings(own: Sequence[str], environ: Mapping[str, str], home: Path | None) -> dict[str, str]:
    """What the launch would see: the defaults file where one is known, then the words."""
    spark_home = home or (Path(environ["SPARK_HOME"]) if environ.get("SPARK_HOME") else None)
    known = {SUBMIT_ARGS: shlex.join(own), "SPARK_CONF_DIR": environ.get("SPARK_CONF_DIR", "")}
    settings = launch_settings({}, known, spark_home or Path("/nonexistent"))
    mode = [word for option, word in pairwise(own) if option == "--deploy-mode"]
    return settings | ({"spark.submit.deployMode": mode[-1]} if mode else {})


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options of spark-submit, and the application with its own words."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        takes_value = words[position] not in _SWITCHES and "=" not in words[position]
        position += 2 if takes_value else 1
    return list(words[:position]), list(words[position:])


def _refuse_other_hosts(master: str) -> None:
    if master and not runs_on_this_machine(master):
        raise _refused(
            "agent-path-unknown",
            f"the executors of {master} may run on other hosts, and where the agent's jar is there is not known",
            "copy it to every host (brokernat agent --copy-to DIR) and pass --agent-path /DIR/brokernat-agent.jar",
        )


def _refused(kind: str, message: str, hint: str) -> ConfigError:
    return ConfigError([Problem(kind, message, hint)])
