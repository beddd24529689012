"""`plan` computes the injections for a command and its clusters. `replace_process` and `run_process` start it.

`plan` reads files (the program, its first line, its ELF header), starts nothing and writes nothing, so `--dry-run`
shows the result. The map is in environment variables, so the child's children have it, too. If an injection may not
work, that is a warning, because the program may not need it. A Java that does not start with the agent is refused,
because its own message would not name the cause.

The child replaces this process by `execve(2)`, so terminal, job control, signals and exit code need no forwarding.
Python ignores SIGPIPE and SIGXFSZ, and ignored signals stay ignored across `execve`, so both are reset first; otherwise
the child would print an error in `| head` instead of ending silently. If a tunnel must stay open for the child, this
process stays its parent, forwards signals and returns the child's code.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import NoReturn

from brokernat.address import AddressMap, Unmapped
from brokernat.clients.launch import environment as env
from brokernat.clients.launch import spark_executors
from brokernat.clients.launch.console_tools import PropertyFile, with_properties
from brokernat.clients.launch.environment import Change, map_of_process
from brokernat.clients.launch.program import (
    ENVIRONMENT_CHANGERS,
    WAYS,
    Kind,
    Program,
    Recognised,
    Way,
    find_program,
    recognise,
)
from brokernat.clients.launch.spark_executors import with_executors
from brokernat.clients.spark.environment import SUBMIT_ARGS
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, MissingToolError, NotExecutableError
from brokernat.jvm import javaagent_option
from brokernat.jvm.java import feature_of

_CLIENTS_OF = {
    Way.JVM: "JVMs",
    Way.LIBRDKAFKA: "programs with librdkafka",
    Way.PYTHON: "kafka-python and aiokafka",
}
_UNMAPPED = {Unmapped.FAIL: "is refused", Unmapped.PASS: "is dialled as it is"}


@dataclass(frozen=True, slots=True)
class Note:
    """A message for the user: an injection and its reason, or a limit."""

    text: str
    warning: bool = False

    def __str__(self) -> str:
        return f"warning: {self.text}" if self.warning else self.text


@dataclass(frozen=True, slots=True)
class Launch:
    """The process to start, with the changes to the given command."""

    program: Path
    command: tuple[str, ...]
    kind: Kind
    environment: Mapping[str, str]
    """The complete environment of the child; it may hold secrets of the user."""
    changes: tuple[Change, ...]
    files: tuple[PropertyFile, ...]
    notes: tuple[Note, ...]


def plan(
    command: Sequence[str],
    clusters: Sequence[Cluster],
    environ: Mapping[str, str],
    *,
    unmapped: Unmapped | None = None,
    agent_path: str | None = None,
    with_client_properties: bool = False,
) -> Launch:
    """Plans how `brokernat exec` starts a command.

    Args:
        command: the program and its arguments.
        clusters: the clusters of the program; it gets the properties of the first one.
        environ: the environment of the child without brokernat.
        unmapped: overrides `unmapped` of the maps.
        agent_path: the agent jar's absolute path on every host that runs a Spark executor.
        with_client_properties: whether to pass a file with the cluster's properties to the program.

    Raises:
        ProgramNotFoundError, NotExecutableError: for the command's first word.
        ConfigError: no map or one that is too long, maps that exclude each other, a program without a way of
            injection, executors on other hosts with a cluster behind a tunnel.
        MissingToolError: the needed library is not built or not installed.
    """
    base = spark_executors.without_ours(env.without_ours(environ))
    program = find_program(command[0], base)
    recognised = recognise(program)
    address_map = map_of_process(clusters, unmapped)
    if address_map is None and not with_client_properties:
        names = ", ".join(cluster.name for cluster in clusters)
        message = f"no address map to apply: {names} has none"
        raise ConfigError(Finding("no-map", message, "add `address_map` to the cluster"))
    words, files, changes = tuple(command), [], []
    notes = [Note(f"{words[0]} is recognised as {recognised.kind}: {recognised.reason}")]
    if recognised.kind in (Kind.SPARK, Kind.PYTHON) and any(cluster.tunnel is not None for cluster in clusters):
        spark_executors.refuse_other_hosts(recognised.kind, program.path, words, base)
    if address_map is not None:
        injected, new_notes = _injected(recognised, base, address_map)
        changes += injected
        notes += new_notes
        notes += [Note(text, warning=True) for text in warnings(program, recognised, words)]
        words, injected, new_notes = _for_executors(recognised.kind, program.path, words, base, address_map, agent_path)
        changes += injected
        notes += new_notes
    if with_client_properties:
        words, file = with_properties(words, clusters[0])
        files.append(file)
        notes.append(Note(f"{file.path} holds the {file.about}"))
    env.check_lengths(changes)
    final = {**base, **{change.name: change.value for change in changes if change.value is not None}}
    removed = tuple(Change(name, None) for name in sorted(environ.keys() - final.keys()))
    return Launch(program.path, words, recognised.kind, final, (*changes, *removed), tuple(files), tuple(notes))


def plan_without_map(command: Sequence[str], environ: Mapping[str, str]) -> Launch:
    """The plan for a program that needs no map: the unchanged command.

    Raises:
        ProgramNotFoundError, NotExecutableError: the command's first word.
    """
    program = find_program(command[0], environ)
    return Launch(program.path, tuple(command), Kind.OTHER, environ, (), (), ())


def _injected(
    recognised: Recognised, base: Mapping[str, str], address_map: AddressMap
) -> tuple[list[Change], list[Note]]:
    """The changes for each way of the program's kind; a missing library is an error only for a kind with one way."""
    changes: list[Change] = []
    notes: list[Note] = []
    ways = WAYS[recognised.kind]
    for way in sorted(ways):
        try:
            change = _change(way, base, address_map)
        except MissingToolError as missing:
            if len(ways) == 1:
                raise
            notes.append(Note(f"{_CLIENTS_OF[way]} get no map: {missing}", warning=True))
            continue
        changes.append(change)
        notes.append(Note(f"{_CLIENTS_OF[way]} get the map by {change.name}"))
    if ways != {Way.JVM}:
        changes += env.for_rules(address_map)
    return changes, [
        *notes,
        Note(f"an address without a rule {_UNMAPPED[address_map.unmapped]} (unmapped={address_map.unmapped})"),
    ]


