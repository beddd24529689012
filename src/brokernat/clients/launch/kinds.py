"""What a command is, seen from its program: which of three ways of injection can reach the Kafka client in it.

| kind | known by | served by |
|---|---|---|
| java | the name `java`, or linked to `libjli`, the launcher's library | jvm |
| kafka tool | a shell script that starts `kafka-run-class` | jvm |
| spark | `spark-submit`, `pyspark`, `spark-shell`, `spark-sql`, ... | jvm, librdkafka, python |
| python | an interpreter's name, or a script whose first line names one | jvm (PySpark), librdkafka, python |
| librdkafka | linked to `librdkafka.so` (kcat) | librdkafka |
| shell, other | anything else that is loaded dynamically: it may start all of the above | jvm, librdkafka, python |

Whoever can only be guessed gets all three: each of them is silent in a program that it does not concern. A program
that no way reaches (statically linked, Go) is refused: it would run, and meet the addresses that it cannot reach. Those
that only start another one hand the environment on, however they were linked.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from brokernat.clients.launch.elf import MAGIC, Elf, read_elf
from brokernat.clients.launch.program import Program
from brokernat.errors import ConfigError, Problem


class Way(enum.StrEnum):
    """How a map gets into a process and into what it starts."""

    JVM = "jvm"
    LIBRDKAFKA = "librdkafka"
    PYTHON = "python"


class Kind(enum.StrEnum):
    """What a command is."""

    JAVA = "java"
    KAFKA_TOOL = "kafka tool"
    SPARK = "spark"
    PYTHON = "python"
    LIBRDKAFKA = "librdkafka"
    SHELL = "shell"
    OTHER = "other"


_ALL = frozenset(Way)
WAYS: dict[Kind, frozenset[Way]] = {
    Kind.JAVA: frozenset({Way.JVM}),
    Kind.KAFKA_TOOL: frozenset({Way.JVM}),
    Kind.SPARK: _ALL,
    Kind.PYTHON: _ALL,
    Kind.LIBRDKAFKA: frozenset({Way.LIBRDKAFKA}),
    Kind.SHELL: _ALL,
    Kind.OTHER: _ALL,
}

SPARK_PROGRAMS = frozenset({"spark-submit", "pyspark", "spark-shell", "spark-sql", "spark-connect-shell", "sparkR"})
_PYTHON = re.compile(r"(python|pypy)[0-9.]*t?")
_STARTERS = frozenset({"dumb-init", "gosu", "su-exec", "tini", "tini-static", "uv", "uvx"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "busybox", "ksh", "zsh", "fish"})
_NAMES = {
    "java": Kind.JAVA,
    **dict.fromkeys(SPARK_PROGRAMS, Kind.SPARK),
    **dict.fromkeys(_SHELLS, Kind.SHELL),
}
_STATIC_HINT = (
    "a statically linked program loads nothing that could translate: give it addresses by another way, such as the "
    "NAT rules of `brokernat render nftables`"
)


@dataclass(frozen=True, slots=True)
class Recognised:
    """A command's kind and what it was known by, as a clause."""

    kind: Kind
    reason: str
    elf: Elf | None = None


def recognise(program: Program) -> Recognised:
    """What `program` is.

    Raises:
        ConfigError: of kind `out-of-reach`, nothing can be brought into it.
    """
    name = program.path.name
    named = Kind.PYTHON if _PYTHON.fullmatch(name) else _NAMES.get(name)
    if named is not None:
        return Recognised(named, "its name says so")
    if name in _STARTERS:
        return Recognised(Kind.OTHER, "its name is that of a program that starts another")
    if program.head.startswith(MAGIC):
        return _recognise_binary(program)
    if program.text is None:
        return Recognised(Kind.OTHER, "its file is of no kind that is known")
    return _recognise_script(program)


def _recognise_binary(program: Program) -> Recognised:
    elf = read_elf(program.path)
    if elf is None:
        return Recognised(Kind.OTHER, "it is a binary that cannot be read")
    if elf.needs("libjli"):
        return Recognised(Kind.JAVA, "it is linked to libjli, the launcher of a JVM", elf)
    if elf.needs("librdkafka"):
        return Recognised(Kind.LIBRDKAFKA, "it is linked to librdkafka", elf)
    if elf.go:
        built_in = "with librdkafka built in" if elf.mentions_rdkafka else "with a Kafka client of its own, if any"
        raise _out_of_reach(program, f"is a Go program, {built_in}")
    if elf.static:
        raise _out_of_reach(program, "is statically linked")
    return Recognised(Kind.OTHER, "it is loaded dynamically", elf)


def _recognise_script(program: Program) -> Recognised:
    words = [word.rpartition("/")[2] for word in program.interpreter]
    # `#!/usr/bin/env -S python3 -u`: the interpreter is the first word that is neither env nor an option.
    runner = next((word for word in words if word != "env" and not word.startswith("-") and "=" not in word), "sh")
    text = program.text or ""
    if _PYTHON.fullmatch(runner) or _is_long_python_line(text):
        return Recognised(Kind.PYTHON, f"it is a script for {runner}")
    if runner in _SHELLS:
        if "kafka-run-class" in text or program.path.name.startswith("kafka-run-class"):
            return Recognised(Kind.KAFKA_TOOL, "it is a shell script that starts kafka-run-class")
        return Recognised(Kind.SHELL, "it is a shell script")
    return Recognised(Kind.OTHER, f"it is a script for {runner}")


def _is_long_python_line(text: str) -> bool:
    """How pip writes a script whose interpreter's path is too long for a `#!` line."""
    return re.match(r"#!/bin/sh\n'''exec' \S*(python|pypy)[0-9.]* ", text) is not None


def _out_of_reach(program: Program, what: str) -> ConfigError:
    return ConfigError(Problem("out-of-reach", f"`{program.path}` {what}: no map can be brought into it", _STATIC_HINT))
