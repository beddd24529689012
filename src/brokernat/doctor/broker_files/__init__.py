"""Brokers' files as Kafka reads them: `server.properties` with any name, and compose files (`.yml`, `.yaml`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from brokernat.doctor.broker_files.compose import RESOLVE, parse_compose
from brokernat.doctor.broker_files.listeners import parse_server_properties
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
    return tuple(chain.from_iterable(read_all(_read, dict.fromkeys(files))))


def _read(file: Path) -> tuple[BrokerFile, ...]:
    # The name becomes part of the evidence, which is text.
    source = os.fsencode(file).decode(errors="replace")
    data = _bytes(file)
    if file.suffix in _COMPOSE:
        try:
            brokers = parse_compose(data.decode("utf-8-sig"), source)
        except UnicodeDecodeError:
            raise ConfigError(Finding("file-unreadable", f"`{source}` is not UTF-8 text")) from None
        hint = RESOLVE
    else:
        # Kafka reads bytes, and `Properties.load` decodes them as ISO 8859-1.
        settings = parse_server_properties(data.decode("latin-1"), source)
        brokers = (BrokerFile(source, settings),) if settings else ()
        hint = "give a broker's server.properties, or a compose file, whose name ends in .yml or .yaml"
    if not brokers:
        raise ConfigError(Finding("no-broker", f"`{source}` says nothing about a broker's listeners", hint))
    return brokers


def _bytes(file: Path) -> bytes:
    with reading(file, moved_by="`--server-properties FILE`"), file.open("rb") as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ConfigError(Finding("file-unreadable", f"`{file}` is larger than a broker's file ever is"))
    return data
