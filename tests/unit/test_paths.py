"""Paths that a user named or that we chose. What another uid meets is in tests/cli/test_other_user.py."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat.bundle import contents
from brokernat.cli.files import write_atomically
from brokernat.cli.libraries import copy_into
from brokernat.clients.spark import connector
from brokernat.errors import ConfigError
from brokernat.paths import (
    cache_dir,
    cached,
    create_directory,
    exchange,
    private_temporary_dir,
    reading,
    replacing,
    state_dir,
    writing,
)
from brokernat.pipelines.checkpoint.files import Files


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_path_that_cannot_be_read_names_its_use_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught, reading(tmp_path, "the rules file", moved_by="`--map`"):
        tmp_path.read_text()
    assert caught.value.problems[0].code == "file-unreadable"
    assert caught.value.message == f"the rules file `{tmp_path}` cannot be read: Is a directory"
    assert caught.value.hint == "name another with `--map`"


def test_text_in_another_encoding_is_unreadable(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="cannot be read: it is not UTF-8 text"), reading(file):
        file.read_text("utf-8")


def test_a_refused_path_names_the_user_and_the_folder_that_refuses() -> None:
    refused = PermissionError(errno.EACCES, "Permission denied", "/nonexistent")
    with pytest.raises(ConfigError) as caught, writing("/nonexistent/.cache", "the cache", moved_by="XDG_CACHE_HOME"):
        raise refused
    assert caught.value.problems[0].code == "file-unwritable"
    assert (
        caught.value.message == "the cache `/nonexistent/.cache` cannot be written: Permission denied (`/nonexistent`)"
    )
    assert caught.value.hint == f"let this user (uid {os.geteuid()}) write there, or name another with XDG_CACHE_HOME"


def test_a_full_disk_has_no_advice_about_permissions() -> None:
    with pytest.raises(ConfigError) as caught, writing("/var/spool", "the spool"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.message == "the spool `/var/spool` cannot be written: No space left on device"
    assert caught.value.hint is None


def test_folders_of_ours_follow_the_xdg_variables(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_dir() == home / ".cache/brokernat"
    assert state_dir() == home / ".local/state/brokernat"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert cache_dir() == home / ".cache/brokernat"
    monkeypatch.setenv("XDG_CACHE_HOME", "/srv/cache")
    assert cache_dir() == Path("/srv/cache/brokernat")


@pytest.mark.parametrize("value", ["/dev/null/home", None])
def test_without_a_home_our_folders_are_private_temporary_ones(
    home: Path, value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is None:
        monkeypatch.delenv("HOME")
        monkeypatch.setattr("pwd.getpwuid", lambda uid: {}[uid])
    else:
        monkeypatch.setenv("HOME", value)
    assert cache_dir() == home.parent / f"tmp/brokernat-cache-{os.getuid()}"
    assert state_dir() == home.parent / f"tmp/brokernat-state-{os.getuid()}"
    assert cache_dir().stat().st_mode & 0o777 == 0o700


def test_a_cache_that_may_only_be_read_is_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".cache/brokernat/artifacts/kafka").mkdir(parents=True)
    monkeypatch.setattr("os.access", lambda path, mode: not (mode & os.W_OK and str(path).startswith(str(home))))
    assert cached("artifacts", "kafka") == home / ".cache/brokernat/artifacts/kafka"
    assert cached("artifacts", "spark") == cache_dir() / "artifacts/spark"
    assert not cache_dir().is_relative_to(home)


def test_a_temporary_folder_of_somebody_else_is_refused(home: Path) -> None:
    theirs = home.parent / f"tmp/brokernat-cache-{os.getuid()}"
    theirs.symlink_to(home.parent)
    with pytest.raises(ConfigError, match="not private to this user"):
        private_temporary_dir("cache")
    theirs.unlink()
    theirs.mkdir()
    for mode in (0o777, 0o770, 0o702):
        theirs.chmod(mode)
        with pytest.raises(ConfigError, match="not private to this user"):
            private_temporary_dir("cache")
    theirs.chmod(0o755)
    assert private_temporary_dir("cache") == theirs


@pytest.mark.skipif(os.getuid() != 0, reason="only root trusts nobody else's home")
def test_root_runs_nothing_out_of_the_home_of_somebody_else(home: Path) -> None:
    """As after `sudo -E`: Java homes and jars of the cache are run."""
    (home / ".cache/brokernat/artifacts").mkdir(parents=True)
    for folder in (home, home / ".cache", home / ".cache/brokernat"):
        os.chown(folder, 12345, 12345)
    assert not cache_dir().is_relative_to(home)
    assert not cached("artifacts").is_relative_to(home)


def test_a_home_that_anybody_may_write_is_not_used(home: Path) -> None:
    home.mkdir(exist_ok=True)
    home.chmod(0o777)
    assert not cache_dir().is_relative_to(home)


Write = Callable[[Path], None]


class HadoopOnDisk:
    """As much of Hadoop's FileSystem as `Files` needs to exchange something: a Python process can be watched."""

    def getFileSystem(self, _: object) -> "HadoopOnDisk":  # noqa: N802
        return self

    def create(self, path: Path, _: bool) -> object:
        _sum_of(path).write_bytes(b"sum")
        return path.open("wb")

    def delete(self, path: Path, _: bool) -> None:
        path.unlink(missing_ok=True)

    def rename(self, path: Path, to: Path) -> bool:
        if _sum_of(path).exists():
            _sum_of(path).rename(_sum_of(to))
        os.replace(path, to)  # noqa: PTH105 - watched
        return True


