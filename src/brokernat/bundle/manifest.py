"""`SHA256SUMS`: every file of a bundle, in the form that `sha256sum -c` reads, so that nothing of ours is needed there.

A file that is there and not listed is a fault as well: an installer would take a wheel that nobody vouched for. So is a
link, wherever it leads: what stands behind it may be another thing tomorrow. The sums say that nothing was changed on
the way; who made the bundle they cannot say.
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
    """List all files under `folder`; the result is their SHA-256 by name."""
    sums = _sums(folder)
    (folder / NAME).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return sums


def verify(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file by name, once all of them are found to be as listed.

    Raises:
        ConfigError: `folder` is no bundle.
        DamagedBundleError: a file is missing, changed, not listed, a link or cannot be read; names all of them.
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
    """Copies verified files. Each copy is hashed, so what arrives is what was verified, whatever happens in between.

    Args:
        folder: the bundle.
        files: what `verify` returned.
        inside: the folder in the bundle whose files are copied, such as `artifacts/a`.
        target: a folder that is there.

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
    """What is wrong with which file, by name; pure.

    Args:
        listed: the SHA-256 of each file that should be there.
        found: the SHA-256 of each file that is there, or one of `FAULTS`.
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
    """By name, sorted. No link is followed: what it leads to is not part of the folder."""
    found: dict[str, str] = {}

    def unreadable(error: OSError) -> None:
        found[Path(error.filename).relative_to(folder).as_posix()] = UNREADABLE

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        for path in (Path(parent, name) for name in (*folders, *files)):
            if path.is_symlink() or (path.name in files and path != folder / NAME):
                found[path.relative_to(folder).as_posix()] = _sum(path)
    return dict(sorted(found.items()))


def _sum(path: Path) -> str:
    """The SHA-256, or why there is none, as on a medium that has suffered."""
    try:
        with open(path, "rb", opener=_without_links) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return SPECIAL
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return LINK if error.errno == errno.ELOOP else UNREADABLE


def _without_links(path: str, flags: int) -> int:
    # O_NONBLOCK: nobody may ever write to a named pipe.
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
