"""Agent options for Spark executors on other hosts, which do not inherit the child's environment.

Driver and local mode get `JAVA_TOOL_OPTIONS`. A worker starts an executor, so its options are in Spark's setting
`spark.executor.defaultJavaOptions`, which Spark puts before the job's extraJavaOptions. Two places work for every
unchanged job: `--conf` of spark-submit, and `PYSPARK_SUBMIT_ARGS` for a Python program that starts its JVM itself. In
both the last value wins, so brokernat's comes after the user's and includes it.

An executor whose `-javaagent` names a missing jar exits at once and is restarted for ever, so the jar's path on the
hosts is never guessed. With `--agent-path` the executors start with the agent. YARN does not need that option: it puts
files into the working directory of a container before its JVM starts, also for a driver in a container. Elsewhere Spark
ships the jar (`--jars`), its plugin loads the agent before the first task, and the rules are in the executor's
environment. Two cases are refused, because the jar would be missing: a driver that a worker starts, and a job whose
code overrides `spark.jars` or `spark.plugins`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from brokernat.address import AddressMap, canonical_text
from brokernat.clients.launch.environment import MAP, UNMAPPED, without_agent
from brokernat.clients.launch.program import Kind
from brokernat.clients.spark.environment import SUBMIT_ARGS, launch_settings, submit_words
from brokernat.clients.spark.settings import (
    ALLOW_ATTACH,
    DRIVER_OPTIONS,
    EXECUTOR_OPTIONS,
    JARS,
    YARN_FILES,
    executors_elsewhere,
    joined,
    runs_on_this_machine,
    runs_on_yarn,
)
from brokernat.errors import ConfigError, Finding
from brokernat.jvm import agent_argument, agent_jar, require_absolute

# PySpark's default if the variable is not set; the value always ends in this word.
_NO_SUBMIT_ARGS = "pyspark-shell"
_DEPLOY_MODE: Final = "spark.submit.deployMode"
_SET_IN_CODE = re.compile(r"""["'](spark\.(?:jars|plugins))["']""")
_GIVE_A_PATH: Final = (
    "copy it to every host (brokernat agent --copy-to DIR) and pass --agent-path /DIR/brokernat-agent.jar"
)
_MOUNT_IT: Final = (
    "let a pod template put it into driver and executors (docs/guides/clusters.md) "
    "and pass --agent-path with its path there"
)
# The options of spark-submit without a value (SparkSubmitOptionParser.switches).
_SWITCHES = frozenset({"--verbose", "-v", "--supervise", "--help", "-h", "--usage-error", "--version"})


@dataclass(frozen=True, slots=True)
class SparkWords:
    """The command and `PYSPARK_SUBMIT_ARGS`, with the options of the executors in one of them."""

    command: tuple[str, ...]
    submit_args: str | None
    added: str
    """The added words; empty if there are none."""
    means: str = ""
    """How the executors get the agent."""


def with_executors(
    kind: Kind,
    program: Path,
    command: Sequence[str],
    environ: Mapping[str, str],
    address_map: AddressMap,
    jar: str | None,
) -> SparkWords:
    """The command of a Spark job whose executors load the agent.

    Args:
        kind: SPARK for Spark's own scripts, else a program that may use PySpark.
        program: the command's file; Spark's own scripts are in `bin` beside `conf`.
        command: the command line.
        environ: the child's environment.
        address_map: the map of every executor.
        jar: the agent's absolute path on every host; None without `--agent-path`.

    Raises:
        ConfigError: a relative path, a job on other hosts that needs a path, unparsable options.
        MissingToolError: the agent jar was not built.
    """
    submit_args = environ.get(SUBMIT_ARGS)
    is_submit = kind is Kind.SPARK
    own, rest, present = _options(kind, program, command, environ)
    # In cluster mode a worker starts the driver, too.
    in_cluster_mode = present.get(_DEPLOY_MODE) == "cluster"
    if jar is not None:
        require_absolute(jar)
        additions, means = by_path(jar, address_map, driver=in_cluster_mode), f"load the agent from {jar}"
    elif runs_on_yarn(present.get("spark.master", "")):
        additions = in_containers(address_map, driver=in_cluster_mode)
        means = "get the agent from YARN, in the working directory of each container"
    elif _elsewhere(present):
        _refuse_without_path(present, rest if is_submit else command[1:])
        additions, means = shipped(address_map), "get the agent from Spark, by --jars and a plugin"
    else:
        return SparkWords(tuple(command), submit_args, "")
    words = [word for addition in additions for word in addition.words(present)]
    added = shlex.join(word for addition in additions for word in addition.words({}))
    if is_submit:
        return SparkWords((command[0], *own, *words, *rest), submit_args, added, means)
    return SparkWords(tuple(command), shlex.join([*own, *words, *rest]), added, means)


def refuse_other_hosts(kind: Kind, program: Path, command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Refuse executors on other hosts for a cluster behind a tunnel. A master that the job's code sets is not detected.

    Raises:
        ConfigError: code `executors-elsewhere`.
    """
    _, _, present = _options(kind, program, command, environ)
    if _elsewhere(present):
        raise executors_elsewhere(present["spark.master"])


def _options(
    kind: Kind, program: Path, command: Sequence[str], environ: Mapping[str, str]
) -> tuple[list[str], list[str], Mapping[str, str]]:
    """Spark's options in the command or in `PYSPARK_SUBMIT_ARGS`, the words after them, and the settings."""
    is_submit = kind is Kind.SPARK
    own, rest = _split(command[1:] if is_submit else submit_words(environ.get(SUBMIT_ARGS) or _NO_SUBMIT_ARGS))
    return own, rest, _settings(own, environ, program.resolve().parent.parent if is_submit else None)


def _elsewhere(present: Mapping[str, str]) -> bool:
    """Whether executors run on other hosts, by the options. A master that the job's code sets is not detected."""
    master = present.get("spark.master", "")
    return bool(master) and not runs_on_this_machine(master)


def _refuse_without_path(present: Mapping[str, str], words: Sequence[str]) -> None:
    if present.get(_DEPLOY_MODE) == "cluster":
        in_pods = present["spark.master"].startswith("k8s:")
        by = "in a pod" if in_pods else "by a worker"
        message = f"in cluster mode the driver is started {by}, before Spark ships any jar"
        raise _refused("agent-path-unknown", message, _MOUNT_IT if in_pods else _GIVE_A_PATH)
    for word in words:
        file = Path(word)
        code = file.read_text("utf-8", "replace") if file.suffix == ".py" and file.is_file() else ""
        if set_ := _SET_IN_CODE.search(code):
            message = f"`{word}` sets {set_[1]} in its code, which removes the agent that Spark would ship"
            raise _refused("agent-path-unknown", message, _GIVE_A_PATH)


def without_ours(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the additions of an outer `exec` to `PYSPARK_SUBMIT_ARGS`."""
    try:
        words = submit_words(environ.get(SUBMIT_ARGS, ""))
    except ConfigError:
        # brokernat did not write this value, so nothing is removed; if Spark reads it, the error is reported there.
        return dict(environ)
    kept: list[str] = []
    remaining = iter(words)
    for option in remaining:
        value = next(remaining, None) if option in ("--conf", "--jars") else None
        if value is None:
            kept.append(option)
        elif rest := theirs(option, value):
            kept += [option, rest]
    if kept == words:
        return dict(environ)
    others = {name: value for name, value in environ.items() if name != SUBMIT_ARGS}
    return others if kept == [_NO_SUBMIT_ARGS] else {**others, SUBMIT_ARGS: shlex.join(kept)}


def _settings(own: Sequence[str], environ: Mapping[str, str], home: Path | None) -> dict[str, str]:
    """The settings of the launch: from the defaults file, if known, then from the options."""
    spark_home = home or (Path(environ["SPARK_HOME"]) if environ.get("SPARK_HOME") else None)
    known = {SUBMIT_ARGS: shlex.join(own), "SPARK_CONF_DIR": environ.get("SPARK_CONF_DIR", "")}
    settings = launch_settings({}, known, spark_home or Path("/nonexistent"))
    mode = [word for option, word in pairwise(own) if option == "--deploy-mode"]
    return settings | ({_DEPLOY_MODE: mode[-1]} if mode else {})


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options of spark-submit, and the application with its arguments."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        takes_value = words[position] not in _SWITCHES and "=" not in words[position]
        position += 2 if takes_value else 1
    return list(words[:position]), list(words[position:])


def _refused(kind: str, message: str, hint: str) -> ConfigError:
    return ConfigError(Finding(kind, message, hint))


_PLUGIN: Final = "io.brokernat.agent.spark.MapPlugin"
_JAR_NAME: Final = "brokernat-agent.jar"
_PLUGINS: Final = "spark.plugins"
_EXECUTOR_ENV: Final = "spark.executorEnv."


@dataclass(frozen=True, slots=True)
class Addition:
    """The addition to one setting, after the user's value; without a separator it is the whole value."""

    name: str
    ours: str
    separator: str | None

    def words(self, present: Mapping[str, str]) -> tuple[str, str]:
        """The two words of the command line."""
        value = self.ours
        if self.separator is not None:
            value = joined(without_agent(present.get(self.name, "")), [self.ours], self.separator)
        # `--jars` overrides `spark.jars` in any order.
        return ("--jars", value) if self.name == JARS else ("--conf", f"{self.name}={value}")


def by_path(jar: str, address_map: AddressMap, *, driver: bool) -> list[Addition]:
    """Additions with which executors, and with `driver` also the driver, start with the agent at the path `jar`."""
    option = f"-javaagent:{jar}={agent_argument(address_map)}"
    names = [EXECUTOR_OPTIONS, *([DRIVER_OPTIONS] if driver else [])]
    return [Addition(name, option, " ") for name in names]


def in_containers(address_map: AddressMap, *, driver: bool) -> list[Addition]:
    """Additions with which YARN puts the agent's jar into each container, and the executors, with `driver` also the
    driver, start with it.

    Raises:
        MissingToolError: the jar was not built.
    """
    jar = agent_jar()
    return [Addition(YARN_FILES, str(jar), ","), *by_path(jar.name, address_map, driver=driver)]


def shipped(address_map: AddressMap) -> list[Addition]:
    """Additions with which Spark ships the agent's jar, and the plugin in it loads the agent into each executor.

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
    """The user's part of an option's value; may be empty."""
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
    YARN_FILES: _without_jar,
    _PLUGINS: _without_plugin,
    EXECUTOR_OPTIONS: without_agent,
    DRIVER_OPTIONS: without_agent,
    f"{_EXECUTOR_ENV}{MAP}": _nothing,
    f"{_EXECUTOR_ENV}{UNMAPPED}": _nothing,
}
"""For each extended setting, the function that removes brokernat's addition."""
