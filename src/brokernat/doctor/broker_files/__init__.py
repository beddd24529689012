"""Brokers' files as Kafka reads them: `server.properties` with any name, compose files (`.yml`, `.yaml`) with what lies
beside them, and the environment files of containers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from brokernat.doctor.broker_files.compose import parse_compose, settings_of_variables
from brokernat.doctor.broker_files.listeners import parse_server_properties
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


def _projects(files: Iterable[Path]) -> list[list[Path]]:
    """Each file, with the override files that are given beside a compose file; a shell lists them in front of it."""
    projects: list[list[Path]] = []
    last_compose: list[Path] = []
    in_front: list[Path] = []
    for file in files:
        if file.suffix not in _COMPOSE:
            projects.append([file])
        elif not _overrides(file):
            last_compose = [file, *in_front]
            projects.append(last_compose)
            in_front = []
        else:
            (last_compose or in_front).append(file)
    return [*projects, *([in_front] if in_front else [])]


def _overrides(file: Path) -> bool:
    try:
        return overrides(_text(file), _name(file))
    except ConfigError:
        # `_read` reports it.
        return False


def _read(project: list[Path]) -> tuple[BrokerFile, ...]:
    file, *overriding = project
    source = _name(file)
    if file.suffix in _COMPOSE:
        brokers = _of_compose(file, source, overriding)
        hint = RESOLVE
    else:
        # Kafka reads bytes, and `Properties.load` decodes them as ISO 8859-1.
        text = _bytes(file).decode("latin-1")
        settings = parse_server_properties(text, source) or settings_of_variables(variables_of(text, unquote=False))
        brokers = (BrokerFile(source, settings),) if settings else ()
        hint = "give a broker's server.properties, or a compose file, whose name ends in .yml or .yaml"
    if not brokers:
        raise ConfigError(Finding("no-broker", f"`{source}` says nothing about a broker's listeners", hint))
    return brokers


def _of_compose(file: Path, source: str, overriding: Iterable[Path]) -> tuple[BrokerFile, ...]:
    def beside(name: str) -> str | None:
        other = file.parent / name
        try:
            # A pipe would wait for a writer.
            return _text(other) if other.is_file() else None
        except ConfigError:
            return None

    return parse_compose(_text(file), source, beside, [(_text(each), _name(each)) for each in overriding])


def _name(file: Path) -> str:
    """Its path as text, because it becomes part of the evidence."""
    return os.fsencode(file).decode(errors="replace")


def _text(file: Path) -> str:
    try:
        return _bytes(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(Finding("file-unreadable", f"`{_name(file)}` is not UTF-8 text")) from None


def _bytes(file: Path) -> bytes:
    with reading(file, moved_by="`--server-properties FILE`"), file.open("rb") as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ConfigError(Finding("file-unreadable", f"`{file}` is larger than a broker's file ever is"))
    return data
