"""What can keep an injection from working although everything is in place: seen beforehand and said.

A doubt is a warning, because the program may not need what is missing; a Java that would not start with the agent is
refused, because it would end in a message of the JVM that nobody connects with an address map.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from brokernat.clients.launch.kinds import Kind, Recognised
from brokernat.clients.launch.program import Program
from brokernat.errors import ConfigError, Problem
from brokernat.jvm.java import feature_of

_OLDEST_JAVA = 11
_JAVA_VERSION = re.compile(r'^JAVA_VERSION="?([^"\n]+)"?', re.MULTILINE)
_JAVA_MODULES = re.compile(r'^MODULES="([^"\n]+)"', re.MULTILINE)
_FOR_AGENTS = "java.instrument"
# Options of Python that take the next word.
_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_BLIND = re.compile(r"-[a-zA-Z]*[IES][a-zA-Z]*")
# Programs that start another one with an environment of its own choice.
_STRIPPERS = frozenset({"sudo", "su", "doas", "pkexec", "systemd-run", "ssh", "docker", "podman", "nerdctl", "kubectl"})
_ENV_EMPTY = re.compile(r"-|-[0v]*i.*|--ignore-environment")


def doubts(program: Program, recognised: Recognised, command: Sequence[str]) -> Iterator[str]:
    """Each doubt as a sentence.

    Raises:
        ConfigError: of kind `java-too-old` or `java-without-agents`, this Java does not start with the agent.
    """
    if recognised.kind is Kind.JAVA:
        _refuse_java(program)
    if recognised.kind is Kind.PYTHON:
        words = [*program.interpreter, *command] if program.interpreter else [*command]
        if flag := _blind_flag(words[1:]):
            yield (
                f"Python with {flag} reads no sitecustomize from PYTHONPATH: kafka-python and aiokafka are not served, "
                "clients on librdkafka and PySpark are"
            )
    name = program.path.name
    if name in _STRIPPERS:
        yield f"{name} starts programs with another environment: put `brokernat exec` behind it, not in front"
    if name == "env" and any(map(_ENV_EMPTY.fullmatch, _options(command))):
        yield "env takes all variables away, the map among them: put `brokernat exec` behind it, not in front"
    elf = recognised.elf
    if recognised.kind is Kind.OTHER and elf is not None and elf.mentions_rdkafka:
        yield "librdkafka is named in it and not linked to it: where it is built in, no map can be brought into it"


def _blind_flag(words: Sequence[str]) -> str | None:
    """Python's own option that keeps our hook out; its options end at the script, `-c` or `-m`."""
    left = iter(words)
    for word in left:
        if not word.startswith("-") or word in ("-", "--", "-c", "-m"):
            return None
        if word in _WITH_VALUE:
            next(left, None)
        elif _BLIND.fullmatch(word):
            return word
    return None


def _options(command: Sequence[str]) -> Iterator[str]:
    """Of `env`: what stands in front of the first variable or program."""
    return takewhile(lambda word: word.startswith("-"), command[1:])


def _refuse_java(program: Program) -> None:
    """Told by the `release` file beside the launcher; without one the Java is taken as it is."""
    try:
        release = (program.path.resolve().parent.parent / "release").read_text("utf-8")
    except OSError:
        return
    version, modules = _JAVA_VERSION.search(release), _JAVA_MODULES.search(release)
    if version and feature_of(version[1]) < _OLDEST_JAVA:
        message = f"`{program.path}` is Java {version[1]}, and the agent needs {_OLDEST_JAVA}"
        hint = f"run the program with a Java {_OLDEST_JAVA} or newer; Kafka clients of every version run there"
        raise ConfigError(Problem("java-too-old", message, hint))
    if modules and _FOR_AGENTS not in modules[1].split():
        message = f"`{program.path}` was made without the module {_FOR_AGENTS}, and does not start with any agent"
        hint = f"make it anew with `jlink --add-modules ...,{_FOR_AGENTS}`, or run the program with a whole Java"
        raise ConfigError(Problem("java-without-agents", message, hint))
