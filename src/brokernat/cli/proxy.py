"""`brokernat proxy`: serves a cluster on a port of this machine, for clients that cannot load a library.

Only the bootstrap server for clients is printed to stdout, so that a script can wait for it; the log is on stderr.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from brokernat.address import AddressMap, Endpoint
from brokernat.cli import console
from brokernat.cli.clusters import ClusterSource, cluster_options
from brokernat.cli.error_reports import HintedUsageError
from brokernat.cli.options import LISTEN_ENDPOINT, PATH, PROXY_ENDPOINT, Seconds, Size
from brokernat.config import Cluster
from brokernat.proxy.metrics import Counters, metrics_socket
from brokernat.proxy.server import Limits, Proxy, Settings
from brokernat.proxy.workers import Service

_LOOPBACK = ("127.", "::1", "localhost")


def _limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `Limits`, passed to the command as one `limits`."""
    defaults = Limits()

    @click.option(
        "--max-connections",
        "connections",
        metavar="N",
        type=click.IntRange(1),
        default=defaults.connections,
        show_default=True,
        help="Connections of clients at once.",
    )
    @click.option(
        "--max-per-address",
        "per_address",
        metavar="N",
        type=click.IntRange(1),
        help="Connections of one address at once, in each worker.",
    )
    @click.option(
        "--max-frame",
        "frame",
        metavar="SIZE",
        type=Size("100M", least="64K"),
        default="100M",
        show_default=True,
        help="The largest request.",
    )
    @click.option(
        "--handshake-timeout",
        "handshake",
        metavar="SECONDS",
        type=Seconds(0.1),
        default=defaults.handshake,
        show_default=True,
        help="Time until the first request.",
    )
    @click.option(
        "--idle-timeout",
        "idle",
        metavar="SECONDS",
        type=Seconds(1),
        default=defaults.idle,
        show_default=True,
        help="Time without a byte.",
    )
    @click.option(
        "--drain-timeout",
        "drain",
        metavar="SECONDS",
        type=Seconds(0),
        default=defaults.drain,
        show_default=True,
        help="Time for requests in flight after SIGTERM.",
    )
    @wraps(command)
    def with_limits(**options: Any) -> Any:
        values = {each.name: options.pop(each.name) for each in fields(Limits)}
        return command(limits=Limits(**values), **options)

    return with_limits


@click.command()
@cluster_options
@click.option("--map", "rules", metavar="RULES", help="Address map for the bootstrap servers, or `file:/path`.")
@click.option(
    "--listen",
    metavar="[HOST:]PORT",
    type=PROXY_ENDPOINT,
    default="127.0.0.1:19092",
    show_default=True,
    help="The bootstrap server of clients; node N is at PORT + 1 + N.",
)
@click.option("--first-node", metavar="ID", default=0, show_default=True, help="The node that is at PORT + 1.")
@click.option(
    "--advertise", metavar="HOST", help="Host that is advertised to clients; default: the one that they dial."
)
@click.option("--tls-cert", metavar="FILE", type=PATH, help="Certificate chain (PEM) for TLS towards clients.")
@click.option("--tls-key", metavar="FILE", type=PATH, help="Key of that certificate (PEM).")
@click.option("--login", is_flag=True, help="Log in at the brokers with the cluster's login; clients need none.")
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that share the ports.",
)
@click.option("--metrics", metavar="[HOST:]PORT", type=LISTEN_ENDPOINT, help="Serve metrics for Prometheus there.")
@_limit_options
def proxy(
    cluster_source: ClusterSource,
    rules: str | None,
    listen: Endpoint,
    first_node: int,
    advertise: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    login: bool,
    workers: int,
    metrics: Endpoint | None,
    limits: Limits,
) -> int:
    """Serve a cluster on this machine to clients that cannot load a map.

    Clients connect to --listen and need no map: the proxy rewrites every response that contains the endpoint of a
    broker, and each broker has its own port here. The proxy does not offer API versions whose responses it cannot
    rewrite. SASL passes through to the brokers, unless --login is given.

    SIGHUP reads the map again. SIGUSR2 restarts the program under its process id and keeps the connections. SIGTERM
    answers the requests in flight and exits.
    """
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("`--tls-cert` and `--tls-key` need each other")
    cluster = cluster_source.cluster(rules)
    if cluster.tunnel is not None:
        hint = f"`brokernat tunnel --cluster {cluster.name} --proxy {listen}` opens the tunnel and the proxy"
        raise HintedUsageError(f"the brokers of `{cluster.name}` are behind a tunnel", hint=hint)
    certificate = None if tls_cert is None or tls_key is None else (tls_cert, tls_key)
    settings = Settings(listen, first_node, advertise, certificate, login, limits)
    counters = Counters(workers)

    context = click.get_current_context()

    def reload() -> AddressMap | None:
        # In another thread, which needs click's context for messages about the file.
        with context.scope(cleanup=False):
            return cluster_source.cluster(rules).address_map

    def ready() -> None:
        console.note(how_to_connect(cluster, settings))
        console.data(str(Endpoint(advertise, listen.port) if advertise else listen))

    with console.log_to_stderr():
        made = Proxy(cluster, settings, counters)
        service = Service(made, counters, reload, ready, metrics_socket(metrics) if metrics else None)
        return 128 + service.run(workers)


def how_to_connect(cluster: Cluster, settings: Settings) -> str:
    """The settings for clients, and who can use the cluster's login."""
    sasl = not settings.login and str(cluster.client.get("security.protocol", "")).startswith("SASL_")
    protocol = ("SASL_" if sasl else "") + ("SSL" if settings.certificate else "PLAINTEXT")
    text = f"proxy of {cluster.name}; clients connect to this bootstrap server with security.protocol={protocol}"
    if settings.login and not settings.listen.host.startswith(_LOOPBACK):
        text += f"\nwarning: every client that reaches {settings.listen} uses the login of {cluster.name}"
    return text