def _sum_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.crc")


class LocalFiles(Files):
    def _locate(self, path: str) -> tuple[object, object]:
        return HadoopOnDisk(), Path(path)

    def _path(self, path: str) -> Path:
        return Path(path)


def _fill(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "jar").write_text("jar")
    (folder / "link").symlink_to("deep")


def _rename_folder(target: Path) -> None:
    work = target.with_name("staged")
    work.mkdir()
    _fill(work)
    LocalFiles(None).rename(str(work), str(target))  # type: ignore[arg-type]


def _collect(target: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "_fill", lambda work, _extras: _fill_files(work))
        contents.collect(target, ())


def _fill_files(folder: Path) -> None:
    (folder / "wheels").mkdir()
    (folder / "wheels" / "a.whl").write_text("wheel")


def _copy(target: Path) -> None:
    (target.parent / "from").mkdir()
    (target.parent / "from" / target.name).write_text("library")
    copy_into(target.parent, target.parent / "from" / target.name)


WRITERS: dict[str, Write] = {
    "a file of a command": lambda target: write_atomically(target, "text"),
    "a folder of the cache": lambda target: create_directory(target, _fill),
    "what a mirror lacks": lambda target: connector._MissingCombinations(target).add([]),
    "a note of a pipeline": lambda target: LocalFiles(None).write_text(str(target), "text"),  # type: ignore[arg-type]
    "a copy of a reference": _rename_folder,
    "a bundle": _collect,
    "a library that is copied": _copy,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_content_before_the_name_and_the_name_after(
    writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    done: list[tuple[str, int]] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        done.append(("sync", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    def renamed(source: Path, to: Path) -> None:
        replace(source, to)
        if Path(to) == target:
            done.append(("rename", target.stat().st_ino))

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    WRITERS[writer](target)
    position = done.index(("rename", target.stat().st_ino))
    parts = (target, *target.rglob("*"), *tmp_path.glob(".*.crc"))
    inside = [each for each in parts if not each.is_symlink()]
    assert {("sync", each.stat().st_ino) for each in inside} <= set(done[:position])
    assert ("sync", tmp_path.stat().st_ino) in done[position:]


def test_an_fsync_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        exchange(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "old"


def _write_half(new: Path) -> None:
    new.write_text("half")
    raise IsADirectoryError


def test_a_file_is_replaced_whole_or_stays(tmp_path: Path) -> None:
    """Two programs that write one file at once do not write into the same new file."""
    target = tmp_path / "file"
    with replacing(target) as one, replacing(target) as other:
        assert one != other
        one.write_text("first")
        other.write_text("second")
    assert target.read_text() == "first"
    with pytest.raises(IsADirectoryError), replacing(target) as new:
        _write_half(new)
    assert target.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]
