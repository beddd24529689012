"""What rendered files share: the subject they are made from, the comment at their top, and names for their tables.

A file outlives the shell that made it and lies on hosts without brokernat, so its header explains what it can do, its
limits, how to check and apply it, and the command that makes it again. Every target's syntax takes `#` for a comment.
There is no date in it: the same map gives the same file, and a changed map shows in the fingerprint. Names of tables,
chains and sections are made from a cluster's name, so one cluster's file never replaces another's.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brokernat.address import AddressMap, Endpoint, canonical_text, fingerprint
from brokernat.config import Secret


@dataclass(frozen=True, slots=True)
class Subject:
    """One cluster with a map. `client` holds references that were not looked up (`load(resolve_secrets=False)`)."""

    cluster: str
    bootstrap_servers: tuple[Endpoint, ...]
    address_map: AddressMap
    client: Mapping[str, str | Secret] = field(default_factory=dict)
    file: str = "brokernat.yaml"
    """The configuration, as the user named it."""
    command: str = "brokernat render"
    """The command line that makes the text again."""


_WIDTH = 118
_LABEL = 9


@dataclass(frozen=True, slots=True)
class Header:
    """What a target says about itself; sentences are wrapped, commands are not."""

    title: str
    can: Sequence[str]
    cannot: Sequence[str]
    check: Sequence[str]
    apply: Sequence[str]

    def text(self, subject: Subject, extra: Sequence[str] = ()) -> str:
        """The comment for a map, with a line end and `extra` lines behind."""
        origin = (
            f"Made from {subject.file} by `{subject.command}`.",
            f"Address map: sha256 {fingerprint(subject.address_map)}",
        )
        return self.comment(f"{self.title} (cluster {subject.cluster})", origin, extra)

    def comment(self, title: str, origin: Sequence[str], extra: Sequence[str] = ()) -> str:
        """The comment, for what is made of something else than a map."""
        lines = [
            title,
            *origin,
            "",
            *_labelled("can", self.can),
            *_labelled("cannot", self.cannot),
            *_listed("check", self.check),
            *_listed("apply", self.apply),
            *(["", *extra] if extra else []),
        ]
        # A command line may hold line ends, and none of them may end the comment.
        return "".join(f"# {part}".rstrip() + "\n" for line in lines for part in line.splitlines() or [""])


def map_lines(subject: Subject) -> list[str]:
    """The client properties that hold the map of a cluster."""
    return [
        f"brokernat.map={canonical_text(subject.address_map)}",
        f"brokernat.unmapped={subject.address_map.unmapped}",
    ]


def _labelled(label: str, sentences: Sequence[str]) -> list[str]:
    """`label    sentence`, further lines and sentences below the first one."""
    lines = [line for sentence in sentences for line in _wrapped(sentence)]
    return _listed(label, lines)


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, _WIDTH - _LABEL, break_long_words=False, break_on_hyphens=False)


def _listed(label: str, lines: Sequence[str]) -> list[str]:
    labels = [label, *[""] * (len(lines) - 1)]
    return [f"{label:<{_LABEL}}{line}" for label, line in zip(labels, lines, strict=False)]


_LIMIT = 28
"""The longest name of an iptables chain; the others take more."""
_PREFIX = "brokernat_"
_DIGEST = 4


def identifier(cluster: str) -> str:
    """`brokernat_` and the cluster's name in letters, digits and `_`; a digest tells apart what that makes equal."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", cluster)
    room = _LIMIT - len(_PREFIX)
    if plain != cluster or len(plain) > room:
        digest = hashlib.sha256(cluster.encode()).hexdigest()[:_DIGEST]
        plain = f"{plain[: room - _DIGEST - 1]}_{digest}"
    return f"{_PREFIX}{plain}"
