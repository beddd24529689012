"""What takes the place of something else is on the disk before it has the name, and the name is on the disk after."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brokernat import durable
from brokernat.bundle import contents
from brokernat.cli.files import write_atomically
from brokernat.cli.libraries import copy_into
from brokernat.clients.spark import connector
from brokernat.jvm.cache import create_directory
from brokernat.pipelines.checkpoint.files import Files

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

    def rename(self, path: Path, to: Path) -> None:
        if _sum_of(path).exists():
            _sum_of(path).rename(_sum_of(to))
        os.replace(path, to)  # noqa: PTH105 - watched


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
    "what a mirror lacks": lambda target: connector._Memory(target).add([]),
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
        durable.exchange(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "old"
