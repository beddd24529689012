"""Which distributions belong to brokernat with some of its extras, by what is installed in this environment.

What runs here is what will run there: a bundle is made of the very versions that were tried, without a resolver that
may decide otherwise. So environment markers are not evaluated: a requirement that is not installed was not needed on
this platform and Python, the one that the bundle is for. Only `extra == "..."` is read, because it says whose wish a
requirement is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from brokernat.errors import ConfigError, Problem

ROOT = "brokernat"
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A name, the extras asked of it, and the extras of its owner that ask for it (none: always)."""

    name: str
    extras: frozenset[str]
    wanted_by: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """One `Requires-Dist` (PEP 508), versions left aside.

        >>> Requirement.parse('pyspark[sql]<5,>=4.0; extra == "spark"').name
        'pyspark'
        """
        needed, _, marker = text.partition(";")
        match = _NAME.match(needed)
        assert match, text  # noqa: S101 - installers write nothing else
        extras = frozenset(normalised(extra.strip()) for extra in (match[2] or "").split(",") if extra.strip())
        return cls(normalised(match[1]), extras, frozenset(map(normalised, _EXTRA.findall(marker))))


def closure(extras: Iterable[str]) -> list[Distribution]:
    """brokernat first, then all that it needs, by name.

    Raises:
        ConfigError: brokernat has no such extra, or one that is not installed here; all at once.
    """
    wanted = frozenset(map(normalised, extras))
    root = distribution(ROOT)
    if problems := [*_unknown(wanted), *_not_installed(root, wanted)]:
        raise ConfigError(*problems)
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(ROOT, wanted, frozenset())]
    while waiting:
        one = waiting.pop()
        owner = found.get(one.name) or _installed(one.name)
        if owner is None:
            continue
        found[one.name] = owner
        # "" stands for what is needed without any extra.
        new = {(one.name, extra) for extra in (*one.extras, "")} - seen
        seen |= new
        asked = {extra for _, extra in new}
        waiting += [
            need for need in _requirements(owner) if (need.wanted_by & asked if need.wanted_by else "" in asked)
        ]
    return [found.pop(ROOT), *(found[name] for name in sorted(found))]


def installed_extras() -> tuple[str, ...]:
    """The extras of brokernat whose requirements are all installed here."""
    root = distribution(ROOT)
    return tuple(extra for extra in known_extras() if not _not_installed(root, frozenset([extra])))


def known_extras() -> tuple[str, ...]:
    """All extras of brokernat, in their order."""
    return tuple(map(normalised, distribution(ROOT).metadata.get_all("Provides-Extra") or ()))


def normalised(name: str) -> str:
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _unknown(extras: frozenset[str]) -> list[Problem]:
    known = known_extras()
    hint = f"there are: {', '.join(known)}"
    return [
        Problem("no-such-extra", f"brokernat has no extra `{extra}`", hint) for extra in sorted(extras - set(known))
    ]


def _not_installed(root: Distribution, extras: frozenset[str]) -> list[Problem]:
    return [
        Problem(
            "extra-not-installed",
            f"`{need.name}` of the extra `{extra}` is not installed here",
            f"pip install 'brokernat[{extra}]'",
        )
        for need in _requirements(root)
        for extra in sorted(need.wanted_by & extras)
        if _installed(need.name) is None
    ]


def _requirements(owner: Distribution) -> list[Requirement]:
    return [Requirement.parse(text) for text in owner.requires or ()]


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None
