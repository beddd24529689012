"""`brokernat render TARGET`: the configuration of another program that an address map implies.

One command a target, all made from the table below, with the same options; a target that needs to know more has one
more. Secrets of the file are not looked up: what needs one gets a placeholder. The brokers' own side is asked for in
other words (render_listeners.py).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from brokernat.cli import console
from brokernat.cli.map_source import cluster_option, mapped_cluster
from brokernat.cli.options import config_option
from brokernat.cli.output_file import output_options, write_file
from brokernat.cli.render_listeners import compose, listeners
from brokernat.cli.subject import subject

_agent_path_option = click.option(
    "--agent-path",
    metavar="JAR",
    help="Where the agent jar is on the hosts that use the file; where it is here unless given.",
)
_syntax_option = click.option(
    "--syntax", type=click.Choice(["yaml", "properties"]), help="Which of Spring's two forms; yaml unless given."
)

# name: (one line of help, options beside the common ones)
TARGETS: dict[str, tuple[str, tuple[Callable[..., Any], ...]]] = {
    "nginx": ("A stream block for a host in both networks, a port each.", ()),
    "haproxy": ("Sections in mode tcp for a host in both networks, a port each.", ()),
    "hosts": ("Lines for /etc/hosts: names of brokers, ports kept.", ()),
    "iptables": ("NAT on the client's node, a text for iptables-restore.", ()),
    "nftables": ("NAT on the client's node, a file for nft.", ()),
    "spark": ("spark-defaults.conf: agent and map for driver and executors.", (_agent_path_option,)),
    "spring": ("application.yaml: spring-kafka with the map.", (_agent_path_option, _syntax_option)),
}


@click.group()
def render() -> None:
    """Write the configuration of nginx, a hosts file, Spark ... that an address map implies."""


def _command(target: str) -> click.Command:
    summary, options = TARGETS[target]

    def run(config_file: Path, cluster: str | None, file: Path | None, *, replace: bool, **chosen: str | None) -> None:
        text = _text(target, config_file, cluster, {name: value for name, value in chosen.items() if value})
        if file is None:
            console.data(text.removesuffix("\n"))
            return
        write_file(file, text, replace=replace)
        console.note(f"{file}: its head says what it can and cannot do, how to check and how to apply it")

    function: Callable[..., Any] = run
    for option in (output_options, cluster_option, config_option, *options):
        function = option(function)
    return click.command(name=target, help=summary)(function)


def _text(target: str, config_file: Path, cluster: str | None, chosen: dict[str, str]) -> str:
    from brokernat import render as texts
    from brokernat.jvm import agent_jar

    words = [word for name, value in chosen.items() for word in (f"--{name.replace('_', '-')}", value)]
    about = subject(*mapped_cluster(config_file, cluster), config_file, ["render", target, *words])
    match target:
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
render.add_command(listeners)
render.add_command(compose)
