"""`brokernat render TARGET`: renders an address map as the configuration of another program.

The targets for clients are commands from the table below, with the same options. `listeners` and `compose` are for
brokers: `--listener NAME=HOST:PORT` is the advertised endpoint of a listener, with `{id}` and `{9092+id}` for
differences between brokers. Without it, the address map of brokernat.yaml is inverted: the brokers get a second
listener for the clients of the map. Secrets of the file are not resolved; they become placeholders.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from brokernat.address import Endpoint
from brokernat.cli import console
from brokernat.cli.clusters import cluster_option, mapped_cluster, render_subject
from brokernat.cli.files import output_options, write_output
from brokernat.cli.options import DEFAULT_FILE, PATH, Group, config_option
from brokernat.render.listeners_plan import ListenersPlan

_agent_path_option = click.option(
    "--agent-path",
    metavar="JAR",
    help="The agent jar's absolute path on the hosts that use the file; default: its path here.",
)
_syntax_option = click.option(
    "--syntax", type=click.Choice(["yaml", "properties"]), help="Syntax of the file; default: yaml."
)
_ssh_option = click.option(
    "--ssh", metavar="DESTINATION", help="What you type behind `ssh`; default: the cluster's own, else user@bastion."
)

# name: (one line of help, additional options)
TARGETS: dict[str, tuple[str, tuple[Callable[..., Any], ...]]] = {
    "nginx": ("A stream block for a gateway, with one port per broker.", ()),
    "haproxy": ("TCP sections for a gateway, with one port per broker.", ()),
    "hosts": ("Lines for /etc/hosts, where ports stay the same.", ()),
    "iptables": ("NAT rules for the client's host, for iptables-restore.", ()),
    "nftables": ("NAT rules for the client's host, for nft -f.", ()),
    "ssh": ("An `ssh -L` command with one port per broker, to run by hand.", (_ssh_option,)),
    "kubectl": ("A `kubectl port-forward` command per broker, to run by hand.", ()),
    "spark": ("spark-defaults.conf with the agent and the map, for all JVMs.", (_agent_path_option,)),
    "spring": ("application.yaml of spring-kafka with the agent and the map.", (_agent_path_option, _syntax_option)),
}
_NAMES = {"advertised": "--listener", "bound": "--bind", "protocols": "--protocol"}
_DEFAULTS = {"config": DEFAULT_FILE, "brokers": 1, "first_id": 1, "quorum": "combined"}
_OF_THE_QUORUM = {
    "combined": (
        "Each node is taken for a controller, too: if it is a broker alone, add `--quorum separate`.",
        "The controllers' listener keeps its port: set it with `--controller HOST:PORT`.",
        "",
    ),
    "separate": (),
    "zookeeper": (),
}


@click.group(cls=Group)
def render() -> None:
    """Write configuration for nginx, a hosts file, Spark ... from an address map."""


def _command(target: str) -> click.Command:
    summary, options = TARGETS[target]

    def run(config_file: Path, cluster: str | None, file: Path | None, *, replace: bool, **chosen: str | None) -> None:
        text = _text(target, config_file, cluster, {name: value for name, value in chosen.items() if value})
        if file is None:
            console.data(text.removesuffix("\n"))
            return
        write_output(file, text, replace=replace)
        console.note(f"{file}: the comment at its top explains its limits, how to check it and how to apply it")

    function: Callable[..., Any] = run
    for option in (output_options, cluster_option, config_option, *options):
        function = option(function)
    return click.command(name=target, help=summary)(function)


def _text(target: str, config_file: Path, cluster: str | None, chosen: dict[str, str]) -> str:
    from brokernat import render as texts
    from brokernat.jvm import agent_jar, require_absolute

    if path := chosen.get("agent_path"):
        require_absolute(path)
    elif target == "spark":
        console.note("the agent's path is that of this host; for executors on other hosts pass `--agent-path`")
    words = [word for name, value in chosen.items() for word in (f"--{name.replace('_', '-')}", value)]
    named, address_map = mapped_cluster(config_file, cluster)
    about = render_subject(named, address_map, config_file, ["render", target, *words])
    match target:
        case "ssh":
            own = named.tunnel.ssh if named.tunnel else None
            return texts.ssh(about, chosen.get("ssh") or own or "user@bastion")
        case "kubectl":
            return texts.kubectl(about, named.tunnel.kubectl if named.tunnel else None)
        case "spark":
            return texts.spark(about, agent_path=chosen.get("agent_path") or str(agent_jar()))
        case "spring":
            path, syntax = chosen.get("agent_path") or str(agent_jar()), texts.Syntax(chosen.get("syntax", "yaml"))
            return texts.spring(about, agent_path=path, syntax=syntax)
        case _:
            function: Callable[..., str] = getattr(texts, target)
            return function(about)


for _target in TARGETS:
    render.add_command(_command(_target))


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of both commands, for `wanted_plan`."""
    for option in reversed(
        (
            click.option(
                "--listener",
                "advertised",
                metavar="NAME=HOST:PORT",
                multiple=True,
                help="An advertised listener; `{id}` and `{9092+id}` are replaced for each node. Repeatable.",
            ),
            click.option(
                "--brokers", type=click.IntRange(1, 1000), default=1, show_default=True, help="Number of brokers."
            ),
            click.option(
                "--first-id",
                type=click.IntRange(0, 2**31 - 1001),
                default=1,
                show_default=True,
                help="The first node id.",
            ),
            click.option(
                "--protocol",
                "protocols",
                metavar="NAME=PROTOCOL",
                multiple=True,
                help="A listener's protocol; default: PLAINTEXT. Repeatable.",
            ),
            click.option(
                "--bind",
                "bound",
                metavar="NAME=[HOST:]PORT",
                multiple=True,
                help="What a listener binds, where it is not the advertised port. Repeatable.",
            ),
            click.option("--inter-broker", metavar="NAME", help="The listener between brokers; default: the first."),
            click.option("--controller", metavar="HOST:PORT", help="The endpoint of the controllers."),
        )
    ):
        command = option(command)
    return command


