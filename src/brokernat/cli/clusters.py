"""The cluster or address map of a command, from its options and brokernat.yaml.

A cluster from `--bootstrap-server` has the login of `--command-config`, the file of Kafka's own tools. A command that
only needs a map does not resolve the secrets of the file, because it opens no connection.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from brokernat.address import AddressMap, Endpoint
from brokernat.cli import console
from brokernat.cli.error_reports import HintedUsageError, require_extra
from brokernat.cli.options import CLUSTER, CONFIG_VARIABLE, DEFAULT_FILE, PATH, config_option
from brokernat.config import Cluster, Config, load
from brokernat.config.cluster import UNNAMED
from brokernat.errors import ConfigError, Finding, Location
from brokernat.render import Subject
from brokernat.text import counted

if TYPE_CHECKING:
    from brokernat.tunnel import Tunnel

_RULE_HINT = "write `advertised = reachable`"
_SEVERAL_MAPS = "several clusters have a map"


@dataclass(frozen=True, slots=True)
class ClusterSource:
    """The values of `cluster_options`."""

    config_file: Path
    name: str | None
    servers: tuple[str, ...]
    command_config: Path | None

    @property
    def given(self) -> bool:
        """Whether the command line describes the cluster, and not `brokernat.yaml`."""
        return bool(self.servers) or self.command_config is not None

    @property
    def chosen(self) -> bool:
        """Whether any option chooses a cluster."""
        return self.given or self.name is not None

    def cluster(self, rules: str | None = None) -> Cluster:
        """The cluster, with the rules of `--map`.

        Raises:
            ConfigError: all problems of the file or of the options.
        """
        if self.given:
            if self.name:
                raise click.UsageError("`--cluster` cannot be combined with bootstrap servers and `--command-config`")
            return self._given(rules)
        if rules:
            raise click.UsageError("`--map` needs bootstrap servers: a cluster of the file has its own map")
        config = load_or_hint(self.config_file, "HOST:PORT")
        return config.cluster(self.name) if self.name else the_only_cluster(config)

    def _given(self, rules: str | None) -> Cluster:
        if any(not text.strip(" ,") for text in self.servers):
            raise HintedUsageError("a bootstrap server is empty", hint="write HOST:PORT; is a shell variable not set?")
        # Kafka's clients skip empty entries.
        entries = (each for text in self.servers for each in text.split(",") if each.strip())
        endpoints = tuple(map(Endpoint.parse, entries))
        mapped = unnamed_cluster(rules, endpoints)
        if self.command_config is None:
            return mapped
        from brokernat.clients.command_config import read_command_config

        found = read_command_config(self.command_config)
        if not endpoints and not found.bootstrap_servers:
            hint = "give HOST:PORT on the command line, or add `bootstrap.servers` to the file"
            message = f"`{self.command_config}` has no `bootstrap.servers`"
            raise ConfigError(Finding("missing", message, hint))
        for problem in found.warnings:
            console.note(problem.report())
        return replace(mapped, bootstrap_servers=endpoints or found.bootstrap_servers, client=found.client)


def unnamed_cluster(rules: str | None, bootstrap_servers: tuple[Endpoint, ...] = ()) -> Cluster:
    """The cluster of a command line with the rules of `--map`.

    Raises:
        ConfigError: the rules cannot be read.
    """
    from brokernat.map_text import map_from_property

    if rules is not None and not rules.strip():
        raise HintedUsageError("`--map` is empty", hint=f"{_RULE_HINT}; is a shell variable not set?")
    return Cluster(UNNAMED, bootstrap_servers, map_from_property(rules) if rules else None)


def the_only_cluster(config: Config) -> Cluster:
    """The cluster of a file for a command without `--cluster`."""
    return _the_only(config.clusters, "the file has several clusters")[1]


def cluster_choice(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--config`, `--cluster`, `--bootstrap-server`, `--command-config`: the command's `cluster_source`."""

    @config_option
    @click.option(
        "--cluster", metavar="NAME", type=CLUSTER, help="A cluster of the file; required when the file has several."
    )
    @click.option(
        "-b",
        "--bootstrap-server",
        "servers",
        metavar="HOST:PORT",
        multiple=True,
        help="A bootstrap server, like the argument; repeatable.",
    )
    @click.option(
        "--command-config",
        metavar="FILE",
        type=PATH,
        help="The client properties that Kafka's own tools take, instead of a cluster of the file.",
    )
    @wraps(command)
    def with_source(
        config_file: Path,
        cluster: str | None,
        servers: tuple[str, ...],
        command_config: Path | None,
        **others: Any,
    ) -> Any:
        return command(cluster_source=ClusterSource(config_file, cluster, servers, command_config), **others)

    return with_source


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `cluster_choice`, and bootstrap servers as arguments."""

    @click.argument("endpoints", metavar="[HOST:PORT]...", nargs=-1)
    @wraps(command)
    def with_endpoints(cluster_source: ClusterSource, endpoints: tuple[str, ...], **others: Any) -> Any:
        for word in endpoints:
            if word.strip(" ,") and ":" not in word:
                path = click.get_current_context().command_path
                hint = f"write `{path} --cluster {word}` for a cluster of the file, `{path} {word}:9092` for a broker"
                raise HintedUsageError(f"`{word}` is not a HOST:PORT", hint=hint)
        source = replace(cluster_source, servers=(*endpoints, *cluster_source.servers))
        return command(cluster_source=source, **others)

    return cluster_choice(with_endpoints)


def through_tunnel(cluster: Cluster) -> Cluster:
    """The cluster for clients on this machine; its tunnel, if it has one, is open until the command ends.

    Raises:
        BrokernatError: what `Tunnel` raises.
    """
    return cluster if cluster.tunnel is None else open_tunnel(cluster).cluster


def through_tunnel_for_doctor(cluster: Cluster) -> Cluster:
    """The same for the doctor, which itself checks whether brokers answer, and whether each rule is used."""
    return cluster if cluster.tunnel is None else open_tunnel(cluster, require_brokers=False).cluster_without_expected


def open_tunnel(cluster: Cluster, **options: Any) -> Tunnel:
    """The cluster's tunnel, open until the command ends; `options` are those of `Tunnel`.

    Raises:
        BrokernatError: what `Tunnel` raises.
    """
    require_extra("kio", "a tunnel")
    from brokernat.tunnel import Tunnel

    opened = click.get_current_context().with_resource(Tunnel(cluster, report=report_event, **options))
    report_event(f"{cluster.name}: {counted(len(opened.brokers), 'broker')} through `{opened}`")
    for endpoint, local in opened.companions.items():
        report_event(f"{endpoint} is at {local}")
    return opened


def report_event(text: str) -> None:
    """Prints a line about a tunnel between the lines of the command."""
    console.note(f"[brokernat] {text}")


def load_config(config_file: Path, *, resolve_secrets: bool = True) -> Config:
    """`config.load` for the value of `--config`; an error about the file names the origin of its path.

    Raises:
        ConfigError: all problems of the file.
    """
    with config_origin_named(config_file):
        return load(config_file, resolve_secrets=resolve_secrets)


@contextmanager
def config_origin_named(config_file: Path) -> Iterator[None]:
    """Adds the origin of the file's path to an error about the file."""
    try:
        yield
    except ConfigError as error:
        named = f"`{config_file}`"
        message = f"{named} ({config_origin()})"
        raise ConfigError(
            *(replace(each, message=each.message.replace(named, message, 1)) for each in error.problems)
        ) from None


