"""Where the rules of a discovery go: a cluster of `brokernat.yaml`, or a rules file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from brokernat.address import AddressMap
from brokernat.cli import console
from brokernat.cli.file_change import change_file
from brokernat.config import Cluster
from brokernat.config.merging import ProvenRule
from brokernat.doctor.discovering.matching import Discovery
from brokernat.errors import ConfigError, Problem


def may_write(found: Discovery, *, partial: bool) -> bool:
    """Whether all is proven, or part of it is enough; says so where not."""
    if found.whole or partial:
        return True
    console.report("nothing is written: not every node is proven\n\nhint: `--partial` writes what is")
    return False


def write_config(file: Path, looked_at: Cluster, found: Discovery, proven: Sequence[ProvenRule], *, yes: bool) -> None:
    """Update the map of a cluster in `brokernat.yaml`.

    Raises:
        ConfigError: the file cannot be edited in place, or written, or is about another cluster by now.
    """
    from brokernat.config import load
    from brokernat.config.editing import with_address_map

    def edit(text: str | None) -> str:
        # Looking took a while, and an editor may have been open.
        now = load(file, resolve_secrets=False).cluster(looked_at.name)
        if text is None or now.bootstrap_servers != looked_at.bootstrap_servers:
            message = f"the bootstrap servers of `{looked_at.name}` in `{file}` are others by now: nothing is written"
            raise ConfigError(Problem("file-changed", message, "discover once more"))
        return with_address_map(text, looked_at.name, proven, str(file))

    change_file(file, edit, yes=yes)
    _note_unused(load(file, resolve_secrets=False).cluster(looked_at.name).address_map, found)


def write_rules(file: Path, found: Discovery, proven: Sequence[ProvenRule], *, yes: bool) -> None:
    """Make a rules file, or update it.

    Raises:
        ConfigError: the file holds something else, or cannot be written.
    """
    from brokernat.config.rules_file import read_rules_file

    def edit(text: str | None) -> str:
        if text is not None:
            # For its own words about a file that is something else.
            read_rules_file(file)
        return rules_text(text or "", proven)

    change_file(file, edit, yes=yes)
    _note_unused(read_rules_file(file), found)


def _note_unused(address_map: AddressMap | None, found: Discovery) -> None:
    """Rules stay that somebody wrote; those about brokers that are no more are told."""
    from brokernat.address import Endpoint

    advertised = [Endpoint.parse(entry.advertised) for entry in found.entries]
    for rule in address_map.rules if address_map and found.whole else ():
        if not any(map(rule.pattern.matches, advertised)):
            console.note(f"the rule `{rule}` names no broker of this cluster: remove it if it is old [BN606]")


def rules_text(before: str, proven: Sequence[ProvenRule]) -> str:
    """The text of a rules file, with what is in it before."""
    from brokernat.config.editing import with_rules

    title = "# Address map: advertised = reachable, the first match wins.\n"
    return with_rules(before or title, proven)
