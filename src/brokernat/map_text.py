"""The text of an address map: rules, or `file:/path` with one rule a line.

This is the value of `brokernat.map` and `BROKERNAT_MAP`. The implementations in Java (`MapText.java`) and C
(`map_text.c`) refuse the same texts (`tests/vectors/map_texts.json`). This module imports no dependency of brokernat,
because `brokernat exec` uses it in interpreters that lack them.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from brokernat.address import AddressMap, Unmapped
from brokernat.errors import ConfigError, Finding, Location
from brokernat.paths import reading

_FILE = "file:"
_YAML = re.compile(r"^\s*(- |(clusters|address_map|bootstrap_servers|pipelines)\s*:)", re.MULTILINE)
# Bounds the memory if the path is an endless file, such as a device.
_MAX_FILE = 4 << 20


def map_from_property(value: str, unmapped: Unmapped = Unmapped.FAIL) -> AddressMap:
    """The map for a value of `brokernat.map`.

    Raises:
        ConfigError: all wrong rules, the reason why the file cannot be read, or (code `no-rule`) no rule at all, as in
            a truncated file.
    """
    text = value.strip()
    path = Path(text.removeprefix(_FILE)) if text.startswith(_FILE) else None
    found = AddressMap.parse(value, unmapped) if path is None else read_rules_file(path, unmapped)
    if not found.rules:
        what = "the text" if path is None else f"the rules file `{path}`"
        hint = "write `advertised = reachable`, or leave brokernat.map empty to use no map"
        raise ConfigError(Finding("no-rule", f"{what} has no rule", hint))
    return found


def read_rules_file(path: Path, unmapped: Unmapped = Unmapped.FAIL) -> AddressMap:
    """The map of a file with one rule a line and `#` comments; a file without rules is an empty map.

    Raises:
        ConfigError: every wrong rule, or why the file cannot be read. A rules file is not YAML; one that looks like
            `brokernat.yaml` is refused with the command that writes a rules file from it.
    """
    text = _read(path)
    try:
        return AddressMap.parse(text, unmapped)
    except ConfigError as error:
        if found := _YAML.search(text):
            line = text.count("\n", 0, found.start(1)) + 1
            hint = (
                "a rules file has one rule per line: "
                "`brokernat map export --cluster NAME` writes one from `brokernat.yaml`"
            )
            location = Location(str(path), line)
            raise ConfigError(Finding("rules-file-is-yaml", "a rules file is not YAML", hint, location)) from None
        raise ConfigError(
            *(
                problem.at(Location(str(path), problem.location.line, problem.location.column))
                for problem in error.problems
            )
        ) from None


def _read(path: Path) -> str:
    with reading(path, "the rules file"), path.open("rb") as file:
        content = file.read(_MAX_FILE + 1)
        if len(content) > _MAX_FILE:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return content.decode("utf-8-sig")
