from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import pytest

from brokernat.shipping import Spool
from brokernat.shipping import tail as module
from brokernat.shipping.positions import FilePosition, LineBatch, stat_id
from brokernat.shipping.tail import Tail

_OPEN: list[Tail] = []


class Reader:
    """A tail and what it has read; `restart` forgets all but the positions, as a kill does."""

    def __init__(self, *patterns: Path, from_beginning: bool = True) -> None:
        self.patterns = [str(pattern) for pattern in patterns]
        self.positions: dict[tuple[int, int], FilePosition] = {}
        self.lines: list[str] = []
        self.from_beginning = from_beginning
        self.restart()

    def restart(self) -> None:
        for tail in _OPEN:
            tail.close()
        self.tail = Tail(self.patterns, list(self.positions.values()), from_beginning=self.from_beginning)
        _OPEN[:] = [self.tail]
        self._take(self.tail.start())

    def read(self, *, final: bool = False, scan: bool = True) -> list[str]:
        """What is new."""
        before = len(self.lines)
        if scan:
            self.tail.scan()
        while batch := self.tail.read(final=final):
            self._take(batch)
        return self.lines[before:]

    def _take(self, batch: LineBatch) -> None:
        self.lines += [json.loads(b"{" + tail)["message"] for tail in batch.bodies]
        for place in batch.positions:
            self.positions[place.device, place.inode] = place
        for place in batch.removed:
            self.positions.pop((place.device, place.inode), None)
        self.tail.mark_stored(batch)


def add(file: Path, *lines: str) -> None:
    with file.open("a") as opened:
        opened.writelines(line + "\n" for line in lines)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.log"


def test_lines_are_read_once_as_they_come(log: Path) -> None:
    add(log, "one")
    reader = Reader(log)
    assert reader.read() == ["one"]
    assert reader.read() == []
    add(log, "two", "three")
    assert reader.read() == ["two", "three"]


def test_a_line_without_an_end_waits_for_it(log: Path) -> None:
    log.write_text("one\ntw")
    reader = Reader(log)
    assert reader.read() == ["one"]
    add(log, "o")
    assert reader.read() == ["two"]
    log.write_text(log.read_text() + "three")
    assert reader.read(final=True) == ["three"]


def test_the_first_start_begins_at_the_end_and_later_files_at_their_beginning(tmp_path: Path) -> None:
    add(tmp_path / "old.log", "long ago")
    reader = Reader(tmp_path / "*.log", from_beginning=False)
    add(tmp_path / "old.log", "now")
    add(tmp_path / "new.log", "first")
    assert sorted(reader.read()) == ["first", "now"]
    add(tmp_path / "while-away.log", "second")
    reader.restart()
    assert reader.read() == ["second"]


@pytest.mark.parametrize("restart", [False, True])
def test_rotation_by_rename(log: Path, restart: bool) -> None:
    add(log, "one")
    reader = Reader(log)
    reader.read()
    add(log, "two")
    log.rename(log.with_suffix(".log.1"))
    add(log.with_suffix(".log.1"), "three")
    add(log, "four")
    if restart:
        reader.restart()
    assert sorted(reader.read()) == ["four", "three", "two"]
    add(log, "five")
    assert reader.read() == ["five"]


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("pattern", ["app.log", "app.log*"])
def test_rotation_by_copy_and_truncation(log: Path, pattern: str, restart: bool) -> None:
    add(log, "one")
    reader = Reader(log.parent / pattern)
    reader.read()
    add(log, "not read before the truncation")
    shutil.copy(log, log.with_suffix(".log.1"))
    os.truncate(log, 0)
    add(log, "two")
    if restart:
        reader.restart()
    assert sorted(reader.read()) == ["not read before the truncation", "two"]
    for _ in range(2):
        reader.restart()
        assert reader.read() == []


def test_a_copy_that_stands_beside_its_original_is_not_read_twice(log: Path) -> None:
    add(log, "one")
    reader = Reader(log.parent / "app.log*")
    reader.read()
    shutil.copy(log, log.with_suffix(".log.1"))
    assert reader.read() == []
    os.truncate(log, 0)
    add(log, "two")
    assert reader.read() == ["two"]
    assert reader.read() == []


def test_a_copy_that_was_read_is_not_read_again_for_a_file_that_begins_alike(log: Path) -> None:
    add(log, "start")
    reader = Reader(log)
    reader.read()
    add(log, "one")
    shutil.copy(log, log.with_suffix(".log.1"))
    os.truncate(log, 0)
    assert reader.read() == ["one"]
    add(log, "start")
    assert reader.read() == ["start"]
    os.truncate(log, 0)
    add(log, "two")
    assert reader.read() == ["two"]
    assert reader.read() == []


