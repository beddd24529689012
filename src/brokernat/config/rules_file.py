"""The text that `brokernat.map` holds: rules, or `file:/path` with one rule a line.

A rules file is not YAML. People put a `brokernat.yaml` there all the same, so a file that looks like one is refused
with the command that writes a rules file from it, instead of with a fault of its first line.
"""

from __future__ import annotations

import re
from pathlib import Path

from brokernat.address import AddressMap, Unmapped
from brokernat.errors import ConfigError, Location, Problem

_PREFIX = "file:"
_YAML = re.compile(r"^\s*(- |(clusters|address_map|bootstrap_servers|pipelines)\s*:)", re.MULTILINE)


def map_from_property(value: str, unmapped: Unmapped = Unmapped.FAIL) -> AddressMap:
    """The map that a value of `brokernat.map` stands for.

    Raises:
        ConfigError: every wrong rule, or why the file cannot be read.
    """
    if value.startswith(_PREFIX):
        return read_rules_file(Path(value.removeprefix(_PREFIX)), unmapped)
    return AddressMap.parse(value, unmapped)


def read_rules_file(path: Path, unmapped: Unmapped = Unmapped.FAIL) -> AddressMap:
    """The map of a file with one rule a line and `#` comments."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        problem = Problem("file-unreadable", f"the rules file `{path}` cannot be read: {error.strerror}")
        raise ConfigError(problem) from None
    except UnicodeDecodeError:
        raise ConfigError(Problem("not-utf8", f"the rules file `{path}` is not UTF-8 text")) from None
    found = _YAML.search(text)
    if found:
        line = text.count("\n", 0, found.start(1)) + 1
        hint = (
            "a rules file has one rule a line: `brokernat map export --cluster NAME` writes one from `brokernat.yaml`"
        )
        raise ConfigError(Problem("rules-file-is-yaml", "a rules file is not YAML", hint, Location(str(path), line)))
    try:
        return AddressMap.parse(text, unmapped)
    except ConfigError as error:
        raise ConfigError(
            *(
                problem.at(Location(str(path), problem.location.line, problem.location.column))
                for problem in error.problems
            )
        ) from None
