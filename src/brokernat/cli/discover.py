"""`brokernat discover`: finds which broker answers at which endpoint, and writes the address map.

The result goes to stdout; progress, diffs and questions to stderr. A file is changed only after the user has seen the
diff and agreed, at the terminal or with `--yes`. The rules go into a cluster of `brokernat.yaml` or into a rules file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from brokernat.address import AddressMap, Endpoint
from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import ClusterSource, cluster_options, open_tunnel
from brokernat.cli.error_reports import require_extra
from brokernat.cli.files import can_ask, edit_file, require_writable_place
from brokernat.cli.options import SECONDS, format_option, token_command_option
from brokernat.config import Cluster
from brokernat.config.client_properties import LOGIN_MODULES
from brokernat.config.editing import CLUSTER, address_map_lines, first_file
from brokernat.config.java_properties import parse_jaas
from brokernat.config.merging import ProvenRule
from brokernat.config.secrets import Secret
from brokernat.doctor.discovery.matching import Discovery
from brokernat.doctor.discovery.rules import host_to_host, network_rule
from brokernat.doctor.finding import CheckFinding, Severity
from brokernat.doctor.reports.json_v1 import finding_v1
from brokernat.errors import ConfigError, Finding, NothingReachableError
from brokernat.text import counted, folded, printable

_STDOUT = "-"
_MOST_NAMED = 20


@click.command()
@cluster_options
@click.option(
    "--candidates",
    metavar="LIST",
    multiple=True,
    help="Endpoints that may lead to brokers: `host:port`, `host:first-last` or `network/length:port`, separated by "
    "`,`. Default: the bootstrap servers and the advertised endpoints.",
)
@click.option(
    "--scan", "scans", metavar="HOST:FIRST-LAST", multiple=True, help="A range of ports of one host, of any size."
)
@click.option(
    "--server-name",
    metavar="HOST",
    help="Host name expected in the bootstrap servers' certificates, where they name brokers and not the gateway.",
)
@token_command_option
@click.option("--timeout", type=SECONDS, default=30, show_default=True, help="Seconds for all probes.")
@click.option("--port-rules", is_flag=True, help="Write host and port in every rule, even where hosts are enough.")
@click.option("--write", is_flag=True, help="Update the cluster's map in the file, after a question.")
@click.option("--output", "file", metavar="FILE", help="Create or update a rules file; `-` for stdout.")
@click.option("--yes", is_flag=True, help="Change files without asking.")
@click.option("--send-login", is_flag=True, help="Send a readable login to every candidate without asking.")
@click.option("--partial", is_flag=True, help="Write the proven rules even if a node is missing.")
@format_option
def discover(
    cluster_source: ClusterSource,
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
    send_login: bool,
    partial: bool,
) -> int:
    """Find the endpoint that leads to each broker, prove it, and write the address map.

    HOST:PORT are bootstrap servers, separated by blanks or `,`. Without any, a cluster of the file is probed.
    """
    from brokernat.doctor.discovery.candidates import parse_candidates, parse_scan
    from brokernat.doctor.discovery.rules import propose

    config_file, given = cluster_source.config_file, cluster_source.given
    _require_sense(config_file if given else None, file, output, write=write)
    looked_at = cluster_source.cluster()
    if looked_at.tunnel is not None and (write or file):
        raise click.UsageError(f"`{looked_at.name}` gets its map from its tunnel, so no map is written")
    _require_file(config_file if write else Path(file) if file and file != _STDOUT else None, yes=yes)
    scanned = (endpoint for text in scans for endpoint in parse_scan(text))
    endpoints = tuple(dict.fromkeys((*parse_candidates(candidates), *scanned)))
    if looked_at.tunnel is not None:
        opened = open_tunnel(looked_at)
        looked_at, endpoints = opened.cluster, endpoints or tuple(broker.local for broker in opened.brokers)
    found = _found(looked_at, endpoints, timeout, server_name, token_command, send_login=send_login)
    proven = () if found.direct else propose(found, hosts=not port_rules)
    heading = None if not given else _NEW_FILE if write else _FILE_TO_WRITE
    _show(found, proven, file, output, heading)
    if not found.answered:
        return NothingReachableError.exit_code
    if proven and (write or file) and may_write(found, given=given, partial=partial):
        if write and given:
            write_first_file(config_file, looked_at, found, proven)
        elif write:
            write_config(config_file, looked_at, found, proven, yes=yes)
        elif file == _STDOUT:
            console.data(rules_text("", proven).removesuffix("\n"))
        elif file:
            write_rules(Path(file), found, proven, yes=yes)
    return 0 if found.whole else exit_codes.FINDINGS


def _require_sense(first_file: Path | None, file: str | None, output: str, *, write: bool) -> None:
    """Check the combination of options; `first_file` is None if the cluster is from a file."""
    if write and file:
        raise click.UsageError("`--write` cannot be combined with `--output`")
    if file == _STDOUT and output == "json":
        raise click.UsageError("`--output -` and `--format json` both write to stdout")
    if write and first_file is not None and first_file.exists():
        raise _exists_error(first_file)


def _exists_error(file: Path) -> ConfigError:
    message = f"`{file}` exists, and `--write` with bootstrap servers writes a new file only"
    hint = (
        "`brokernat discover --cluster NAME --write` updates a cluster of it; else name another file with `--config`, "
        "or write the rules alone with `--output`"
    )
    return ConfigError(Finding("file-exists", message, hint))


def _require_file(file: Path | None, *, yes: bool) -> None:
    """Raise errors about writing the file before the probes, which take time."""
    if file is None:
        return
    require_writable_place(file)
    if file.exists() and not yes and not can_ask():
        raise click.UsageError("there is no terminal to confirm the change at: add `--yes`, or omit `--write`")


def _found(
    cluster: Cluster,
    candidates: Sequence[Endpoint],
    timeout: float,
    server_name: str | None,
    token_command: str | None,
    *,
    send_login: bool,
) -> Discovery:
    require_extra("kio", "discover")
    from brokernat.doctor.discovery.matching import match
    from brokernat.doctor.discovery.sweep import sweep

    with console.progress_line("probing the bootstrap servers") as line:

        def agree(endpoints: Sequence[Endpoint]) -> bool:
            with line.hidden():
                return send_login or _agreed_to_login(cluster, endpoints)

        return match(
            sweep(
                cluster,
                candidates,
                timeout,
                lambda p: line.show(
                    f"probed {p.done} of {counted(p.total, 'candidate')}, Kafka answers at {p.answering}"
                ),
                server_name,
                token_command,
                agree,
            )
        )


def _agreed_to_login(cluster: Cluster, endpoints: Sequence[Endpoint]) -> bool:
    """Ask the user whether to send the login. Raises ConfigError without a terminal."""
    message = (
        f"the login of `{cluster.name}` would be sent to {counted(len(endpoints), 'candidate')} without a verified "
        "certificate, which could read it"
    )
    more = len(endpoints) - _MOST_NAMED
    named = (*map(str, endpoints[:_MOST_NAMED]), *((f"and {more} more",) if more > 0 else ()))
    if not can_ask():
        hint = (
            "name only candidates that may know the password, and add `--send-login`; "
            "or use SASL_SSL or SCRAM, which do not reveal it"
        )
        raise ConfigError(Finding("login-not-agreed", message, hint, details=tuple(f"  {each}" for each in named)))
    console.note("\n  ".join((message, *named)))
    return click.confirm("send the login?", err=True)


def _show(found: Discovery, proven: Sequence[ProvenRule], file: str | None, output: str, heading: str | None) -> None:
    if output == "json":
        console.json_data(as_json(found, proven))
        return
    to_stdout = file != _STDOUT
    text = as_text(found, proven, console.width(), heading, with_rules=to_stdout)
    (console.data if to_stdout else console.note)(text)


_SIGNS = {Severity.ERROR: "x", Severity.WARNING: "!", Severity.INFO: "i"}
_COLUMNS = ("node", "advertised", "candidate", "method", "confidence")
_SECTION = "  "
_FILE_TO_WRITE = "a brokernat.yaml to start with (`--write` writes it, with explanations)"
_NEW_FILE = "the cluster of the new file"


def as_text(
    found: Discovery, proven: Sequence[ProvenRule], width: int, heading: str | None = None, *, with_rules: bool = True
) -> str:
    """The whole report, without a line end.

    Args:
        heading: the section above the rules if the cluster is in no file.
        with_rules: False if the rules themselves are on stdout.
    """
    shown = with_rules or not proven
    lines = [*_seen(found, width), *(_outcome(found, proven, width, heading) if shown else ())]
    return "\n".join(lines).removesuffix("\n")


def as_json(found: Discovery, proven: Sequence[ProvenRule]) -> dict[str, Any]:
    """The report as JSON, version 1."""
    return {
        "version": 1,
        "cluster": found.cluster,
        "cluster_id": found.cluster_id,
        "listener": found.listener,
        "taken_at": found.taken_at,
        "whole": found.whole,
        "entries": [
            {
                "node_id": each.node_id,
                "advertised": each.advertised,
                "candidate": each.candidate,
                "method": each.method,
                "confidence": each.confidence.value,
                "connections": each.connections,
            }
            for each in found.matched
        ],
        "one_source": found.one_source,
        "missing": [{"node_id": node.node_id, "advertised": node.endpoint} for node in found.missing],
        "rules": [{"rule": str(new.rule), "comment": new.comment} for new in proven],
        "other_candidates": dict(found.silent),
        "findings": [finding_v1(finding) for finding in found.findings],
    }


def _seen(found: Discovery, width: int) -> Iterator[str]:
    if found.nodes:
        listener = f" on listener {found.listener}" if found.listener else ""
        number = counted(len(found.nodes), "broker is", "brokers are")
        yield from folded(f"{number} advertised{listener}, cluster {found.cluster_id}", width, "", "  ")
        yield ""
        yield from _table(found, width)
        yield ""
    if found.matched and found.one_source:
        words = "a load balancer that chooses by the client's address cannot be detected from this machine"
        yield from folded(words, width, "", "  ")
        yield ""
    if found.silent:
        counts = ", ".join(f"{number} {what}" for what, number in sorted(found.silent.items()))
        yield from folded(f"other candidates: {counts}", width, "", "  ")
        yield ""
    for finding in found.findings:
        yield from _finding(finding, width)
    if found.findings and found.nodes:
        yield ""


def _outcome(found: Discovery, proven: Sequence[ProvenRule], width: int, heading: str | None) -> Iterator[str]:
    if found.direct:
        yield "every advertised endpoint can be dialled: no map is needed"
    elif proven:
        yield from _rules(found, proven, width, heading)
    elif found.nodes:
        yield "no rule is proven"


def _table(found: Discovery, width: int) -> Iterator[str]:
    """A table if it fits, else two lines for each node."""
    rows = [tuple(map(str, row)) for row in _rows(found)]
    table = console.table(_COLUMNS, rows)
    if max(map(len, table.splitlines())) <= width:
        yield table
        return
    for node, advertised, candidate, method, confidence in rows:
        yield from folded(f"node {node} advertises {advertised}", width, "", "  ")
        line = confidence if candidate == "-" else f"{candidate}, by {method}, {confidence}"
        yield from folded(line, width, "  ", "    ")


def _rows(found: Discovery) -> Iterator[tuple[object, ...]]:
    matched = {each.node_id: each for each in found.matched}
    for node in found.nodes:
        match = matched.get(node.node_id)
        if match is None:
            words = "not known" if found.undecided else "not found"
            yield node.node_id, printable(node.endpoint), "-", "-", words
        else:
            yield node.node_id, printable(node.endpoint), match.candidate, match.method, match.confidence


def _finding(finding: CheckFinding, width: int) -> Iterator[str]:
    sign = f"{_SIGNS[finding.severity]} {finding.code} "
    yield from folded(f"{finding.subject}: {finding.message}", width, sign, " " * len(sign))
    lines = [*finding.details, *finding.remedy.client, *finding.remedy.rules, *finding.remedy.broker]
    if finding.code == "BN402" and finding.remedy.rules:
        name = Endpoint.parse(finding.remedy.rules[0].partition(" = ")[0]).host
        lines.append(f"or verify the name of the certificate here: `--server-name {name}`")
    for line in lines:
        yield from folded(line, width, " " * (len(sign) + 2), " " * (len(sign) + 4))


def _rules(found: Discovery, proven: Sequence[ProvenRule], width: int, heading: str | None) -> Iterator[str]:
    if host_to_host(found.matched) and len(str(proven[0].rule).split(":")) == 1:
        yield from folded("no port changes, so the rules are for hosts; --port-rules adds the ports", width, "", "  ")
        network = network_rule(found.matched)
        if network is not None:
            words = f"`{network}` would cover these hosts, and others that were not probed"
            yield from folded(words, width, "", "  ")
        yield ""
    if heading is None:
        yield "rules to copy"
        yield from address_map_lines(proven)
        return
    yield heading
    yield ""
    yield "clusters:"
    yield f"{_SECTION}{CLUSTER}:"
    yield f"{_SECTION * 2}bootstrap_servers: {','.join(found.servers_of_first_file)}"
    yield from address_map_lines(proven, _SECTION * 2)


def may_write(found: Discovery, *, given: bool, partial: bool) -> bool:
    """Whether the rules may be written; prints the reason if not.

    A new file (`given`) gets bootstrap servers that match the rules; those of an existing file do not change.
    """
    if found.whole or partial or (given and found.complete):
        return True
    if found.complete:
        servers = ",".join(found.bootstrap_servers)
        console.report(
            "nothing is written: the bootstrap servers belong to several listeners, and the map fits one of them\n\n"
            f"hint: write `bootstrap_servers: {servers}`, then run this again"
        )
        return False
    console.report(
        "nothing is written: some nodes are not proven\n\n"
        "hint: give more `--candidates` (the forwards of these nodes), or add `--partial` to write the proven rules"
    )
    return False


def write_first_file(file: Path, looked_at: Cluster, found: Discovery, proven: Sequence[ProvenRule]) -> None:
    """Write a new `brokernat.yaml` with this cluster, without its secrets.

    Raises:
        ConfigError: the file exists meanwhile, or cannot be written.
    """
    client, variables = _client_to_write(looked_at)
    servers = tuple(map(Endpoint.parse, found.servers_of_first_file))

    def edit(text: str | None) -> str:
        if text is not None:
            raise _exists_error(file)
        return first_file(servers, client, proven)

    edit_file(file, edit, yes=True)
    if variables:
        console.note(f"secrets are not written into it: set {', '.join(variables)} in the environment")


def _client_to_write(cluster: Cluster) -> tuple[dict[str, str], list[str]]:
    """The client properties with a variable for each secret, and the variables."""
    properties = dict(cluster.client)
    line = properties.get("sasl.jaas.config")
    if isinstance(line, Secret) and properties.get("sasl.mechanism") in LOGIN_MODULES:
        login = parse_jaas(line.reveal()).options
        if login.keys() == {"username", "password"}:
            del properties["sasl.jaas.config"]
            properties |= {"sasl.username": login["username"], "sasl.password": Secret(login["password"])}
    secrets = {name: _variable(name) for name, value in properties.items() if isinstance(value, Secret)}
    written = {
        name: f"${{env:{secrets[name]}}}" if name in secrets else str(value).replace("${", "$${")
        for name, value in properties.items()
    }
    return written, list(secrets.values())


def _variable(name: str) -> str:
    return f"{CLUSTER}_{name.removeprefix('sasl.').replace('.', '_')}".upper()


def write_config(file: Path, looked_at: Cluster, found: Discovery, proven: Sequence[ProvenRule], *, yes: bool) -> None:
    """Update the map of a cluster in `brokernat.yaml`.

    Raises:
        ConfigError: the file cannot be edited in place or written, or the cluster has changed meanwhile.
    """
    from brokernat.config import load
    from brokernat.config.editing import with_address_map

    def edit(text: str | None) -> str:
        # The probes took a while, and the user may have edited the file.
        now = load(file, resolve_secrets=False).cluster(looked_at.name)
        if text is None or now.bootstrap_servers != looked_at.bootstrap_servers:
            servers = f"the bootstrap servers of `{looked_at.name}` in `{file}`"
            message = f"{servers} have changed since the probe: nothing is written"
            raise ConfigError(Finding("file-changed", message, "run `brokernat discover` again"))
        return with_address_map(text, looked_at.name, proven, str(file))

    edit_file(file, edit, yes=yes)
    _note_unused(load(file, resolve_secrets=False).cluster(looked_at.name).address_map, found)


def write_rules(file: Path, found: Discovery, proven: Sequence[ProvenRule], *, yes: bool) -> None:
    """Create or update a rules file.

    Raises:
        ConfigError: the file is not a rules file, or cannot be written.
    """
    from brokernat.map_text import read_rules_file

    def edit(text: str | None) -> str:
        if text is not None:
            # Raises its error if the file is not a rules file.
            read_rules_file(file)
        return rules_text(text or "", proven)

    edit_file(file, edit, yes=yes)
    _note_unused(read_rules_file(file), found)


def _note_unused(address_map: AddressMap | None, found: Discovery) -> None:
    """Report the user's rules that match no broker; they are not removed."""
    advertised = [Endpoint.parse(each.advertised) for each in found.matched]
    for rule in address_map.rules if address_map and found.whole else ():
        if not any(map(rule.pattern.matches, advertised)):
            console.note(f"the rule `{rule}` matches no broker of this cluster: remove it if it is old [BN606]")


def rules_text(before: str, proven: Sequence[ProvenRule]) -> str:
    """The new text of a rules file, including its old content."""
    from brokernat.config.editing import with_rules

    title = "# Address map: advertised = reachable, the first match wins.\n"
    return with_rules(before or title, proven)