def config_origin() -> str:
    """The origin of the running command's `--config`."""
    context: click.Context | None = click.get_current_context()
    while context is not None:
        # A group may also have the option, before the command's name.
        if context.params.get("named_file") is not None:
            return "the argument"
        source = context.get_parameter_source("config_file")
        if source is ParameterSource.COMMANDLINE:
            return "from `--config`"
        if source is ParameterSource.ENVIRONMENT:
            return f"from {CONFIG_VARIABLE}"
        context = context.parent
    return "the default"


def load_or_hint(config_file: Path, instead: str, *, resolve_secrets: bool = True) -> Config:
    """As `load_config`; if there is no file, the hint names the words of the command that need none."""
    try:
        return load_config(config_file, resolve_secrets=resolve_secrets)
    except ConfigError as error:
        (first, *others) = error.problems
        if first.code != "file-missing":
            raise
        hint = f"`{click.get_current_context().command_path} {instead}` needs no file; else {first.hint}"
        raise ConfigError(replace(first, hint=hint), *others) from None


_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class MapSource:
    """The values of `map_options`."""

    config_file: Path
    cluster: str | None
    rules: tuple[str, ...]
    file: Path | None

    def maps(self) -> dict[str, tuple[AddressMap, tuple[Endpoint, ...]]]:
        """The maps and their bootstrap servers, by cluster name.

        The name is empty for a map without a cluster, which has no bootstrap servers.
        """
        from brokernat.map_text import read_rules_file

        if sum((self.cluster is not None, bool(self.rules), self.file is not None)) > 1:
            raise click.UsageError("`--cluster`, `--rule` and `--file` cannot be combined")
        if self.rules:
            return {"": (_map_of_options(self.rules), ())}
        if self.file is not None:
            found = read_rules_file(self.file)
            if not found.rules:
                raise ConfigError(Finding("no-rule", f"the rules file `{self.file}` has no rule", _RULE_HINT))
            return {"": (found, ())}
        clusters = mapped_clusters(self.config_file, self.cluster)
        return {name: (address_map, each.bootstrap_servers) for name, (each, address_map) in clusters.items()}

    def one(self) -> tuple[str, AddressMap]:
        """The only map, with its cluster's name."""
        name, (address_map, _) = _the_only(self.maps(), _SEVERAL_MAPS)
        return name, address_map


