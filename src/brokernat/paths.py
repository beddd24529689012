"""File access: errors with path and purpose, brokernat's own folders, and durable replacement of files.

`reading` and `writing` wrap every access to a path of the user. They turn an OSError (missing permission, full disk)
into a ConfigError with the path, its purpose, and the option or variable that changes it.

Caches and logs are in the folders of the XDG base directory specification. In a container HOME may be absent or belong
to another user: then they are in a private folder under the system's temporary folder. Several processes of one user
share the cache. So a file is written beside its place and renamed, and the writer holds a kernel lock, which a crash
releases.

After a power cut either the old file or the complete new one exists. A rename alone is atomic for processes but not on
the disk: without an fsync before it, a file system may keep the new name and lose the content (delayed allocation of
ext4 and XFS). The name is in the folder, which needs its own fsync (fsync(2)).
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from brokernat.errors import ConfigError, Finding

_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_TEMPORARY = "TMPDIR"
CACHE_VARIABLE, STATE_VARIABLE = "XDG_CACHE_HOME", "XDG_STATE_HOME"


@contextmanager
def reading(path: str | os.PathLike[str], purpose: str = "", *, moved_by: str | None = None) -> Iterator[None]:
    """Wraps reading one path.

    Args:
        path: named in the message.
        purpose: what the path is for, such as `the rules file`; empty if the path makes it clear.
        moved_by: the option, key or variable that changes the path, such as `--config`.

    Raises:
        ConfigError: `file-unreadable`, for every OSError and for text that is not UTF-8.
    """
    try:
        yield
    except UnicodeDecodeError:
        raise _refused("unreadable", path, purpose, "it is not UTF-8 text", None) from None
    except OSError as error:
        hint = _hint(error, "read it", moved_by)
        raise _refused("unreadable", path, purpose, _reason(error, path), hint) from None


@contextmanager
def writing(path: str | os.PathLike[str], purpose: str = "", *, moved_by: str | None = None) -> Iterator[None]:
    """Wraps creating or changing one path or its content; arguments as for `reading`.

    Raises:
        ConfigError: `file-unwritable`, for every OSError.
    """
    try:
        yield
    except OSError as error:
        hint = _hint(error, "write there", moved_by)
        raise _refused("unwritable", path, purpose, _reason(error, path), hint) from None


def expanded_home(name: str) -> Path:
    """A path with its `~` replaced.

    Raises:
        ConfigError: this user has no home, or the named user does not exist.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError:
        message = f"the home folder in `{name}` does not exist on this machine"
        raise ConfigError(Finding("home-unknown", message, "set HOME, or write the full path")) from None


def refused_path(error: OSError) -> ConfigError | None:
    """The error for an OSError that no `reading` or `writing` caught, at the end of a program; None for a bug."""
    if error.errno not in _DENIED | _NO_ROOM or not isinstance(error.filename, str):
        return None
    hint = _hint(error, "use it", None)
    message = f"`{error.filename}` cannot be used: {_reason(error, error.filename)}"
    return ConfigError(Finding("path-unusable", message, hint))


def cache_dir() -> Path:
    """The folder for files that can be made again: `$XDG_CACHE_HOME/brokernat`, or `~/.cache/brokernat`."""
    return _own_dir(CACHE_VARIABLE, ".cache")


def cached(*parts: str) -> Path:
    """A folder of the cache: the existing one, even in a read-only home, else the path at which to make it."""
    home = _below_home(".cache")
    if not _given(CACHE_VARIABLE) and home is not None and _is_trusted(home) and home.joinpath(*parts).exists():
        return home.joinpath(*parts)
    return cache_dir().joinpath(*parts)


def state_dir() -> Path:
    """The folder for logs: `$XDG_STATE_HOME/brokernat`, or `~/.local/state/brokernat`."""
    return _own_dir(STATE_VARIABLE, ".local/state")


def private_temporary_dir(name: str) -> Path:
    """This user's private folder, the same for all their processes; created if missing.

    Raises:
        ConfigError: it cannot be created, or another user owns it.
    """
    path = Path(os.environ.get(_TEMPORARY) or "/tmp")  # noqa: S108 - replaced by what Python finds, if that is none
    with writing(path, "the folder for temporary files", moved_by=_TEMPORARY):
        path = Path(tempfile.gettempdir()) / f"brokernat-{name}-{os.getuid()}"
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    if path.is_symlink() or not path.is_dir() or found.st_uid != os.getuid() or found.st_mode & 0o022:
        message = f"`{path}` is not private to this user, so it is not used"
        raise ConfigError(Finding("folder-not-private", message, f"set {_TEMPORARY} to a folder of your own"))
    return path