@render.command()
@plan_options
@click.option(
    "--quorum",
    type=click.Choice(tuple(_OF_THE_QUORUM)),
    default="combined",
    show_default=True,
    help="Where the controllers run.",
)
@config_option
@cluster_option
@click.option(
    "--from",
    "seen",
    metavar="FILE",
    type=PATH,
    help="Take node ids from the evidence of doctor --save.",
)
@click.option("--node", "node_id", type=int, metavar="ID", help="Write only this node.")
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
    """Write the listener lines of each broker's server.properties."""
    from brokernat.render.broker_files import listeners as text
    from brokernat.render.listeners_plan import filled, forwards_to_make

    if said["advertised"] and (cluster or seen):
        raise click.UsageError("`--listener` cannot be combined with `--cluster` and `--from`")
    origin = {"config": str(config_file), "cluster": cluster, "from": seen, "node": node_id}
    command = command_line("listeners", {**said, **origin})
    extra: tuple[str, ...] = ()
    if said["advertised"]:
        plan = wanted_plan(**said)
    else:
        plan = _plan_of_map(config_file, cluster, seen, said)
        extra = (
            *_OF_THE_QUORUM[said["quorum"]],
            "The gateway then forwards:",
            *map("  {}".format, forwards_to_make(plan)),
        )
    if file is not None and "{" in str(file):
        for broker in plan.brokers:
            _write(Path(filled(str(file), broker.node_id)), text(plan, command, broker.node_id, extra), replace=replace)
    elif file is not None:
        _write(file, text(plan, command, node_id, extra), replace=replace)
    else:
        console.data(text(plan, command, node_id, extra).removesuffix("\n"))


@render.command()
@plan_options
@click.option("--image", help="The image of the brokers.  [default: apache/kafka of a tested version]")
@output_options
def compose(image: str | None, file: Path | None, *, replace: bool, **said: Any) -> None:
    """Write a Docker compose file of the brokers."""
    from brokernat.render.broker_files import DEFAULT_IMAGE
    from brokernat.render.broker_files import compose as text

    result = text(wanted_plan(**said), command_line("compose", {**said, "image": image}), image or DEFAULT_IMAGE)
    if file is not None:
        _write(file, result, replace=replace)
    else:
        console.data(result.removesuffix("\n"))


def wanted_plan(
    advertised: tuple[str, ...],
    bound: tuple[str, ...],
    protocols: tuple[str, ...],
    brokers: int,
    first_id: int,
    inter_broker: str | None,
    controller: str | None,
    quorum: str = "combined",
) -> ListenersPlan:
    """The requested listeners.

    Raises:
        ConfigError: with all problems of the plan.
    """
    from brokernat.render.listeners_plan import Quorum, Wanted, named, plan_listeners

    wanted = Wanted(
        named(advertised, "--listener"),
        named(bound, "--bind"),
        named(protocols, "--protocol"),
        inter_broker.upper() if inter_broker else None,
        controller,
        Quorum(quorum),
    )
    return plan_listeners(wanted, range(first_id, first_id + brokers))


def _plan_of_map(config_file: Path, name: str | None, seen: Path | None, said: dict[str, Any]) -> ListenersPlan:
    from brokernat.render import forwards
    from brokernat.render.listeners_plan import Quorum, plan_behind_nat

    if said["bound"] or said["protocols"] or said["inter_broker"]:
        raise click.UsageError("`--bind`, `--protocol` and `--inter-broker` need `--listener`")
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
    from brokernat.cli.doctor import read_evidence
    from brokernat.doctor.host_kinds import dialable

    brokers = (path.broker for path in read_evidence(file).paths)
    return {Endpoint(each.host, each.port): each.node_id for each in brokers if dialable(each.host, each.port)}


def command_line(target: str, said: dict[str, Any]) -> str:
    """The command line that makes the text again."""
    words = ["brokernat", "render", target]
    for name, value in said.items():
        if value not in (None, (), _DEFAULTS.get(name)):
            option = _NAMES.get(name, f"--{name.replace('_', '-')}")
            words += [
                word for each in (value if isinstance(value, tuple) else (value,)) for word in (option, str(each))
            ]
    return shlex.join(words)


def _write(file: Path, text: str, *, replace: bool) -> None:
    write_output(file, text, replace=replace)
    console.note(f"{file}: the comment at its top explains its limits, how to check it and how to apply it")
