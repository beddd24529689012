"""Common parts of rendered files: the cluster they are made from, the comment at the top, and names for tables.

Rendered files are used on hosts without brokernat, so the header explains the purpose, the limits, how to check and
apply the file, and the command that makes it again. In all targets `#` starts a comment. The header has no date: the
same map gives the same file, and the fingerprint shows a changed map. Names of tables, chains and sections contain the
cluster's name, so the file of one cluster never replaces another's.
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
    """One cluster with a map. `client` has unresolved references (`load(resolve_secrets=False)`)."""

    cluster: str
    bootstrap_servers: tuple[Endpoint, ...]
    address_map: AddressMap
    client: Mapping[str, str | Secret] = field(default_factory=dict)
    file: str = "brokernat.yaml"
    """The path of the configuration, as the user gave it."""
    command: str = "brokernat render"
    """The command line that renders the text again."""


_WIDTH = 118
_LABEL = 9


@dataclass(frozen=True, slots=True)
class Header:
    """The description of a target; sentences are wrapped, commands are not."""

    title: str
    can: Sequence[str]
    cannot: Sequence[str]
    check: Sequence[str]
    apply: Sequence[str]

    def text(self, subject: Subject, extra: Sequence[str] = ()) -> str:
        """The comment for a map, with `extra` lines and a line end."""
        origin = (
            f"Made from {subject.file} by `{subject.command}`.",
            f"Address map: sha256 {fingerprint(subject.address_map)}",
        )
        return self.comment(f"{self.title} (cluster {subject.cluster})", origin, extra)

    def comment(self, title: str, origin: Sequence[str], extra: Sequence[str] = ()) -> str:
        """The comment, for files that are not made from a map."""
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
        # A line end in the command line must not end the comment.
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
"""The maximum length of the name of an iptables chain; other targets allow longer names."""
_PREFIX = "brokernat_"
_DIGEST = 4


def identifier(cluster: str) -> str:
    """`brokernat_` and the cluster's name in letters, digits and `_`; a digest keeps different names different."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", cluster)
    room = _LIMIT - len(_PREFIX)
    if plain != cluster or len(plain) > room:
        digest = hashlib.sha256(cluster.encode()).hexdigest()[:_DIGEST]
        plain = f"{plain[: room - _DIGEST - 1]}_{digest}"
    return f"{_PREFIX}{plain}"