def exchange(made: Path, target: Path) -> None:
    """Rename a file or a folder to `target`, durably.

    Args:
        made: closed, with all files in it, on the file system of `target`.
        target: a file is replaced; a folder must be empty or absent.

    Raises:
        OSError: it cannot be written or renamed; `target` is as it was.
    """
    sync(made)
    made.replace(target)
    sync_names(target.parent)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` for a new file, which replaces `target` durably at the end of the block.

    Raises:
        OSError: it cannot be written; `target` is as it was, and the new file is removed.
    """
    new = target.with_name(f".brokernat-{os.urandom(8).hex()}")
    try:
        yield new
        exchange(new, target)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Sync a file, or a folder with its content, to the disk.

    Raises:
        OSError: the write failed.
    """
    if path.is_symlink():
        return
    if not path.is_dir():
        _fsync(path)
        return
    for each in path.iterdir():
        sync(each)
    sync_names(path)


def sync_names(folder: Path) -> None:
    """Sync the names in a folder to the disk."""
    # Some file systems have no fsync of folders (EINVAL), and a folder without read permission cannot be opened.
    with suppress(OSError):
        _fsync(folder)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; waits for another thread or process that holds it."""
    with _writing_cache(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def create_directory(path: Path, fill: Callable[[Path], None]) -> None:
    """Make directory `path` by `fill(directory)`, visible only when complete; keeps a concurrently created one."""
    with _writing_cache(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{path.name}-", dir=path.parent))
        try:
            fill(work)
            exchange(work, path)
        except OSError:
            if not path.is_dir():
                raise
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _writing_cache(path: Path) -> AbstractContextManager[None]:
    return writing(path.parent, "the cache", moved_by=CACHE_VARIABLE)


def _own_dir(variable: str, below_home: str) -> Path:
    if given := _given(variable):
        return given
    home = _below_home(below_home)
    if home is not None and _can_be_made(home):
        return home
    return private_temporary_dir(Path(below_home).name.removeprefix("."))


def _given(variable: str) -> Path | None:
    base = os.environ.get(variable)
    # The XDG specification: relative paths are ignored.
    return Path(base) / "brokernat" if base and Path(base).is_absolute() else None


def _below_home(folder: str) -> Path | None:
    try:
        return Path.home() / folder / "brokernat"
    except RuntimeError:  # no HOME, and no entry for this uid in the password database
        return None


def _can_be_made(folder: Path) -> bool:
    for place in (folder, *folder.parents):
        try:
            place.lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return False
        return place.is_dir() and os.access(place, os.W_OK | os.X_OK) and _is_trusted(place)
    return False


def _is_trusted(folder: Path) -> bool:
    """Whether programs of a folder may be run: others cannot write there, and for root it belongs to root."""
    try:
        found = folder.stat()
    except OSError:
        return False
    # A root process with the HOME of another user (sudo) would run that user's files.
    somebody_elses = os.geteuid() == 0 and found.st_uid != 0
    return not somebody_elses and not found.st_mode & 0o002


def _refused(how: str, path: str | os.PathLike[str], purpose: str, reason: str, hint: str | None) -> ConfigError:
    named = f"{purpose} `{os.fspath(path)}`" if purpose else f"`{os.fspath(path)}`"
    verb = "read" if how == "unreadable" else "written"
    return ConfigError(Finding(f"file-{how}", f"{named} cannot be {verb}: {reason}", hint))


def _reason(error: OSError, path: str | os.PathLike[str]) -> str:
    """The system's message, and the failing path, if it is another one."""
    words = error.strerror or (str(error.args[0]) if error.args else type(error).__name__)
    other = error.filename
    if isinstance(other, str) and other not in (os.fspath(path), str(Path(path).absolute())):
        return f"{words} (`{other}`)"
    return words


def _hint(error: OSError, verb: str, moved_by: str | None) -> str | None:
    named = f"name another with {moved_by}" if moved_by else ""
    if error.errno not in _DENIED:
        return named or None
    allow = f"let this user (uid {os.geteuid()}) {verb}"
    return f"{allow}, or {named}" if named else allow