def _for_executors(
    kind: Kind,
    program: Path,
    command: tuple[str, ...],
    base: Mapping[str, str],
    address_map: AddressMap,
    agent_path: str | None,
) -> tuple[tuple[str, ...], list[Change], list[Note]]:
    """The command, the change and the note for executors that do not inherit the environment."""
    if kind not in (Kind.SPARK, Kind.PYTHON):
        text = "--agent-path is not used: it is for Spark's programs and for Python; put `exec` in front of these"
        return command, [], [] if agent_path is None else [Note(text, warning=True)]
    spark = with_executors(kind, program, command, base, address_map, agent_path)
    if not spark.added:
        return command, [], []
    in_command = spark.submit_args == base.get(SUBMIT_ARGS)
    where = "the command" if in_command else SUBMIT_ARGS
    note = Note(f"Spark's executors {spark.means} (words in {where})")
    return spark.command, [] if in_command else [Change(SUBMIT_ARGS, spark.submit_args, spark.added)], [note]


def _change(way: Way, base: Mapping[str, str], address_map: AddressMap) -> Change:
    if way is Way.JVM:
        return env.for_jvm(base, javaagent_option(address_map))
    if way is Way.PYTHON:
        return env.for_python(base)
    from brokernat.clients import librdkafka

    return env.for_librdkafka(base, librdkafka.preload_library())


_OLDEST_JAVA = 11
_JAVA_VERSION = re.compile(r'^JAVA_VERSION="?([^"\n]+)"?', re.MULTILINE)
_JAVA_MODULES = re.compile(r'^MODULES="([^"\n]+)"', re.MULTILINE)
_AGENT_MODULE = "java.instrument"
# Python's options with a value in the next word.
_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_WITHOUT_SITECUSTOMIZE = re.compile(r"-[a-zA-Z]*[IES][a-zA-Z]*")
# They run clients that are written in JavaScript, beside those of librdkafka.
_JAVASCRIPT = frozenset({"node", "nodejs", "bun", "deno", "npm", "npx"})
_ENV_EMPTY = re.compile(r"-|-[0v]*i.*|--ignore-environment")


def warnings(program: Program, recognised: Recognised, command: Sequence[str]) -> Iterator[str]:
    """Reasons why the program may not get the map, each as a sentence.

    Raises:
        ConfigError: code `java-too-old` or `java-without-agents`: this Java does not start with the agent.
    """
    if recognised.kind is Kind.JAVA:
        _refuse_java(program)
    if recognised.kind is Kind.PYTHON:
        words = [*program.interpreter, *command] if program.interpreter else [*command]
        if flag := _flag_without_sitecustomize(words[1:]):
            yield (
                f"Python with {flag} reads no sitecustomize from PYTHONPATH: kafka-python and aiokafka get no map, "
                "librdkafka and PySpark do"
            )
    name = program.path.name
    if name in ENVIRONMENT_CHANGERS:
        yield f"{name} starts programs with another environment: put `brokernat exec` after it, not before"
    if name in _JAVASCRIPT:
        yield "a client that is written in JavaScript, such as kafkajs, gets no map: let it use `brokernat proxy`"
    if name == "env" and any(map(_ENV_EMPTY.fullmatch, _options(command))):
        yield "env removes all variables, also the map: put `brokernat exec` after it, not before"
    elf = recognised.elf
    if recognised.kind is Kind.OTHER and elf is not None and elf.mentions_rdkafka:
        yield "it mentions librdkafka but is not linked to it: if librdkafka is built in, it gets no map"


