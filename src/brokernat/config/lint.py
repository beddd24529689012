"""Warnings about a file that loads: rules and properties without effect, plain secrets, files that are not here.

`address/lint.py` checks the rules; this module adds their line numbers.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path as FilePath

from brokernat.address import AddressMap, canonical_text, lint
from brokernat.config.checks import used_clusters
from brokernat.config.client_properties import FILES, LOGIN_NAMES, NAMES, instead_of, is_secret
from brokernat.config.cluster import Cluster
from brokernat.config.document import Document, Path, Value
from brokernat.config.secrets import Secret, Unresolved
from brokernat.errors import ConfigError, Finding, Severity

_PUBLIC = frozenset({"ssl.keystore.certificate.chain", "ssl.truststore.certificates"})
_NEAR = 0.85  # `sasl.mechanisms` is near `sasl.mechanism`; `my.ssl.provider` is a custom property


def lint_config(clusters: Mapping[str, Cluster], document: Document) -> Iterator[Finding]:
    """All warnings about a file. If it did not load, `clusters` is empty, and the rules are not checked."""
    for name in document.section("clusters"):
        cluster, section = clusters.get(name), document.section("clusters", name)
        if cluster is not None and cluster.address_map is not None:
            yield from _rules(cluster, cluster.address_map, document)
        elif "unmapped" in section and not {"address_map", "broker_nat"} & section.keys():
            message = "`unmapped` has no effect without `address_map`"
            location = document.locate(("clusters", name, "unmapped"), key=True)
            yield Finding("unmapped-without-map", message, location=location, severity=Severity.WARNING)
        warnings = (*_client(name, document), *(_missing_files(cluster, document) if cluster else ()))
        yield from (replace(each, severity=Severity.WARNING) for each in warnings)
    yield from _for_a_proxy(clusters, document)
    for check_of_pipelines in (_of_pipelines, _files_of_pipelines):
        yield from (replace(each, severity=Severity.WARNING) for each in check_of_pipelines(document))


def _rules(cluster: Cluster, address_map: AddressMap, document: Document) -> Iterator[Finding]:
    key = "address_map" if "address_map" in document.section("clusters", cluster.name) else "broker_nat"
    for finding in lint(address_map, cluster.bootstrap_servers):
        yield finding.at(document.locate(("clusters", cluster.name, key, finding.rules[-1])))


def _for_a_proxy(clusters: Mapping[str, Cluster], document: Document) -> Iterator[Finding]:
    """Clusters with templates that a pipeline or a shipment uses: their clients do not know node ids."""
    for path, name in used_clusters(document):
        cluster = clusters.get(name) if isinstance(name, str) else None
        try:
            canonical_text(cluster.address_map if cluster and cluster.address_map else AddressMap(()))
        except ConfigError as error:
            yield error.problems[0].at(document.locate(path))


def _client(cluster: str, document: Document) -> Iterator[Finding]:
    client = document.section("clusters", cluster, "client")
    for name, value in client.items():
        path = ("clusters", cluster, "client", name)
        if name not in NAMES | LOGIN_NAMES:
            hint = instead_of(name, _NEAR)
            if hint is not None:
                place = document.locate(path, key=True)
                yield Finding("unknown-property", f"Kafka has no property `{name}`", hint, place)
        if is_secret(name) and name not in _PUBLIC:
            yield from _in_plain(path, value, document)
    protocol = str(client.get("security.protocol", ""))
    unknown = "${" in protocol
    if any(name.startswith("sasl.") for name in client) and not unknown and not protocol.upper().startswith("SASL_"):
        message = "`sasl.*` has no effect: `security.protocol` is not SASL_PLAINTEXT or SASL_SSL"
        place = document.locate(("clusters", cluster, "client"), key=True)
        yield Finding("sasl-unused", message, "add `security.protocol: SASL_SSL`", place)


def _missing_files(cluster: Cluster, document: Document) -> Iterator[Finding]:
    for name in sorted(FILES & cluster.client.keys()):
        value = cluster.client[name]
        path = value.reveal() if isinstance(value, Secret) else value
        if path and not isinstance(value, Unresolved) and not os.access(path, os.R_OK):
            shown = "at the reference's path" if isinstance(value, Secret) else f"`{path}`"
            location = document.locate(("clusters", cluster.name, "client", name))
            yield Finding(
                "file-missing", f"`{name}`: there is no file {shown} that this user can read", location=location
            )


def _of_pipelines(document: Document) -> Iterator[Finding]:
    """Secrets of registries and databases in plain text."""
    for name in document.section("pipelines"):
        pipeline = ("pipelines", name)
        registries: list[Path] = [(*pipeline, "decode"), (*pipeline, "sink", "encode")]
        options: list[Path] = []
        for reference in document.section(*pipeline, "references"):
            place = (*pipeline, "references", reference)
            registries.append((*place, "kafka", "decode"))
            options += [(*place, "jdbc"), (*place, "jdbc", "options")]
        for path in (*((*each, "registry", "client") for each in registries), *options):
            for key, value in document.section(*path).items():
                if is_secret(key):
                    yield from _in_plain((*path, key), value, document)


def _files_of_pipelines(document: Document) -> Iterator[Finding]:
    """Modules of transforms and files of references that are not here; a pipeline may run on another host."""
    folder = FilePath(document.source).absolute().parent
    for name in document.section("pipelines"):
        pipeline = ("pipelines", name)
        transform = document.section(*pipeline).get("transform")
        module = transform.partition(":")[0].partition(".")[0] if isinstance(transform, str) else ""
        beside = any((folder / file).exists() for file in (module, f"{module}.py"))
        if module.isidentifier() and not beside and module not in sys.modules and find_spec(module) is None:
            message = f"there is no module `{module}` in {folder} or among the installed packages"
            yield Finding("module-missing", message, location=document.locate((*pipeline, "transform")))
        for reference in document.section(*pipeline, "references"):
            place = (*pipeline, "references", reference)
            path = document.section(*place).get("path")
            if isinstance(path, str) and not _PATTERN.search(path) and not (folder / path).exists():
                message = f"there is no file `{path}`"
                yield Finding("file-missing", message, location=document.locate((*place, "path")))


_PATTERN = re.compile(r"^~|://|[*?\[{]")
"""A path below a home, a URI, or a pattern of Hadoop's."""


def _in_plain(path: Path, value: Value, document: Document) -> Iterator[Finding]:
    if isinstance(value, str) and "${" not in value:
        hint = "write `${env:NAME}` or `${file:PATH}` instead"
        yield Finding("plain-secret", f"`{path[-1]}` is in plain text", hint, document.locate(path))
