"""A discovery for a person and for programs: the table of nodes, what else was met, the rules to copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from brokernat.cli import console
from brokernat.config import Cluster
from brokernat.config.editing import address_map_lines
from brokernat.config.merging import ProvenRule
from brokernat.doctor.discovering.matching import Discovery
from brokernat.doctor.discovering.proposing import host_to_host, network_rule
from brokernat.doctor.finding import Finding, Severity
from brokernat.doctor.reports.folding import folded
from brokernat.doctor.reports.json_v1 import finding_v1
from brokernat.doctor.reports.printable import printable

_SIGNS = {Severity.ERROR: "x", Severity.WARNING: "!", Severity.INFO: "i"}
_COLUMNS = ("node", "advertised", "candidate", "method", "confidence")
_SECTION = "  "


def as_text(
    found: Discovery, proven: Sequence[ProvenRule], width: int, given: Cluster | None = None, *, with_rules: bool = True
) -> str:
    """The whole report; no line end at its end.

    Args:
        given: a cluster that no file has: the rules are shown as a section to start a file with.
        with_rules: False where they go elsewhere.
    """
    lines = [*_seen(found, width), *(_outcome(found, proven, width, given) if with_rules else ())]
    return "\n".join(lines).removesuffix("\n")


def as_json(found: Discovery, proven: Sequence[ProvenRule]) -> dict[str, Any]:
    """Version 1."""
    return {
        "version": 1,
        "cluster": found.cluster,
        "cluster_id": found.cluster_id,
        "listener": found.listener,
        "taken_at": found.taken_at,
        "whole": found.whole,
        "entries": [
            {
                "node_id": entry.node_id,
                "advertised": entry.advertised,
                "candidate": entry.candidate,
                "method": entry.method,
                "confidence": entry.confidence.value,
            }
            for entry in found.entries
        ],
        "missing": [{"node_id": node.node_id, "advertised": node.endpoint} for node in found.missing],
        "rules": [{"rule": str(new.rule), "comment": new.comment} for new in proven],
        "other_candidates": dict(found.silent),
        "findings": [finding_v1(finding) for finding in found.findings],
    }


def _seen(found: Discovery, width: int) -> Iterator[str]:
    if found.nodes:
        listener = f" on listener {found.listener}" if found.listener else ""
        number = "1 broker is" if len(found.nodes) == 1 else f"{len(found.nodes)} brokers are"
        yield from folded(f"{number} advertised{listener}, cluster {found.cluster_id}", width, "", "  ")
        yield ""
        yield from _table(found, width)
        yield ""
    if found.silent:
        told = ", ".join(f"{number} {what}" for what, number in sorted(found.silent.items()))
        yield from folded(f"other candidates: {told}", width, "", "  ")
        yield ""
    for finding in found.findings:
        yield from _finding(finding, width)
    if found.findings and found.nodes:
        yield ""


def _outcome(found: Discovery, proven: Sequence[ProvenRule], width: int, given: Cluster | None) -> Iterator[str]:
    if found.direct:
        yield "every broker can be dialled as it is advertised: no map is needed"
    elif proven:
        yield from _rules(found, proven, width, given)
    elif found.nodes:
        yield "no rule is proven"


def _table(found: Discovery, width: int) -> Iterator[str]:
    """Columns where they fit, else two lines for each node."""
    rows = [tuple(map(str, row)) for row in _rows(found)]
    table = console.table(_COLUMNS, rows)
    if max(map(len, table.splitlines())) <= width:
        yield table
        return
    for node, advertised, candidate, method, confidence in rows:
        yield from folded(f"node {node} advertises {advertised}", width, "", "  ")
        told = confidence if candidate == "-" else f"{candidate}, by {method}, {confidence}"
        yield from folded(told, width, "  ", "    ")


def _rows(found: Discovery) -> Iterator[tuple[object, ...]]:
    entries = {entry.node_id: entry for entry in found.entries}
    for node in found.nodes:
        entry = entries.get(node.node_id)
        if entry is None:
            yield node.node_id, printable(node.endpoint), "-", "-", "not found"
        else:
            yield node.node_id, printable(node.endpoint), entry.candidate, entry.method, entry.confidence


def _finding(finding: Finding, width: int) -> Iterator[str]:
    sign = f"{_SIGNS[finding.severity]} {finding.code} "
    yield from folded(f"{finding.subject}: {finding.message}", width, sign, " " * len(sign))
    for line in (*finding.evidence, *finding.remedy.client, *finding.remedy.broker):
        yield from folded(line, width, " " * (len(sign) + 2), " " * (len(sign) + 4))


def _rules(found: Discovery, proven: Sequence[ProvenRule], width: int, given: Cluster | None) -> Iterator[str]:
    if host_to_host(found.entries) and len(str(proven[0].rule).split(":")) == 1:
        yield from folded("every port is kept, so the rules are for hosts; --port-rules names ports", width, "", "  ")
        network = network_rule(found.entries)
        if network is not None:
            words = f"`{network}` would say the same of these hosts, and of others that were not looked at"
            yield from folded(words, width, "", "  ")
        yield ""
    if given is None:
        yield "rules to copy"
        yield from address_map_lines(proven)
        return
    yield "a brokernat.yaml to start with (`brokernat init` writes one with explanations)"
    yield ""
    yield "clusters:"
    yield f"{_SECTION}hq:"
    yield f"{_SECTION * 2}bootstrap_servers: {','.join(map(str, given.bootstrap_servers))}"
    yield from address_map_lines(proven, _SECTION * 2)
