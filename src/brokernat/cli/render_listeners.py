"""`brokernat render listeners` and `render compose`: the brokers' side, from listeners as one says them, or from a map.

`--listener NAME=HOST:PORT` is what the brokers of that listener advertise, `{id}` and `{9092+id}` where they differ.
Without any, the address map of brokernat.yaml is turned round: brokers get a second listener for the clients behind it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from brokernat.address import Endpoint
from brokernat.cli import console
from brokernat.cli.listeners_options import command_line, plan_options, wanted_plan
from brokernat.cli.map_source import cluster_option, mapped_cluster
from brokernat.cli.options import config_option
from brokernat.cli.output_file import output_options, write_file
from brokernat.render.listeners_plan import ListenersPlan

_OF_THE_QUORUM = {
    "combined": ("The controllers' listener keeps the port that it has: `--controller HOST:PORT` says which.", ""),
    "separate": (),
    "zookeeper": (),
}


@click.command()
@plan_options
@click.option(
    "--quorum",
    type=click.Choice(tuple(_OF_THE_QUORUM)),
    default="combined",
    show_default=True,
    help="Where the controllers are.",
)
@config_option
@cluster_option
@click.option(
    "--from", "seen", metavar="FILE", type=click.Path(path_type=Path), help="Node ids: what doctor --save kept."
)
@click.option("--node", "node_id", type=int, metavar="ID", help="Only this node.")
@output_options
def listeners(
    config_file: Path,
    cluster: str | None,
    seen: Path | None,
    node_id: int | None,
    file: Path | None,
    *,
    replace: bool,
    **said: Any,
) -> None:
    """The listener lines of each broker's server.properties."""
    from brokernat.render.listeners import listeners as text
    from brokernat.render.listeners_behind_nat import forwards_to_make
    from brokernat.render.listeners_plan import filled

    if said["advertised"] and (cluster or seen):
        raise click.UsageError("`--listener` excludes `--cluster` and `--from`: it says all by itself")
    origin = {"config": str(config_file), "cluster": cluster, "from": seen, "node": node_id}
    command = command_line("listeners", {**said, **origin})
    extra: tuple[str, ...] = ()
    if said["advertised"]:
        plan = wanted_plan(**said)
    else:
        plan = _plan_of_map(config_file, cluster, seen, said)
        extra = (
            *_OF_THE_QUORUM[said["quorum"]],
            "The gateway then leads:",
            *map("  {}".format, forwards_to_make(plan)),
        )
    if file is not None and "{" in str(file):
        for broker in plan.brokers:
            _write(Path(filled(str(file), broker.node_id)), text(plan, command, broker.node_id, extra), replace=replace)
    elif file is not None:
        _write(file, text(plan, command, node_id, extra), replace=replace)
    else:
        console.data(text(plan, command, node_id, extra).removesuffix("\n"))


@click.command()
@plan_options
@click.option("--image", help="The image of the brokers.  [default: apache/kafka of a tested version]")
@output_options
def compose(image: str | None, file: Path | None, *, replace: bool, **said: Any) -> None:
    """A Docker compose file of the brokers."""
    from brokernat.render.compose import DEFAULT_IMAGE
    from brokernat.render.compose import compose as text

    result = text(wanted_plan(**said), command_line("compose", {**said, "image": image}), image or DEFAULT_IMAGE)
    if file is not None:
        _write(file, result, replace=replace)
    else:
        console.data(result.removesuffix("\n"))


def _plan_of_map(config_file: Path, name: str | None, seen: Path | None, said: dict[str, Any]) -> ListenersPlan:
    from brokernat.render import forwards
    from brokernat.render.listeners_behind_nat import plan_behind_nat
    from brokernat.render.listeners_plan import Quorum

    if said["bound"] or said["protocols"] or said["inter_broker"]:
        raise click.UsageError("`--bind`, `--protocol` and `--inter-broker` belong to `--listener`")
    cluster, address_map = mapped_cluster(config_file, name)
    return plan_behind_nat(
        forwards(address_map, cluster.bootstrap_servers),
        None if seen is None else _node_ids(seen),
        first_id=said["first_id"],
        protocol=str(cluster.client.get("security.protocol", "PLAINTEXT")),
        quorum=Quorum(said["quorum"]),
        controller=said["controller"],
    )


def _node_ids(file: Path) -> dict[Endpoint, int]:
    from brokernat.address import Endpoint
    from brokernat.cli.saved_evidence import read_evidence
    from brokernat.doctor.places import dialable

    brokers = (path.broker for path in read_evidence(file).paths)
    return {Endpoint(each.host, each.port): each.node_id for each in brokers if dialable(each.host, each.port)}


def _write(file: Path, text: str, *, replace: bool) -> None:
    write_file(file, text, replace=replace)
    console.note(f"{file}: its head says what it can and cannot do, how to check and how to apply it")
