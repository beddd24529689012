"""`SHA256SUMS`: all files of a bundle, in the format of `sha256sum -c`, which works without brokernat.

An unlisted file is also a fault, because an installer would use an unverified wheel. So is a link, because its target
may change. The sums detect changes to a bundle; they do not prove who made it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from brokernat.errors import ConfigError, DamagedBundleError, Finding

NAME = "SHA256SUMS"
LINK, SPECIAL, UNREADABLE = FAULTS = ("is a link", "is not a regular file", "cannot be read")


def write(folder: Path) -> dict[str, str]:
    """Write the list of all files under `folder`; returns their SHA-256 by name."""
    sums = _sums(folder)
    (folder / NAME).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return sums


def verify(folder: Path) -> dict[str, str]:
    """Verify all files; returns their SHA-256 by name.

    Raises:
        ConfigError: `folder` is not a bundle.
        DamagedBundleError: files are missing, changed, unlisted, links or unreadable; names all of them.
    """
    try:
        text = (folder / NAME).read_text("utf-8", errors="replace")
    except OSError as error:
        message = f"`{folder / NAME}` cannot be read: {error.strerror}"
        raise ConfigError(Finding("not-a-bundle", message, "`brokernat bundle DIR` makes one")) from None
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}
    found = _sums(folder)
    _refuse(folder, differences(listed, found))
    return found


def copy(folder: Path, files: Mapping[str, str], inside: str, target: Path) -> None:
    """Copies verified files. Each copy is hashed again, in case a file has changed since `verify`.

    Args:
        folder: the bundle.
        files: the result of `verify`.
        inside: the folder in the bundle to copy, such as `artifacts/a`.
        target: an existing folder.

    Raises:
        DamagedBundleError: a file has changed since.
    """
    listed = {name: digest for name, digest in files.items() if name.startswith(f"{inside}/")}
    found = {}
    for name in listed:
        path = target / PurePosixPath(name).relative_to(inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, path, follow_symlinks=False)
        found[name] = _sum(path)
    _refuse(folder, differences(listed, found))


def _refuse(folder: Path, wrong: Sequence[str]) -> None:
    if wrong:
        message = "\n".join((f"files of the bundle `{folder}` have changed", *wrong))
        raise DamagedBundleError(message, hint="do not install from it; copy it again")


def differences(listed: Mapping[str, str], found: Mapping[str, str]) -> tuple[str, ...]:
    """The fault of each wrong file, by name; pure.

    Args:
        listed: the SHA-256 of each listed file.
        found: the SHA-256 of each existing file, or one of `FAULTS`.
    """
    return tuple(
        f"`{name}` {_fault(listed.get(name), found.get(name))}"
        for name in sorted(listed.keys() | found.keys())
        if found.get(name) in FAULTS or listed.get(name) != found.get(name)
    )


def _fault(listed: str | None, found: str | None) -> str:
    if found is None:
        return "is missing"
    if found in FAULTS:
        return found
    return "is not listed" if listed is None else "was changed"


def _sums(folder: Path) -> dict[str, str]:
    """The sums by name, sorted. Links are not followed."""
    found: dict[str, str] = {}

    def unreadable(error: OSError) -> None:
        found[Path(error.filename).relative_to(folder).as_posix()] = UNREADABLE

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        for path in (Path(parent, name) for name in (*folders, *files)):
            if path.is_symlink() or (path.name in files and path != folder / NAME):
                found[path.relative_to(folder).as_posix()] = _sum(path)
    return dict(sorted(found.items()))


def _sum(path: Path) -> str:
    """The SHA-256, or the reason why the file cannot be read, as on a damaged medium."""
    try:
        with open(path, "rb", opener=_without_links) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return SPECIAL
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return LINK if error.errno == errno.ELOOP else UNREADABLE


def _without_links(path: str, flags: int) -> int:
    # O_NONBLOCK: opening a named pipe without a writer would block.
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
