"""What works and is doubtful all the same: the warnings of `brokernat config check`.

Like `checks.py`, but a file with warnings still loads. Rules have lints of their own (`address/lint.py`); here they
get their places in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from brokernat.address import AddressMap, lint
from brokernat.config.cluster import Cluster
from brokernat.config.document import Document
from brokernat.config.kafka_names import LOGIN_NAMES, NAMES, is_secret
from brokernat.config.load import Config
from brokernat.config.problems import nearest
from brokernat.errors import Finding, Severity

_PUBLIC = frozenset({"ssl.keystore.certificate.chain", "ssl.truststore.certificates"})
_NEAR = 0.85  # `sasl.mechanisms` is near `sasl.mechanism`; `my.ssl.provider` is somebody's own name


def lint_config(config: Config, document: Document) -> Iterator[Finding]:
    """Every doubt about a file that loaded."""
    for name, cluster in config.clusters.items():
        if cluster.address_map is not None:
            yield from _rules(cluster, cluster.address_map, document)
        elif "unmapped" in document.section("clusters", name):
            message = "`unmapped` has no effect without `address_map`"
            location = document.locate(("clusters", name, "unmapped"), key=True)
            yield Finding("unmapped-without-map", message, location=location, severity=Severity.WARNING)
        yield from (replace(each, severity=Severity.WARNING) for each in _client(name, document))


def _rules(cluster: Cluster, address_map: AddressMap, document: Document) -> Iterator[Finding]:
    key = "address_map" if "address_map" in document.section("clusters", cluster.name) else "broker_nat"
    for finding in lint(address_map, cluster.bootstrap_servers):
        yield finding.at(document.locate(("clusters", cluster.name, key, finding.rules[-1])))


def _client(cluster: str, document: Document) -> Iterator[Finding]:
    client = document.section("clusters", cluster, "client")
    for name, value in client.items():
        path = ("clusters", cluster, "client", name)
        if name not in NAMES | LOGIN_NAMES:
            near = nearest(name, NAMES | LOGIN_NAMES, _NEAR)
            if near:
                hint = f"did you mean `{near}`?"
                yield Finding(
                    "unknown-property", f"Kafka has no property `{name}`", hint, document.locate(path, key=True)
                )
        if is_secret(name) and name not in _PUBLIC and isinstance(value, str) and "${" not in value:
            hint = "keep it out of the file: `${env:NAME}` or `${file:PATH}`"
            yield Finding("plain-secret", f"`{name}` is written in plain", hint, document.locate(path))
    protocol = str(client.get("security.protocol", ""))
    unknown = "${" in protocol
    if any(name.startswith("sasl.") for name in client) and not unknown and not protocol.upper().startswith("SASL_"):
        message = "`sasl.*` has no effect: `security.protocol` is not SASL_PLAINTEXT or SASL_SSL"
        place = document.locate(("clusters", cluster, "client"), key=True)
        yield Finding("sasl-unused", message, "add `security.protocol: SASL_SSL`", place)
