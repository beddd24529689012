"""`plan`: from a command and clusters to everything that is injected, said before it is done.

Files are looked at (the program, its first line, how it was linked), nothing is started and nothing written, so
`--dry-run` shows what would run. The child's environment is ours with a few variables more, so what it starts has the
map as well; whatever an outer `exec` had put there is taken out first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brokernat.address import AddressMap, Unmapped
from brokernat.clients.launch import environment as env
from brokernat.clients.launch import spark_executors
from brokernat.clients.launch.doubts import doubts
from brokernat.clients.launch.environment import Change
from brokernat.clients.launch.kinds import WAYS, Kind, Recognised, Way, recognise
from brokernat.clients.launch.one_map import one_map
from brokernat.clients.launch.program import find_program
from brokernat.clients.launch.spark_executors import SUBMIT_ARGS, with_executors
from brokernat.clients.launch.tools import PropertyFile, with_properties
from brokernat.config import Cluster
from brokernat.errors import ConfigError, MissingToolError, Problem
from brokernat.jvm import javaagent_option

_WHO = {
    Way.JVM: "JVMs",
    Way.LIBRDKAFKA: "programs with librdkafka",
    Way.PYTHON: "kafka-python and aiokafka",
}
_UNMAPPED = {Unmapped.FAIL: "is refused", Unmapped.PASS: "is dialled as it is"}


@dataclass(frozen=True, slots=True)
class Note:
    """A line for the person: what was injected and why, or what will not work."""

    text: str
    warning: bool = False

    def __str__(self) -> str:
        return f"warning: {self.text}" if self.warning else self.text


@dataclass(frozen=True, slots=True)
class Launch:
    """What is started, and how it differs from the command as it was typed."""

    program: Path
    command: tuple[str, ...]
    kind: Kind
    environment: Mapping[str, str]
    """The whole environment of the child; it may hold secrets of the user's."""
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
    """What `brokernat exec` does with a command.

    Args:
        command: the program and its words.
        clusters: those that the program talks to; the first one's properties are handed over.
        environ: the environment that the child would have without us.
        unmapped: instead of what the clusters' maps say.
        agent_path: the agent jar's absolute path on every host that runs a Spark executor.
        with_client_properties: give a program that takes a file of properties the cluster's.

    Raises:
        ProgramNotFoundError, NotExecutableError: the command's first word.
        ConfigError: no map or one that is too long, maps that exclude each other, a program that none gets into.
        MissingToolError: what would serve the program is not built or not installed.
    """
    base = spark_executors.without_ours(env.without_ours(environ))
    program = find_program(command[0], base)
    recognised = recognise(program)
    address_map = one_map(clusters, unmapped)
    if address_map is None and not with_client_properties:
        names = ", ".join(cluster.name for cluster in clusters)
        message = f"no address map to bring in: {names} has none"
        raise ConfigError(Problem("no-map", message, "add `address_map` to the cluster"))
    words, files, changes = tuple(command), [], []
    notes = [Note(f"{words[0]} counts as {recognised.kind}: {recognised.reason}")]
    if address_map is not None:
        injected, said = _injected(recognised, base, address_map)
        changes += injected
        notes += said
        notes += [Note(text, warning=True) for text in doubts(program, recognised, words)]
        words, injected, said = _for_executors(recognised.kind, program.path, words, base, address_map, agent_path)
        changes += injected
        notes += said
    if with_client_properties:
        words, file = with_properties(words, clusters[0])
        files.append(file)
        notes.append(Note(f"{file.path} holds the {file.about}"))
    env.check_lengths(changes)
    final = {**base, **{change.name: change.value for change in changes if change.value is not None}}
    gone = tuple(Change(name, None) for name in sorted(environ.keys() - final.keys()))
    return Launch(program.path, words, recognised.kind, final, (*changes, *gone), tuple(files), tuple(notes))


def _injected(
    recognised: Recognised, base: Mapping[str, str], address_map: AddressMap
) -> tuple[list[Change], list[Note]]:
    """Each way that reaches the kind; what is missing on this machine is an error only where nothing else is left."""
    changes: list[Change] = []
    notes: list[Note] = []
    ways = WAYS[recognised.kind]
    for way in sorted(ways):
        try:
            change = _change(way, base, address_map)
        except MissingToolError as missing:
            if len(ways) == 1:
                raise
            notes.append(Note(f"{_WHO[way]} are not served: {missing}", warning=True))
            continue
        changes.append(change)
        notes.append(Note(f"{_WHO[way]} get the map by {change.name}"))
    if ways != {Way.JVM}:
        changes += env.for_rules(address_map)
    return changes, [
        *notes,
        Note(f"an address that no rule names {_UNMAPPED[address_map.unmapped]} (unmapped={address_map.unmapped})"),
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