def test_a_file_truncated_and_grown_beyond_the_place_is_read_anew(log: Path) -> None:
    add(log, "one")
    reader = Reader(log)
    reader.read()
    log.write_text("another beginning\nand more than before\n")
    assert reader.read() == ["another beginning", "and more than before"]


def test_a_truncation_between_two_looks_tears_no_line_and_loses_none(log: Path) -> None:
    """The file has grown beyond the place again before anybody looked: there stands the middle of a new line."""
    add(log, "one")
    reader = Reader(log)
    reader.read()
    add(log, "not read before the truncation")
    shutil.copy(log, log.with_suffix(".log.1"))
    os.truncate(log, 0)
    add(log, "a line that is longer than all that was there before the truncation", "two")
    found = reader.read(scan=False) + reader.read()
    assert sorted(found) == [
        "a line that is longer than all that was there before the truncation", "not read before the truncation", "two",
    ]  # fmt: skip


def test_a_truncation_in_the_middle_of_the_first_read_loses_nothing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(log, "one", "two")
    reader = Reader(log)
    read = os.pread

    def then_rotate(descriptor: int, size: int, place: int) -> bytes:
        monkeypatch.setattr(os, "pread", read)
        data = read(descriptor, size, place)
        shutil.copy(log, log.with_suffix(".log.1"))
        os.truncate(log, 0)
        add(log, "three", "four", "five")
        return data

    monkeypatch.setattr(os, "pread", then_rotate)
    assert sorted(reader.read(scan=False) + reader.read()) == ["five", "four", "one", "three", "two"]


