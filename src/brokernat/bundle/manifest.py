"""`SHA256SUMS`: every file of a bundle, in the form that `sha256sum -c` reads, so that nothing of ours is needed there.

A file that is there and not listed is a fault as well: an installer would take a wheel that nobody vouched for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from brokernat.errors import ConfigError, DamagedBundleError, Problem

NAME = "SHA256SUMS"


def write(folder: Path) -> dict[str, str]:
    """List all files under `folder`; the result is their SHA-256 by name."""
    sums = _sums(folder)
    (folder / NAME).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return sums


def verify(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file by name, once all of them are found to be as listed.

    Raises:
        ConfigError: `folder` is no bundle.
        DamagedBundleError: a file is missing, changed, not listed or cannot be read; names all of them.
    """
    try:
        text = (folder / NAME).read_text("utf-8", errors="replace")
    except OSError as error:
        message = f"`{folder / NAME}` cannot be read: {error.strerror}"
        raise ConfigError(Problem("not-a-bundle", message, "`brokernat bundle DIR` makes one")) from None
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}
    found = _sums(folder)
    if wrong := differences(listed, found):
        message = "\n".join((f"`{folder}` is not as it was collected", *wrong))
        raise DamagedBundleError(message, hint="install nothing from it; carry it over again")
    return found


def differences(listed: Mapping[str, str], found: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with which file, by name; pure."""
    wrong = (name for name in sorted(listed.keys() | found.keys()) if not _agree(listed.get(name), found.get(name)))
    return tuple(f"`{name}` {_fault(name, listed, found)}" for name in wrong)


def _agree(listed: str | None, found: str | None) -> bool:
    return bool(found) and listed == found


def _fault(name: str, listed: Mapping[str, str], found: Mapping[str, str]) -> str:
    if name not in found:
        return "is missing"
    if name not in listed:
        return "is not listed"
    return "was changed" if found[name] else "cannot be read"


def _sums(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / NAME)
    return {path.relative_to(folder).as_posix(): _sum(path) for path in files}


def _sum(path: Path) -> str:
    """Nothing for a file that cannot be read, as on a medium that has suffered."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
