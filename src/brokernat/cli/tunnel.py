"""`brokernat tunnel`: opens a forward per broker through a bastion, a Kubernetes cluster or any command.

With a command, stdout belongs to the command, and the tunnel closes when it ends. Without one, the map is printed to
stdout as a rules file, events to stderr, and the tunnel stays open until Ctrl-C.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import click
from pydantic import ValidationError

from brokernat.address import Endpoint, canonical_text
from brokernat.cli import console
from brokernat.cli.clusters import ClusterSource, cluster_choice, open_tunnel, report_event
from brokernat.cli.error_reports import HintedUsageError
from brokernat.cli.exec import ProgramCommand, report_notes
from brokernat.cli.options import PROXY_ENDPOINT, SECONDS, format_option
from brokernat.cli.signals import sigterm_as_interrupt
from brokernat.config import Cluster
from brokernat.config.document import Document
from brokernat.config.model import TunnelSection
from brokernat.config.problems import translate
from brokernat.errors import ConfigError, Location
from brokernat.tunnel import Tunnel

_PROXY = "127.0.0.1:19092"


@click.command(cls=ProgramCommand, context_settings={"allow_interspersed_args": False})
@cluster_choice
@click.option("--ssh", metavar="DESTINATION", help="Arguments of `ssh`, such as `user@bastion`, also with options.")
@click.option("--kubectl", is_flag=True, help="`kubectl port-forward` to the pod of each broker.")
@click.option("--namespace", metavar="NAME", help="With --kubectl: the namespace.")
@click.option("--context", metavar="NAME", help="With --kubectl: the context of the kubeconfig.")
@click.option(
    "--via", metavar="COMMAND", help="A command that opens one forward, with `{host}`, `{port}` and `{local}`."
)
@click.option("--also", metavar="HOST:PORT", multiple=True, help="Forward this endpoint as well; repeatable.")
@click.option(
    "--proxy", metavar="[HOST:]PORT", type=PROXY_ENDPOINT, is_flag=False, flag_value=_PROXY,
    help=f"Also serve clients that load no map: bootstrap server {_PROXY} unless given.",
)  # fmt: skip
@click.option("--login", is_flag=True, help="With --proxy: it logs in at the brokers, and its clients need no login.")
@click.option("--timeout", type=SECONDS, default=30, show_default=True, help="Seconds for all probes at the start.")
@click.option(
    "--with-client-properties", is_flag=True,
    help="Pass the cluster's servers and login to a console tool (Kafka's, kcat) in a memory file.",
)  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Print only warnings about the command.")
@format_option
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
def tunnel(
    cluster_source: ClusterSource,
    ssh: str | None,
    kubectl: bool,
    namespace: str | None,
    context: str | None,
    via: str | None,
    also: tuple[str, ...],
    proxy: Endpoint | None,
    login: bool,
    timeout: float,
    with_client_properties: bool,
    quiet: bool,
    output: str,
    command: tuple[str, ...],
) -> int:
    """Open a forward to every broker, verify node ids, and run a command with the address map, or stay open.

    Give the bootstrap server as the far end of the tunnel reaches it. Without --ssh, --kubectl and --via the cluster's
    own `tunnel:` is used. With --proxy the command gets no map: its bootstrap server is the proxy.
    """
    from brokernat.clients.launch import plan, plan_without_map, run_process

    if command and output == "json":
        raise click.UsageError("`--format json` cannot be combined with a command: stdout belongs to the program")
    if (namespace or context) and not kubectl:
        raise click.UsageError("`--namespace` and `--context` need `--kubectl`")
    if sum((ssh is not None, kubectl, via is not None)) > 1:
        raise click.UsageError("`--ssh`, `--kubectl` and `--via` cannot be combined")
    if login and proxy is None:
        raise click.UsageError("`--login` needs `--proxy`")
    ways = {
        "ssh": ssh,
        "kubectl": {"namespace": namespace, "context": context} if kubectl else None,
        "via": via,
    }
    cluster = _with_tunnel(cluster_source.cluster(), {way: value for way, value in ways.items() if value}, also)
    with sigterm_as_interrupt():
        opened = open_tunnel(cluster, timeout=timeout)
        if proxy is not None:
            _serve(opened, proxy, login=login)
        if not command:
            _stay(opened, output)
        if proxy is not None:
            return run_process(plan_without_map(command, os.environ))
        launch = plan(command, [opened.cluster], os.environ, with_client_properties=with_client_properties)
        report_notes(launch, quiet=quiet)
        return run_process(launch)


def _serve(opened: Tunnel, listen: Endpoint, *, login: bool) -> None:
    """Runs the proxy in front of the tunnel until the command ends; new brokers get a port, too."""
    from brokernat.cli.proxy import how_to_connect
    from brokernat.proxy import Settings, serve

    context, settings = click.get_current_context(), Settings(listen, login=login)
    context.with_resource(console.log_to_stderr())
    serving = context.with_resource(serve(opened.cluster, settings))
    opened.on_map = serving.use
    report_event(f"{serving.bootstrap}: {how_to_connect(opened.cluster, settings)}")


def _with_tunnel(cluster: Cluster, way: Mapping[str, Any], also: Sequence[str]) -> Cluster:
    """The cluster with the tunnel of the command line or of the file."""
    further = tuple(Endpoint.parse(each) for text in also for each in text.split(","))
    if not way and cluster.tunnel is None:
        hint = "choose a tunnel, such as `--ssh user@bastion`, or add `tunnel:` to the cluster"
        raise HintedUsageError("one of `--ssh`, `--kubectl` and `--via` is missing", hint=hint)
    if not way and cluster.tunnel is not None:
        further = (*cluster.tunnel.also, *further)
        return replace(cluster, tunnel=cluster.tunnel.model_copy(update={"also": further}))
    given = {**way, "also": further} if further else way
    try:
        return replace(cluster, tunnel=TunnelSection.model_validate(given))
    except ValidationError as error:
        problems = translate(error.errors(include_url=False), Document(""), TunnelSection)
        raise ConfigError(*(problem.at(Location()) for problem in problems)) from None


def _stay(opened: Tunnel, output: str) -> NoReturn:
    """Print the map, then wait for a signal, which raises an exception."""
    if output == "json":
        nodes = [
            {"node": each.node_id, "advertised": str(each.advertised), "reachable": str(each.local)}
            for each in opened.brokers
        ]
        also = {str(endpoint): str(local) for endpoint, local in opened.companions.items()}
        console.json_data(
            {
                "version": 1,
                "through": str(opened),
                "nodes": nodes,
                "map": canonical_text(opened.address_map),
                "also": also,
            }
        )
    else:
        about = {each.advertised: f"node {each.node_id}" for each in opened.brokers}
        about = dict.fromkeys(opened.cluster.bootstrap_servers, "bootstrap server") | about
        for advertised, local in opened.rules.items():
            console.data(f"{advertised} = {local}  # {about.get(advertised, 'may join later')}")
    report_event("clients on this machine: set `brokernat.map` to these rules, or to `file:/path` of a file with them")
    report_event("Ctrl-C closes the tunnel")
    while True:
        threading.Event().wait()