def test_a_file_that_may_not_be_read_is_said_once_and_read_once_it_may(
    log: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    add(log, "one")
    open_, forbidden = os.open, [True]

    def forbid(path: Path, *more: int) -> int:
        if path == log and forbidden:
            raise PermissionError(13, "Permission denied")
        return open_(path, *more)

    monkeypatch.setattr(os, "open", forbid)
    reader = Reader(log)
    for _ in range(3):
        assert reader.read() == []
    assert caplog.messages == [f"{log} cannot be read by user id {os.geteuid()}: Permission denied"]
    forbidden.clear()
    assert reader.read() == ["one"]


@pytest.mark.parametrize("spool", [".", "inside", "inside/1"])
def test_the_files_of_spools_are_not_read(tmp_path: Path, spool: str) -> None:
    Spool(tmp_path / spool).close()
    add(tmp_path / ("lock.log" if spool == "." else "lock"), "a lock that is of no spool")
    assert Reader(tmp_path, tmp_path / "**").read() == ["a lock that is of no spool"]
    spool_db = tmp_path / spool / "spool.db"
    assert module.missing_files([str(spool_db), str(tmp_path)]) == [str(spool_db)]


@pytest.mark.parametrize("restart", [False, True])
def test_a_file_of_a_spool_is_no_copy(tmp_path: Path, restart: bool) -> None:
    """Its name may contain that of the truncated file."""
    log = tmp_path / "db"
    add(log, "one")
    reader = Reader(log)
    reader.read()
    shutil.copy(log, tmp_path / "spool.db")
    add(tmp_path / "spool.db", "of the spool")
    os.truncate(log, 0)
    if restart:
        reader.restart()
    assert reader.read() == []


def test_a_pattern_that_finds_nothing_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Reader(tmp_path / "typo.log")
    assert caplog.messages == [f"{tmp_path / 'typo.log'}: the file does not exist yet"]


def test_an_inode_of_64_bits_is_kept_in_the_spool(tmp_path: Path) -> None:
    """NFS and FUSE make them up, and use every bit; SQLite's integers have a sign."""
    place = FilePosition(
        *stat_id(os.stat_result((0o100644, (1 << 64) - 5, (1 << 64) - 1, 1, 0, 0, 0, 0, 0, 0))), "/a", 7
    )
    spool = Spool(tmp_path / "spool")
    spool.append([], [place])
    assert spool.positions() == [place]
    spool.close()


def test_an_inode_that_is_given_away_again_is_another_file(log: Path) -> None:
    add(log, "one")
    reader = Reader(log)
    reader.read()
    inode = log.stat().st_ino
    reader.positions = {key: place for key, place in reader.positions.items() if key[1] == inode or key[1] == 0}
    log.write_text("a new file with an old inode\n")
    assert log.stat().st_ino == inode
    reader.restart()
    assert reader.read() == ["a new file with an old inode"]


def test_a_folder_is_read_without_its_packed_files(tmp_path: Path) -> None:
    add(tmp_path / "a.log", "a")
    (tmp_path / "a.log.1.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "pipe")
    reader = Reader(tmp_path)
    assert reader.read() == ["a"]


def test_positions_of_deleted_files_are_forgotten(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(log, "one")
    reader = Reader(log)
    reader.read()
    log.unlink()
    reader.restart()
    reader.read()
    assert [place.path for place in reader.positions.values()] == [""]
    add(log, "two")
    reader.read()
    log.unlink()
    monkeypatch.setattr(module, "_CLOSE_AFTER", -1)
    for _ in range(3):
        reader.read()
    assert reader.tail._open == {}
    # Neither in the spool nor in this run: the next file may get the inode.
    for places in (reader.positions, reader.tail._known):
        assert [place.path for place in places.values()] == [""]


def test_a_file_that_may_be_there_keeps_its_position(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a folder that this user may not look into for a while."""
    add(log, "one")
    reader = Reader(log)
    reader.read()
    away = log.rename(log.parent.with_name("away"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", refuse)
        reader.restart()
    away.rename(log)
    add(log, "two")
    assert reader.read() == ["two"]


def refuse(path: Path) -> None:
    raise PermissionError(13, "Permission denied", str(path))


def test_a_line_of_a_megabyte_comes_in_pieces_that_join(log: Path) -> None:
    line = "".join(random.Random(1).choices("abcé€", k=700_000))
    log.write_text(f"before\n{line}\nafter\n")
    reader = Reader(log)
    found = []
    while batch := reader.tail.read():
        found += [json.loads(b"{" + tail) for tail in batch.bodies]
        reader.tail.mark_stored(batch)
    assert [found[0]["message"], found[-1]["message"]] == ["before", "after"]
    assert "".join(piece["message"] for piece in found[1:-1]) == line
    assert [piece["part"] for piece in found[1:-1]] == list(range(1, len(found) - 1))
    assert [piece["continued"] for piece in found[1:-1]] == [True] * (len(found) - 3) + [False]


def test_a_file_under_a_name_that_has_nothing_of_the_old_one_is_known_again(tmp_path: Path) -> None:
    add(tmp_path / "app.log", "one")
    reader = Reader(tmp_path)
    reader.read()
    (tmp_path / "app.log").rename(tmp_path / "yesterday")
    add(tmp_path / "yesterday", "two")
    for _ in range(2):
        reader.restart()
        reader.read()
    assert reader.lines == ["one", "two"]


@pytest.mark.parametrize("pattern", ["app.log*", "."])
@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_lost_or_repeated_whatever_happens_to_the_files(tmp_path: Path, seed: int, pattern: str) -> None:
    """Appends, rotations of both kinds and kills, in random order, with a pattern that names rotated files too."""
    dice, log, written = random.Random(seed), tmp_path / "app.log", 0
    reader = Reader(tmp_path / pattern)
    for number in range(60):
        match dice.choice(["append", "append", "append", "rename", "copytruncate", "restart", "read", "glance"]):
            case "append":
                lines = [f"line {written + step}" for step in range(1, dice.randint(1, 9) + 1)]
                add(log, *lines)
                written += len(lines)
            case "rename" if log.exists():
                log.rename(tmp_path / (f"app.{number}" if pattern == "." else f"app.log.{number}"))
            case "copytruncate" if log.exists():
                shutil.copy(log, tmp_path / f"app.log.{number}")
                os.truncate(log, 0)
            case "restart":
                reader.restart()
            case "read":
                reader.read()
            case "glance":
                reader.read(scan=False)
    reader.restart()
    reader.read()
    in_order = sorted(reader.lines, key=lambda line: int(line.split()[1]))
    assert in_order == [f"line {number}" for number in range(1, written + 1)]


def test_a_file_that_no_pattern_names_any_more_is_left_alone_and_its_position_kept(tmp_path: Path) -> None:
    """A spool that is empty may go to another topic, with other files: those of before are not meant for it."""
    (one := tmp_path / "one.log").touch()
    (two := tmp_path / "two.log").touch()
    reader = Reader(one)
    add(one, "1")
    assert reader.read() == ["1"]
    reader.patterns = [str(two)]
    reader.restart()
    add(one, "2")
    add(two, "a")
    assert reader.read() == ["a"]
    reader.patterns = [str(one)]
    reader.restart()
    assert reader.read() == ["2"]