def _flag_without_sitecustomize(words: Sequence[str]) -> str | None:
    """The option of Python that disables the hook; options end at the script, `-c` or `-m`."""
    left = iter(words)
    for word in left:
        if not word.startswith("-") or word in ("-", "--", "-c", "-m"):
            return None
        if word in _WITH_VALUE:
            next(left, None)
        elif _WITHOUT_SITECUSTOMIZE.fullmatch(word):
            return word
    return None


def _options(command: Sequence[str]) -> Iterator[str]:
    """The options of `env`: the words before the first variable or program."""
    return takewhile(lambda word: word.startswith("-"), command[1:])


def _refuse_java(program: Program) -> None:
    """Raise for an unsupported Java, by its `release` file; without the file the Java is accepted."""
    try:
        release = (program.path.resolve().parent.parent / "release").read_text("utf-8")
    except OSError:
        return
    version, modules = _JAVA_VERSION.search(release), _JAVA_MODULES.search(release)
    if version and feature_of(version[1]) < _OLDEST_JAVA:
        message = f"`{program.path}` is Java {version[1]}, and the agent needs {_OLDEST_JAVA}"
        hint = f"run the program with a Java {_OLDEST_JAVA} or newer; Kafka clients of every version run there"
        raise ConfigError(Finding("java-too-old", message, hint))
    if modules and _AGENT_MODULE not in modules[1].split():
        message = f"`{program.path}` was built without the module {_AGENT_MODULE} and does not start with an agent"
        hint = f"rebuild it with `jlink --add-modules ...,{_AGENT_MODULE}`, or run the program with a complete JDK"
        raise ConfigError(Finding("java-without-agents", message, hint))


_SHELL = "/bin/sh"


def replace_process(launch: Launch) -> NoReturn:
    """Become the child.

    Raises:
        NotExecutableError: the kernel does not start the program.
        ConfigError: code `descriptor-taken`: the descriptor for a file is in use.
    """
    for file in launch.files:
        _create_in_memory(file)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    path = str(launch.program)
    try:
        os.execve(path, launch.command, launch.environment)  # noqa: S606
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise NotExecutableError(f"`{path}` cannot be started: {error.strerror}") from None
    # A script without a `#!` line: the shell runs it, as for execvp(3).
    os.execve(_SHELL, [_SHELL, path, *launch.command[1:]], launch.environment)  # noqa: S606


_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGQUIT)


def run_process(launch: Launch) -> int:
    """Start the child and wait for its end. Returns its exit code, or 128 plus the number of the signal that ended it.

    Raises:
        NotExecutableError: the kernel does not start the program.
        ConfigError: code `descriptor-taken`: the descriptor for a file is in use.
    """
    for file in launch.files:
        _create_in_memory(file)
    children: list[subprocess.Popen[bytes]] = []
    pending: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        # The terminal sends its signals to the child directly.
        if not (number in _TERMINAL_SIGNALS and _in_foreground()):
            pending.append(number)
            send()

    def send() -> None:
        while children and pending:
            children[0].send_signal(pending.pop(0))

    # Ignored signals, as under `nohup`, stay ignored in the child.
    forwarded = [number for number in _FORWARDED if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, forward) for number in forwarded}
    try:
        children.append(_started(launch))
        # A signal may arrive when the child already runs but its pid is not stored yet.
        send()
        code = children[0].wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _started(launch: Launch) -> subprocess.Popen[bytes]:
    descriptors = [file.descriptor for file in launch.files]
    path = str(launch.program)
    try:
        return subprocess.Popen(launch.command, executable=path, env=launch.environment, pass_fds=descriptors)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise NotExecutableError(f"`{path}` cannot be started: {error.strerror}") from None
    return subprocess.Popen([_SHELL, path, *launch.command[1:]], env=launch.environment, pass_fds=descriptors)


def _in_foreground() -> bool:
    """Whether this process's group is the foreground group of the terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)


def _create_in_memory(file: PropertyFile) -> None:
    """Create the file in memory. Other users cannot read it, and it exists until the last process closes it."""
    anonymous = os.memfd_create("brokernat-client-properties", os.MFD_CLOEXEC)
    os.fchmod(anonymous, 0o600)
    os.write(anonymous, file.text.encode())
    # F_DUPFD returns the lowest free descriptor from this number on; it stays open across execve.
    if (duplicate := fcntl.fcntl(anonymous, fcntl.F_DUPFD, file.descriptor)) != file.descriptor:
        os.close(duplicate)
        raise ConfigError(Finding("descriptor-taken", f"file descriptor {file.descriptor} is in use already"))
