"""The map of the child's process and the environment variables that carry it; pure.

A map belongs to a cluster, but `exec` cannot distinguish the clients of a program. So it joins the rules of all named
clusters. If the joined map would translate an address differently than the maps alone, it is refused: two clusters with
the same advertised address need clients with their own maps. An address without a rule is refused only if all maps have
`unmapped: fail`; it passes if a named cluster has no map, an empty map or `pass`.

The user's values are kept: brokernat adds its part to lists. First it removes the parts of an outer `exec`, which it
recognises by the names of its own files, so a nested `exec` replaces the map of the outer one.

| variable | read by | holds |
|---|---|---|
| `JAVA_TOOL_OPTIONS` | every JVM, also one that another program starts | `-javaagent:JAR=RULES;unmapped=...` |
| `LD_PRELOAD` | the dynamic loader | the library that finds librdkafka |
| `PYTHONPATH` | Python, unless `-I` or `-E` | the folder with our `sitecustomize` |
| `BROKERNAT_MAP`, `BROKERNAT_UNMAPPED` | that library and that module | rules, canonical; `fail` or `pass` |

`JDK_JAVA_OPTIONS` has no advantage: the launcher prints a line about it, too, and a JVM embedded in another program
ignores it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brokernat.address import AddressMap, Unmapped, canonical_text, lint
from brokernat.config import Cluster
from brokernat.errors import ConfigError, Finding, MissingToolError

JAVA_TOOL_OPTIONS: Final = "JAVA_TOOL_OPTIONS"
LD_PRELOAD: Final = "LD_PRELOAD"
PYTHONPATH: Final = "PYTHONPATH"
MAP: Final = "BROKERNAT_MAP"
UNMAPPED: Final = "BROKERNAT_UNMAPPED"

HOOK_FOLDER: Final = Path(__file__).parent / "_python"
_AGENT = re.compile(r"""\s*(?:"-javaagent:[^"]*brokernat-agent\.jar[^"]*"|-javaagent:\S*brokernat-agent\.jar\S*)""")
_LONGEST: Final = 128 << 10
"""The maximum bytes of one variable, including its name and end: MAX_ARG_STRLEN, execve(2)."""
_PRELOAD_NAME = "libbrokernat-preload.so"
_HOOK_SUFFIX = "/".join(HOOK_FOLDER.parts[-4:])


@dataclass(frozen=True, slots=True)
class Change:
    """A changed variable of the child's environment."""

    name: str
    value: str | None
    """The complete value, which may include the user's; None if the variable is removed."""
    added: str | None = None
    """brokernat's part of it. Only this part is shown: the user's options may contain a password."""


