"""`brokernat discover`: which broker answers behind which endpoint, and the address map that follows.

The result goes to stdout; the moving line, differences and questions to stderr. A file is changed only after its
difference was shown, and only by somebody who agreed: at the terminal, or beforehand with `--yes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from brokernat.address import Endpoint
from brokernat.cli import console
from brokernat.cli.cluster_choice import chosen_cluster
from brokernat.cli.discover_writing import may_write, rules_text, write_config, write_rules
from brokernat.cli.extras import needing_kio
from brokernat.cli.file_change import can_ask
from brokernat.cli.looking import looking
from brokernat.cli.options import EXIT_FINDINGS, SECONDS, config_option, format_option, token_command_option
from brokernat.cli.whole_file import require_place
from brokernat.config import Cluster
from brokernat.config.merging import ProvenRule
from brokernat.doctor.discovering.matching import Discovery
from brokernat.errors import NothingReachableError

_STDOUT = "-"


@click.command()
@config_option
@click.option("--cluster", metavar="NAME", help="A cluster of the file; needed when it has several.")
@click.option(
    "--bootstrap-server", "servers", metavar="HOST:PORT", multiple=True, help="Instead of the file; repeatable."
)
@click.option(
    "--candidates",
    metavar="LIST",
    multiple=True,
    help="What may lead to brokers: `host:port`, `host:first-last`, `network/length:port`, separated by `,`. "
    "The bootstrap servers unless given.",
)
@click.option(
    "--scan", "scans", metavar="HOST:FIRST-LAST", multiple=True, help="These ports of one host, however many."
)
@click.option(
    "--server-name",
    metavar="HOST",
    help="What the bootstrap servers' certificates are held against, where they name brokers and not the gateway.",
)
@token_command_option
@click.option("--timeout", type=SECONDS, default=30, show_default=True, help="Seconds for everything.")
@click.option("--port-rules", is_flag=True, help="Host and port in every rule, also where hosts alone would do.")
@click.option("--write", is_flag=True, help="Update the cluster's map in the file; shows the difference and asks.")
@click.option("--output", "file", metavar="FILE", help="A rules file to make or to update; `-` for stdout.")
@click.option("--yes", is_flag=True, help="Change files without asking.")
@click.option("--partial", is_flag=True, help="Write what is proven, also where a node is missing.")
@format_option
def discover(
    config_file: Path,
    cluster: str | None,
    servers: tuple[str, ...],
    candidates: tuple[str, ...],
    scans: tuple[str, ...],
    server_name: str | None,
    token_command: str | None,
    timeout: float,
    file: str | None,
    output: str,
    *,
    port_rules: bool,
    write: bool,
    yes: bool,
    partial: bool,
) -> int:
    """Find which broker answers behind which endpoint, prove it, and write the address map."""
    from brokernat.doctor.discovering.candidates import parse_candidates, parse_scan
    from brokernat.doctor.discovering.proposing import propose

    _require_sense(servers, file, output, write=write)
    looked_at = chosen_cluster(config_file, cluster, servers)
    _require_file(config_file if write else Path(file) if file and file != _STDOUT else None, yes=yes)
    scanned = (endpoint for text in scans for endpoint in parse_scan(text))
    endpoints = tuple(dict.fromkeys((*parse_candidates(candidates), *scanned)))
    found = _found(looked_at, endpoints, timeout, server_name, token_command)
    proven = () if found.direct else propose(found, hosts=not port_rules)
    _show(found, proven, looked_at if servers else None, file, output)
    if not found.answered:
        return NothingReachableError.exit_code
    if proven and (write or file) and may_write(found, partial=partial):
        if write:
            write_config(config_file, looked_at, found, proven, yes=yes)
        elif file == _STDOUT:
            console.data(rules_text("", proven).removesuffix("\n"))
        elif file:
            write_rules(Path(file), found, proven, yes=yes)
    return 0 if found.whole else EXIT_FINDINGS


def _require_sense(servers: Sequence[str], file: str | None, output: str, *, write: bool) -> None:
    if write and servers:
        raise click.UsageError("`--write` is for a cluster of the file; with `--bootstrap-server` use `--output FILE`")
    if write and file:
        raise click.UsageError("`--write` and `--output` exclude each other")
    if file == _STDOUT and output == "json":
        raise click.UsageError("`--output -` and `--format json` both write to stdout")


def _require_file(file: Path | None, *, yes: bool) -> None:
    """What keeps a file from being written is said before the network is looked at, which takes a while."""
    if file is None:
        return
    require_place(file)
    if file.exists() and not yes and not can_ask():
        raise click.UsageError("nobody is there to agree to a change of a file: say `--yes`, or leave out `--write`")


def _found(
    cluster: Cluster, candidates: Sequence[Endpoint], timeout: float, server_name: str | None, token_command: str | None
) -> Discovery:
    with needing_kio("discover"):
        from brokernat.doctor.discovering.matching import match
        from brokernat.doctor.discovering.sweeping import sweep
    with looking("asking the bootstrap servers") as say:
        return match(
            sweep(
                cluster,
                candidates,
                timeout,
                lambda p: say(f"looked at {p.done} of {p.total} candidates, Kafka behind {p.answering}"),
                server_name,
                token_command,
            )
        )


def _show(found: Discovery, proven: Sequence[ProvenRule], given: Cluster | None, file: str | None, output: str) -> None:
    from brokernat.cli.discover_report import as_json, as_text

    if output == "json":
        console.json_data(as_json(found, proven))
        return
    to_stdout = file != _STDOUT
    text = as_text(found, proven, console.width(), given, with_rules=to_stdout)
    (console.data if to_stdout else console.note)(text)
