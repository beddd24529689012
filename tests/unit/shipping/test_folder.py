"""Who may write a spool's folder and read its files, and what must not be in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brokernat.errors import ConfigError
from brokernat.shipping import Spool, SpoolUnsafeError, read_status
from brokernat.shipping.spool import open_numbered

FILES = ["lock", "spool.db", "spool.db-wal", "spool.db-shm", "spool.db-journal"]


@pytest.fixture
def _no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.mark.usefixtures("_no_umask")
def test_nobody_else_may_read_the_files(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o755)
    for folder in (tmp_path / "there", tmp_path / "made", tmp_path / "for" / "all"):
        spool = Spool(folder)
        spool.append([b'"message":"secret"}'])
        assert modes(folder) == dict.fromkeys(["lock", "spool.db", "spool.db-wal", "spool.db-shm"], 0o600)
        spool.close()
    assert modes(tmp_path) == {"there": 0o755, "made": 0o700, "for": 0o755}


def test_files_of_an_earlier_version_are_closed_to_others(tmp_path: Path) -> None:
    Spool(tmp_path / "spool").close()
    for path in (tmp_path / "spool").iterdir():
        path.chmod(0o644)
    Spool(tmp_path / "spool").close()
    assert set(modes(tmp_path / "spool").values()) == {0o600}


def test_only_the_process_that_has_the_lock_is_named_in_it(tmp_path: Path) -> None:
    Spool(tmp_path / "spool").close()
    (tmp_path / "spool" / "lock").write_text("4194303, the last number that Linux gives\n")
    spool = Spool(tmp_path / "spool")
    assert (tmp_path / "spool" / "lock").read_text() == f"{os.getpid()}\n"
    spool.close()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", [Path.symlink_to, Path.hardlink_to], ids=["symbolic", "hard"])
def test_no_link_is_followed(tmp_path: Path, name: str, kind: Callable[[Path, Path], None]) -> None:
    (tmp_path / "victim").write_text("untouched")
    spool = Spool(tmp_path / "spool")
    spool.append([b'"message":"kept"}'])
    os.link(spool.directory / "spool.db", tmp_path / "spool.db")
    spool.close()
    (tmp_path / "spool.db").unlink()
    (tmp_path / "spool" / name).unlink(missing_ok=True)
    kind(tmp_path / "spool" / name, tmp_path / "victim")
    for use in (Spool, read_status):
        with pytest.raises(SpoolUnsafeError, match=f"`{name}` in it is a link") as caught:
            use(tmp_path / "spool")
        assert str(tmp_path / "spool" / name) in str(caught.value.hint)
    assert (tmp_path / "victim").read_text() == "untouched"


@pytest.mark.parametrize("name", FILES[:2])
def test_a_link_that_comes_after_the_look_at_the_folder_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "victim").write_text("untouched")
    (tmp_path / "victim").chmod(0o644)
    Spool(tmp_path / "spool").close()
    (tmp_path / "spool" / name).unlink()
    (tmp_path / "spool" / name).symlink_to(tmp_path / "victim")
    look = os.stat

    def too_early(path: str, **how: object) -> os.stat_result:
        if path == name:
            raise FileNotFoundError
        return look(path, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", too_early)
    with pytest.raises(ConfigError, match=f"spool/{name}"):
        Spool(tmp_path / "spool")
    monkeypatch.undo()
    assert (tmp_path / "victim").read_text() == "untouched"
    assert stat.S_IMODE((tmp_path / "victim").stat().st_mode) == 0o644


def test_a_link_to_nowhere_makes_no_file_there(tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "lock").symlink_to(tmp_path / "made")
    with pytest.raises(SpoolUnsafeError, match="is a link"):
        Spool(tmp_path / "spool")
    assert not (tmp_path / "made").exists()


@pytest.mark.timeout(60)
def test_a_named_pipe_is_refused_without_a_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(SpoolUnsafeError, match="not a regular file"):
        Spool(tmp_path)


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o2770])
def test_a_folder_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool").chmod(mode)
    with pytest.raises(SpoolUnsafeError, match=f"other users may write the folder .mode {mode:04o}.") as caught:
        Spool(tmp_path / "spool")
    assert f"chmod go-w {tmp_path / 'spool'}" in str(caught.value.hint)
    assert list((tmp_path / "spool").iterdir()) == []
    Spool(tmp_path / "spool" / "below").close()


@pytest.mark.parametrize(("mode", "content"), [(0o1777, ""), (0o775, "syslog")])
def test_a_folder_that_others_use_too_is_left_as_it_is(tmp_path: Path, mode: int, content: str) -> None:
    """As /tmp and /var/log."""
    (tmp_path / "shared").mkdir()
    if content:
        (tmp_path / "shared" / content).touch()
    (tmp_path / "shared").chmod(mode)
    with pytest.raises(SpoolUnsafeError) as caught:
        Spool(tmp_path / "shared")
    assert caught.value.hint == "name a folder of its own below it: brokernat creates it for your user only"


def test_a_spool_that_was_opened_to_a_group_is_closed_again(tmp_path: Path) -> None:
    """As Kubernetes' `fsGroup` does to a volume with every start of a pod."""
    spool = Spool(tmp_path / "spool")
    spool.append([b'"message":"kept"}'])
    spool.close()
    for path in (tmp_path / "spool").iterdir():
        path.chmod(0o660)
    (tmp_path / "spool").chmod(0o2770)
    again = Spool(tmp_path / "spool")
    assert again.pending == 1
    assert stat.S_IMODE((tmp_path / "spool").stat().st_mode) == 0o700
    assert set(modes(tmp_path / "spool").values()) == {0o600}
    again.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_what_belongs_to_another_user_is_refused(tmp_path: Path) -> None:
    open_numbered(tmp_path / "spool").close()
    os.chown(tmp_path / "spool" / "1" / "spool.db", 12345, 12345)
    with pytest.raises(SpoolUnsafeError, match=r"`spool\.db` in it belongs to another user .id 12345."):
        open_numbered(tmp_path / "spool")
    os.chown(tmp_path / "spool" / "1", 12345, 12345)
    with pytest.raises(SpoolUnsafeError, match=r"it belongs to another user .id 12345."):
        open_numbered(tmp_path / "spool")


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be written: Not a directory") as caught:
        Spool(tmp_path / "spool")
    assert "--spool" in str(caught.value.hint)