def without_ours(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the changes of an outer `exec`."""
    cleaned = dict(environ)
    cleaned.pop(MAP, None)
    cleaned.pop(UNMAPPED, None)
    for name, clean in ((JAVA_TOOL_OPTIONS, without_agent), (LD_PRELOAD, _other_libraries), (PYTHONPATH, _other_paths)):
        if name in cleaned and (rest := clean(cleaned[name])) != cleaned[name]:
            if rest:
                cleaned[name] = rest
            else:
                del cleaned[name]
    return cleaned


def without_agent(value: str) -> str:
    """JVM options without brokernat's agent."""
    return _AGENT.sub("", value).lstrip()


def for_jvm(present: Mapping[str, str], option: str) -> Change:
    """The agent for every JVM of the child and its children; `option` is `-javaagent:...`."""
    # The JVM splits at blanks and supports quotes.
    word = f'"{option}"' if re.search(r"\s", option) else option
    return Change(JAVA_TOOL_OPTIONS, _joined(present.get(JAVA_TOOL_OPTIONS, ""), word, " "), word)


def for_librdkafka(present: Mapping[str, str], library: Path) -> Change:
    """The library for every dynamically linked program.

    Raises:
        MissingToolError: the library's path cannot be written into the variable.
    """
    if re.search(r"[\s:]", str(library)):
        raise MissingToolError(
            f"LD_PRELOAD splits at blanks and colons, and cannot hold `{library}`",
            hint="install brokernat into a folder without them",
        )
    return Change(LD_PRELOAD, _joined(present.get(LD_PRELOAD, ""), str(library), ":"), str(library))


def for_python(present: Mapping[str, str]) -> Change:
    """Puts our folder first: Python imports the first `sitecustomize` in the path, and ours imports the next one."""
    paths = present.get(PYTHONPATH, "")
    return Change(PYTHONPATH, os.pathsep.join(filter(None, (str(HOOK_FOLDER), paths))), str(HOOK_FOLDER))


def for_rules(address_map: AddressMap) -> tuple[Change, ...]:
    """The variables for the preloaded library and the Python module."""
    rules, unmapped = canonical_text(address_map), address_map.unmapped.value
    return Change(MAP, rules, rules), Change(UNMAPPED, unmapped, unmapped)


def check_lengths(changes: Iterable[Change]) -> None:
    """Refuses values that are too long for the kernel.

    Raises:
        ConfigError: code `map-too-long`.
    """
    for change in changes:
        length = len(f"{change.name}={change.value}".encode()) + 1
        if length > _LONGEST:
            message = f"the map is too long: {change.name} would have {length} bytes, and the kernel takes {_LONGEST}"
            hint = (
                "write networks instead of single addresses; a JVM can read a rules file, which `brokernat map "
                "export` writes: -javaagent:JAR=file:/path"
            )
            raise ConfigError(Finding("map-too-long", message, hint))


def _other_libraries(value: str) -> str:
    entries = re.split(r"[\s:]+", value)
    others = [entry for entry in entries if entry.rpartition("/")[2] != _PRELOAD_NAME]
    return value if others == entries else ":".join(filter(None, others))


def _other_paths(value: str) -> str:
    return os.pathsep.join(path for path in value.split(os.pathsep) if not path.endswith(_HOOK_SUFFIX))


def _joined(present: str, addition: str, separator: str) -> str:
    return f"{present}{separator}{addition}" if present.strip() else addition


# A rule of one cluster that matches another cluster's addresses.
_HIDING = frozenset({"contradicting-rule", "shadowed-rule"})


def map_of_process(clusters: Sequence[Cluster], unmapped: Unmapped | None = None) -> AddressMap | None:
    """The map of a process that connects to `clusters`; None if none of them has a rule.

    Args:
        clusters: the clusters of the program.
        unmapped: overrides `unmapped` of the maps.

    Raises:
        ConfigError: code `shared-addresses` if two maps exclude each other, code `needs-node-id` if a client cannot
            apply a rule.
    """
    given = ((cluster.name, cluster.address_map) for cluster in clusters)
    maps = {name: address_map for name, address_map in given if address_map is not None and address_map.rules}
    if not maps:
        return None
    owners = [name for name, address_map in maps.items() for _ in address_map.rules]
    rules = tuple(rule for address_map in maps.values() for rule in address_map.rules)
    strict = len(maps) == len(clusters) and all(address_map.unmapped is Unmapped.FAIL for address_map in maps.values())
    merged = AddressMap(rules, unmapped or (Unmapped.FAIL if strict else Unmapped.PASS))
    canonical_text(merged)
    for finding in lint(merged):
        first, second = finding.rules[0], finding.rules[-1]
        if finding.code in _HIDING and owners[first] != owners[second]:
            raise _shared(owners[first], str(rules[first]), owners[second], str(rules[second]))
    return merged


def _shared(first: str, rule: str, second: str, other: str) -> ConfigError:
    message = (
        f"the clusters {first} and {second} advertise the same addresses (`{rule}` and `{other}`), and `exec` "
        "cannot distinguish the clients of a program"
    )
    hint = "give each client its own map in the program, by the property `brokernat.map`, and leave `exec` out"
    return ConfigError(Finding("shared-addresses", message, hint))
