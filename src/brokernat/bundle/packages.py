"""Which distributions brokernat needs with some of its extras, as they are installed in this environment.

What runs here is what will run there: a bundle is made of the versions that are installed, without a resolver that may
choose others. Requirements are read by `packaging`, as pip reads them, with the markers of this Python and platform,
which are those of the bundle. What is missing here would be missing there, where nothing can be downloaded: it is
refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from brokernat.errors import ConfigError, Finding

ROOT = "brokernat"


def required_distributions(extras: Iterable[str]) -> list[Distribution]:
    """brokernat first, then all that it needs, by name.

    Raises:
        ConfigError: brokernat has no such extra, or a requirement is not installed here; all at once.
    """
    wanted = frozenset(map(canonicalize_name, extras))
    if problems := [*_unknown(wanted), *_not_installed(wanted)]:
        raise ConfigError(*problems)
    found: dict[str, Distribution] = {ROOT: distribution(ROOT)}
    waiting: list[tuple[str, frozenset[str]]] = [(ROOT, wanted)]
    seen = set(waiting)
    while waiting:
        name, with_extras = waiting.pop()
        for need in _requirements(found[name], with_extras):
            needed = canonicalize_name(need.name)
            installed = _installed(needed)
            if installed is None or not need.specifier.contains(installed.version, prereleases=True):
                here = f"{installed.version} is" if installed else "it is not"
                message = f"{name} needs `{need}`, and {here} installed here"
                problems.append(Finding("requirement-not-installed", message, "`pip check` lists what is wrong"))
                continue
            found[needed] = installed
            if (step := (needed, frozenset(map(canonicalize_name, need.extras)))) not in seen:
                seen.add(step)
                waiting.append(step)
    if problems:
        raise ConfigError(*problems)
    return [found.pop(ROOT), *(found[name] for name in sorted(found))]


def installed_extras() -> tuple[str, ...]:
    """The extras of brokernat whose requirements are all installed here."""
    return tuple(extra for extra in known_extras() if not any(_not_installed([extra])))


def known_extras() -> tuple[str, ...]:
    """All extras of brokernat, in their order."""
    return tuple(map(canonicalize_name, distribution(ROOT).metadata.get_all("Provides-Extra") or ()))


def _unknown(extras: frozenset[str]) -> Iterator[Finding]:
    known = known_extras()
    for extra in sorted(extras - set(known)):
        yield Finding("no-such-extra", f"brokernat has no extra `{extra}`", f"there are: {', '.join(known)}")


def _not_installed(extras: Iterable[str]) -> Iterator[Finding]:
    root = distribution(ROOT)
    always = {str(need) for need in _requirements(root, ())}
    for extra in sorted(extras):
        for need in _requirements(root, [extra]):
            if str(need) not in always and _installed(need.name) is None:
                message = f"`{need.name}` of the extra `{extra}` is not installed here"
                yield Finding("extra-not-installed", message, f"pip install 'brokernat[{extra}]'")


def _requirements(owner: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """Those that hold on this Python and platform, always or for one of the extras."""
    needs = map(Requirement, owner.requires or ())
    return [
        need
        for need in needs
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None
