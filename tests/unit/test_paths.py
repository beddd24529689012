"""Paths that a user named or that we chose. What another uid meets is in tests/cli/test_other_user.py."""

import errno
import os
from pathlib import Path

import pytest

from brokernat.errors import ConfigError
from brokernat.paths import cache_dir, cached, private_temporary_dir, reading, state_dir, writing


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
    with pytest.raises(ConfigError, match="not a folder of this user alone"):
        private_temporary_dir("cache")
    theirs.unlink()
    theirs.mkdir()
    theirs.chmod(0o777)
    with pytest.raises(ConfigError, match="not a folder of this user alone"):
        private_temporary_dir("cache")


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