cluster_option = click.option(
    "--cluster", metavar="NAME", type=CLUSTER, help="The cluster of the file; required when several have a map."
)


def mapped_cluster(config_file: Path, name: str | None) -> tuple[Cluster, AddressMap]:
    """The named cluster, or the only one with a map; and its map."""
    return _the_only(mapped_clusters(config_file, name), _SEVERAL_MAPS)[1]


def mapped_clusters(config_file: Path, name: str | None) -> dict[str, tuple[Cluster, AddressMap]]:
    """The named cluster, or all clusters with maps.

    Raises:
        ConfigError: the file is invalid, there is no such cluster, or no map.
    """
    config = load_config(config_file, resolve_secrets=False)
    clusters = [config.cluster(name)] if name else config.clusters.values()
    found = {each.name: (each, each.address_map) for each in clusters if each.address_map is not None}
    if not found:
        message = (
            f"the cluster `{name}` has no address map" if name else f"no cluster of `{config_file}` has an address map"
        )
        raise ConfigError(Finding("no-map", message, "add `address_map` to it"))
    return found


def map_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--config`, `--cluster`, `--rule`, `--file`, passed to the command as one `source`."""

    @config_option
    @click.option("--cluster", metavar="NAME", type=CLUSTER, help="Use the map of this cluster of the file.")
    @click.option("--rule", "rules", metavar="RULE", multiple=True, help="A rule `advertised = reachable`; repeatable.")
    @click.option("--file", metavar="FILE", type=PATH, help="A rules file with one rule per line.")
    @wraps(command)
    def with_source(
        config_file: Path, cluster: str | None, rules: tuple[str, ...], file: Path | None, **others: Any
    ) -> Any:
        return command(source=MapSource(config_file, cluster, rules, file), **others)

    return with_source


def _the_only(found: Mapping[str, _Found], several: str) -> tuple[str, _Found]:
    if len(found) > 1:
        raise click.UsageError(f"{several}, choose one with `--cluster`: {', '.join(found)}")
    return next(iter(found.items()))


def _map_of_options(rules: tuple[str, ...]) -> AddressMap:
    """The map of the options; each may contain several rules, like the property."""
    parsed: list[Any] = []
    problems: list[Finding] = []
    for number, text in enumerate(rules, start=1):
        try:
            found = AddressMap.parse(text).rules
            if not found:
                raise ConfigError(Finding("no-rule", f"the rule `{text}` is empty", _RULE_HINT))
            parsed.extend(found)
        except ConfigError as error:
            problems.extend(problem.at(Location(f"--rule {number}")) for problem in error.problems)
    if problems:
        raise ConfigError(*problems)
    return AddressMap(tuple(parsed))


def render_subject(cluster: Cluster, address_map: AddressMap, config_file: Path, words: Sequence[str]) -> Subject:
    """The subject for `render`: the cluster, and the command line that makes the file again.

    Args:
        words: the command without `--cluster` and `--config`.
    """
    options = [] if str(config_file) == DEFAULT_FILE else ["--config", str(config_file)]
    command = shlex.join(["brokernat", *words, "--cluster", cluster.name, *options])
    return Subject(
        cluster.name, cluster.bootstrap_servers, address_map, cluster.client, file=str(config_file), command=command
    )
