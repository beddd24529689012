"""Brokers' files as Kafka reads them: `server.properties` with any name, compose files (`.yml`, `.yaml`) with what lies
beside them, and the environment files of containers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from brokernat.doctor.broker_files.compose import parse_compose, settings_of_variables
from brokernat.doctor.broker_files.listeners import other_program, parse_server_properties
from brokernat.doctor.broker_files.services import RESOLVE, overrides, variables_of
from brokernat.doctor.evidence import BrokerFile
from brokernat.errors import ConfigError, Finding, read_all
from brokernat.paths import reading

_COMPOSE = (".yml", ".yaml")
_LARGEST = 2**20


def read_broker_files(files: Iterable[Path]) -> tuple[BrokerFile, ...]:
    """The listener settings of the files, without any other setting.

    Raises:
        ConfigError: lists every file that cannot be read or is not a broker's file.
    """
    return tuple(chain.from_iterable(read_all(_read, _projects(dict.fromkeys(files)))))


@dataclass
class _Project:
    """A file, and the compose files that override parts of it."""

    file: Path
    overriding: list[Path] = field(default_factory=list)


def _projects(files: Iterable[Path]) -> list[_Project]:
    """The files; an override file belongs to the compose file before it."""
    projects: list[_Project] = []
    for file in files:
        of_compose = [each for each in projects if each.file.suffix in _COMPOSE]
        if file.suffix in _COMPOSE and of_compose and _overrides(file):
            of_compose[-1].overriding.append(file)
        else:
            projects.append(_Project(file))
    return projects


def _overrides(file: Path) -> bool:
    try:
        return overrides(_text(file), str(file))
    except ConfigError:
        # Told by `_read`.
        return False


def _read(project: _Project) -> tuple[BrokerFile, ...]:
    file = project.file
    # The name becomes part of the evidence, which is text.
    source = os.fsencode(file).decode(errors="replace")
    if file.suffix in _COMPOSE:
        brokers = _of_compose(project, source)
        hint = RESOLVE
    else:
        # Kafka reads bytes, and `Properties.load` decodes them as ISO 8859-1.
        text = _bytes(file).decode("latin-1")
        settings = parse_server_properties(text, source)
        if other := other_program(text, source):
            message = f"`{source}` is the file of {other}, not of a broker"
            raise ConfigError(Finding("no-broker", message, "give a broker's server.properties, or a compose file"))
        settings = settings or settings_of_variables(variables_of(text))
        brokers = (BrokerFile(source, settings),) if settings else ()
        hint = "give a broker's server.properties, or a compose file, whose name ends in .yml or .yaml"
    if not brokers:
        raise ConfigError(Finding("no-broker", f"`{source}` says nothing about a broker's listeners", hint))
    return brokers


def _of_compose(project: _Project, source: str) -> tuple[BrokerFile, ...]:
    def beside(name: str) -> str | None:
        file = project.file.parent / name
        try:
            # A pipe would wait for a writer.
            return _text(file) if file.is_file() else None
        except ConfigError:
            return None

    return parse_compose(_text(project.file), source, beside, [(_text(each), str(each)) for each in project.overriding])


def _text(file: Path) -> str:
    try:
        return _bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        source = os.fsencode(file).decode(errors="replace")
        raise ConfigError(Finding("file-unreadable", f"`{source}` is not UTF-8 text")) from None


def _bytes(file: Path) -> bytes:
    with reading(file, moved_by="`--server-properties FILE`"), file.open("rb") as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ConfigError(Finding("file-unreadable", f"`{file}` is larger than a broker's file ever is"))
    return data
