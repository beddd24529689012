"""The comment at the head of every rendered file: what it can, what it cannot, where it came from, how to use it.

A file outlives the shell that made it and lies on hosts that have no brokernat, so it has to say all of this itself.
Every target's syntax takes `#` for a comment. There is no date in it: the same map gives the same file, and a changed
map shows in the fingerprint.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from brokernat.address import canonical_text, fingerprint
from brokernat.render.subject import Subject

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
