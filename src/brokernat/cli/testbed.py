"""`brokernat testbed`: Kafka brokers for trials, which keep running after the command.

`up` prints the settings for clients and a `brokernat.yaml`, or writes it to `--output FILE`; a password is in a
separate file of the testbed. An unwritable file is reported before the brokers start. `down` ends testbeds and prints
their names.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brokernat.cli import console
from brokernat.cli.files import output_options, require_output, write_output
from brokernat.cli.options import Group, format_option
from brokernat.config.client_properties import PROTOCOLS
from brokernat.config.fields import check_topic
from brokernat.errors import BrokernatError, WorldError
from brokernat.text import listed

if TYPE_CHECKING:  # modules of the extra `testbed` are imported when a command needs them
    from brokernat.testbed.running_worlds import Summary

_MOST_PARTITIONS = 1000


@click.group(cls=Group)
def testbed() -> None:
    """Start and stop real Kafka brokers with unreachable addresses on this machine."""


def _topics(_: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    """The number of partitions by topic."""
    topics = {}
    for value in values:
        name, colon, partitions = value.partition(":")
        check_topic(name)
        if colon and not (partitions.isdecimal() and 1 <= int(partitions) <= _MOST_PARTITIONS):
            reason = f"`{value}`: write NAME or NAME:PARTITIONS with 1 to {_MOST_PARTITIONS} partitions"
            raise click.BadParameter(reason, param=option)
        topics[name] = int(partitions or 3)
    return topics


@testbed.command()
@click.option(
    "--world",
    "kind",
    type=click.Choice(["loopback", "netns"]),
    default="loopback",
    show_default=True,
    help="loopback: on 127.x without root; netns: in network namespaces, as root.",
)
@click.option(
    "--between",
    type=click.Choice(["nginx", "nftables"]),
    default="nginx",
    show_default=True,
    help="With `--world netns`: the gateway in front of the cluster `hq`.",
)
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS, case_sensitive=False),
    help="The protocol of `hq`.  [default: PLAINTEXT on loopback, SASL_PLAINTEXT in netns]",
)
@click.option("--broker-version", help="The Kafka version of `hq`, as on Maven Central.  [default: the newest tested]")
@click.option(
    "--brokers", type=click.IntRange(1, 9), default=3, show_default=True, help="The number of brokers of `hq`."
)
@click.option("--two", is_flag=True, help="Add a second cluster that advertises the same addresses.")
@click.option(
    "--topic",
    "topics",
    metavar="NAME[:PARTITIONS]",
    multiple=True,
    callback=_topics,
    help="A topic to create in every cluster, with 3 partitions unless others are given; may be repeated.",
)
@output_options
@format_option
def up(
    kind: str, between: str, protocol: str | None, broker_version: str | None, brokers: int, two: bool,
    topics: dict[str, int], file: Path | None, output: str, *, replace: bool,
) -> None:  # fmt: skip
    """Start brokers; they run until `brokernat testbed down`."""
    from brokernat.testbed import Between, ClusterOptions, LoopbackWorld, NetnsWorld, Protocol, World, running_worlds
    from brokernat.testbed.running_cluster import config_text

    if file is not None:
        require_output(file, replace=replace)
    chosen: dict[str, Any] = {"brokers": brokers}
    if broker_version:
        chosen["version"] = broker_version
    chosen["protocol"] = Protocol(protocol or ("SASL_PLAINTEXT" if kind == "netns" else "PLAINTEXT"))
    hq = ClusterOptions(**chosen)
    second = ClusterOptions(**chosen) if two else None
    world: World = (
        LoopbackWorld(hq=hq, second_hq=second, detached=True)
        if kind == "loopback"
        else NetnsWorld(hq=hq, second_hq=second, between=Between(between), detached=True)
    )
    if others := [each.name for each in running_worlds.list_running()]:
        console.note(f"another testbed is started; these keep running: {listed(others)}")
    console.note(f"starting brokers for a {kind} testbed …")
    world.up()
    for cluster in world.clusters.values():
        for topic, partitions in topics.items():
            cluster.create_topic(topic, partitions=partitions)
    text = config_text(list(world.clusters.values()))
    if file is not None:
        write_output(file, text, replace=True)
    found = next(one for one in running_worlds.list_running() if one.name == world.plan.name)
    if output == "json":
        console.json_data({"version": 1, "world": _as_json(found)})
    else:
        _show(found)
        if file is None:
            console.data(f"\n# brokernat.yaml\n{text.rstrip()}")
        else:
            console.note(f"{file}: the clusters of this testbed; try `brokernat doctor --config {file} --cluster hq`")


@testbed.command()
@format_option
def status(output: str) -> None:
    """Print the running testbeds."""
    from brokernat.testbed import running_worlds

    found = running_worlds.list_running()
    if output == "json":
        console.json_data({"version": 1, "worlds": [_as_json(one) for one in found]})
        return
    if not found:
        console.note("no testbed is running")
    for one in found:
        _show(one)


def _names_completed(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    try:
        from brokernat.testbed import running_worlds
    except (ImportError, BrokernatError):  # without the extra
        return []
    return [each.name for each in running_worlds.list_running() if each.name.startswith(incomplete)]


@testbed.command()
@click.argument("names", nargs=-1, shell_complete=_names_completed)
@format_option
def down(names: tuple[str, ...], output: str) -> None:
    """Stop the named testbeds, or all that `testbed up` started.

    Also removes the rest of crashed testbeds.
    """
    from brokernat.testbed import running_worlds

    living = {one.name: one for one in running_worlds.list_running()}
    if unknown := [name for name in names if name not in living]:
        raise WorldError(f"no testbed `{unknown[0]}` is running", hint="`brokernat testbed status` lists them")
    chosen = [one for one in living.values() if (one.name in names if names else one.detached)]
    for one in chosen:
        running_worlds.remove(running_worlds.state_root() / one.name)
    running_worlds.remove_stale()
    if output == "json":
        console.json_data({"version": 1, "ended": [one.name for one in chosen]})
    else:
        console.data("\n".join(f"ended {one.name}" for one in chosen) or "nothing to end")


def _show(summary: Summary) -> None:
    console.data(
        f"{summary.name}, {'until `brokernat testbed down`' if summary.detached else f'of process {summary.owner}'}"
    )
    if namespace := _client_namespace(summary):
        console.data(f"run clients with  ip netns exec {namespace}")
    for name, cluster in summary.clusters.items():
        console.data(f"  {name}  Kafka {cluster.version}, {cluster.protocol}")
        for node, advertised in cluster.advertised.items():
            dial = cluster.reachable[node]
            console.data(f"    node {node}  advertises {advertised}" + (f", dial {dial}" if dial != advertised else ""))


def _as_json(summary: Summary) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(summary) | {"client_namespace": _client_namespace(summary)}


def _client_namespace(summary: Summary) -> str | None:
    from brokernat.testbed.netns import PREFIX

    return f"{PREFIX}{summary.name}-client" if summary.kind == "netns" else None
