"""Loads `brokernat.yaml` as a Config, or raises one error with all problems.

Only this module of the package opens the file. Three stages add to one list of problems: YAML, the model and the checks
between sections. The list is sorted by line. Only invalid YAML stops early.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import ValidationError

from brokernat.address import AddressMap, Unmapped, pair
from brokernat.config.checks import MISPLACED_REFERENCE, check
from brokernat.config.cluster import Cluster
from brokernat.config.document import Document, parse_document
from brokernat.config.model import ClusterSection, ConfigFile, Pipeline, ShippingSection
from brokernat.config.problems import did_you_mean, translate
from brokernat.config.secrets import References
from brokernat.errors import ConfigError, Finding, Location
from brokernat.paths import reading

DEFAULT_FILE = "brokernat.yaml"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Config:
    """A valid file. `path` is absolute; relative paths in the file start at its folder."""

    path: Path
    clusters: Mapping[str, Cluster]
    pipelines: Mapping[str, Pipeline]
    shipping: Mapping[str, ShippingSection]

    def cluster(self, name: str) -> Cluster:
        """Raises ConfigError with the names that there are."""
        return _named(self.clusters, name, "cluster", self.path)

    def pipeline(self, name: str) -> Pipeline:
        """Raises ConfigError with the names that there are."""
        return _named(self.pipelines, name, "pipeline", self.path)

    def shipment(self, name: str) -> ShippingSection:
        """Raises ConfigError with the names that there are."""
        return _named(self.shipping, name, "shipment", self.path)


def load(
    path: str | Path = DEFAULT_FILE, *, environ: Mapping[str, str] | None = None, resolve_secrets: bool = True
) -> Config:
    """Read the file.

    Args:
        environ: the variables for `${env:NAME}`; by default the environment of the process.
        resolve_secrets: False keeps `${env:}` and `${file:}` unresolved, for commands that open no connection.

    Raises:
        ConfigError: all problems of the file, in the order of its lines.
    """
    document = read_document(path)
    folder = Path(path).absolute().parent
    references = References(folder, os.environ if environ is None else environ, resolve_secrets)
    problems = [*document.problems, *check(document)]
    if not isinstance(document.data, dict):
        raise ConfigError(*(problems or [_not_a_mapping(document)]))
    try:
        file = ConfigFile.model_validate(document.data, context={"folder": folder, "references": references})
    except ValidationError as error:
        problems.extend(translate(error.errors(include_url=False), document, ConfigFile))
    if problems:
        # A value with such a reference is usually refused for its characters, too.
        misplaced = {each.location.path for each in problems if each.code == MISPLACED_REFERENCE}
        kept = (p for p in problems if p.code == MISPLACED_REFERENCE or p.location.path not in misplaced)
        raise ConfigError(*_in_order(kept))
    return Config(
        Path(path).absolute(),
        MappingProxyType({name: _cluster(name, section) for name, section in file.clusters.items()}),
        MappingProxyType({name: Pipeline(name=name, **dict(section)) for name, section in file.pipelines.items()}),
        MappingProxyType(dict(file.shipping)),
    )


def read_document(path: str | Path) -> Document:
    """The file as YAML, with positions.

    Raises:
        ConfigError: the file is missing, unreadable, not UTF-8, or not YAML.
    """
    source = str(path)
    with reading(source, moved_by="`--config FILE` or BROKERNAT_CONFIG"):
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            hint = "write one with `brokernat init`, or name another with `--config FILE` or BROKERNAT_CONFIG"
            raise ConfigError(Finding("file-missing", f"there is no file `{source}`", hint)) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Finding("not-utf8", "the file is not UTF-8 text", "save it as UTF-8", Location(source, line))
        raise ConfigError(problem) from None
    return parse_document(text, source)


def _cluster(name: str, section: ClusterSection) -> Cluster:
    unmapped = Unmapped(section.unmapped)
    address_map = None
    if section.address_map is not None:
        address_map = AddressMap(section.address_map, unmapped)
    elif section.broker_nat is not None:
        address_map = pair(section.bootstrap_servers, section.broker_nat, unmapped)
    client = MappingProxyType(dict(section.client))
    return Cluster(name, section.bootstrap_servers, address_map, client, section.profile, section.tunnel)


def _not_a_mapping(document: Document) -> Finding:
    if document.data is None:
        return Finding(
            "file-empty", f"`{document.source}` is empty", "start from the file that `brokernat init` writes"
        )
    hint = "the file starts with `clusters:`"
    return Finding("wrong-type", "the file is not a mapping (`name: value`)", hint, document.locate(()))


def _in_order(problems: Iterable[Finding]) -> list[Finding]:
    return sorted(problems, key=lambda problem: (problem.location.line or 0, problem.location.column or 0))


def _named(values: Mapping[str, _T], name: str, what: str, path: Path) -> _T:
    if name in values:
        return values[name]
    listed = ", ".join(f"`{known}`" for known in values)
    hint = did_you_mean(name, values) or (f"{what}s of the file: {listed}" if listed else None)
    raise ConfigError(Finding(f"unknown-{what}", f"there is no {what} `{name}` in {path}", hint))
