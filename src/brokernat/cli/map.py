"""`brokernat map check`, `map translate` and `map export`: work on an address map without a client.

The map is from a cluster of the file, from `--rule` (repeatable) or from `--file` (a rules file). Secrets of the file
are not resolved, because the commands open no connection.
"""

from __future__ import annotations

from pathlib import Path

import click

from brokernat.address import Endpoint
from brokernat.cli import console, exit_codes
from brokernat.cli.clusters import MapSource, cluster_option, map_options, mapped_cluster, render_subject
from brokernat.cli.files import output_options, write_output
from brokernat.cli.options import Group, config_option, fail_on_option, format_option
from brokernat.errors import UnmappedEndpointError, read_all
from brokernat.text import counted


@click.group("map", cls=Group)
def map_() -> None:
    """Check, try and export an address map."""


@map_.command()
@map_options
@fail_on_option
@format_option
def check(source: MapSource, fail_on: str, output: str) -> int:
    """Report unused, contradicting, reversed and chained rules."""
    from brokernat.address import lint

    mapped = source.maps()
    found = [(name, finding) for name, (rules, servers) in mapped.items() for finding in lint(rules, servers)]
    maps = {name: address_map for name, (address_map, _) in mapped.items()}
    if output == "json":
        console.json_data(
            {
                "version": 1,
                "findings": [
                    {
                        "code": finding.code,
                        "severity": finding.severity.value,
                        "cluster": name,
                        "rules": [{"number": i + 1, "rule": str(maps[name].rules[i])} for i in finding.rules],
                        "message": finding.message,
                        "hint": finding.hint,
                    }
                    for name, finding in found
                ],
            }
        )
    for name, finding in found if output == "text" else ():
        where = f"{name}, rule" if name else "rule"
        console.data(f"{finding.severity}: {where} {finding.rules[-1] + 1}: {finding.message} [{finding.code}]")
        console.data(f"  hint: {finding.hint}")
    rules = sum(len(address_map.rules) for address_map in maps.values())
    console.note(f"rules: {rules}, findings: {len(found)}")
    return exit_codes.findings_code((finding for _, finding in found), fail_on)


@map_.command()
@map_options
@click.option("--unmapped", type=click.Choice(["fail", "pass"]), help="Override the map's `unmapped`.")
@format_option
@click.argument("endpoints", metavar="ENDPOINT...", nargs=-1, required=True)
def translate(source: MapSource, unmapped: str | None, output: str, endpoints: tuple[str, ...]) -> int:
    """Print what a client dials for an advertised ENDPOINT.

    The rule that decides it goes to stderr.
    """
    from brokernat.address import AddressMap, Unmapped

    _, address_map = source.one()
    if unmapped:
        address_map = AddressMap(address_map.rules, Unmapped(unmapped))
    advertised = read_all(Endpoint.parse, endpoints)
    rows: list[dict[str, str | None]] = []
    for endpoint in advertised:
        try:
            found = address_map.translate(endpoint)
        except UnmappedEndpointError as error:
            console.report(error.report())
            rows.append(
                {"advertised": str(endpoint), "reachable": None, "rule": None, "rule_to_add": error.rule_to_add}
            )
            continue
        rows.append(
            {"advertised": str(endpoint), "reachable": str(found.endpoint), "rule": str(found.rule or "") or None}
        )
        if output == "text":
            console.data(str(found.endpoint))
            console.note(f"{endpoint}: " + (f"rule `{found.rule}`" if found.rule else "no rule, dialled as advertised"))
    if output == "json":
        console.json_data({"version": 1, "translations": rows})
    return 0 if all(row["reachable"] for row in rows) else exit_codes.FINDINGS


@map_.command()
@config_option
@cluster_option
@output_options
@format_option
def export(config_file: Path, cluster: str | None, file: Path | None, output: str, *, replace: bool) -> None:
    """Write a rules file for a client without Python.

    One rule per line, for the client's property `brokernat.map=file:/path`.
    """
    found, address_map = mapped_cluster(config_file, cluster)
    if output == "json":
        from brokernat.address import canonical_text, fingerprint

        console.json_data(
            {
                "version": 1,
                "cluster": found.name,
                "rules": [str(rule) for rule in address_map.rules],
                "unmapped": address_map.unmapped.value,
                "brokernat.map": canonical_text(address_map),
                "fingerprint": fingerprint(address_map),
            }
        )
        return
    from brokernat.render import rules_file

    text = rules_file(render_subject(found, address_map, config_file, ["map", "export"]))
    if file is None:
        console.data(text.removesuffix("\n"))
        return
    write_output(file, text, replace=replace)
    rules = counted(len(address_map.rules), "rule")
    console.note(f"{file}: {rules}; give it to a client as `brokernat.map=file:{file.absolute()}`")
