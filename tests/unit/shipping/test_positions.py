from __future__ import annotations

import os
from pathlib import Path

import pytest

from brokernat.shipping.positions import (
    FINGERPRINT_BYTES,
    FilePosition,
    find_renamed,
    has_content_of,
    is_copy,
    possible_copies,
    stat_id,
)

TEXT = b"one\ntwo\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "app.log"
    file.write_bytes(TEXT)
    return file


@pytest.fixture
def place(log: Path) -> FilePosition:
    found = log.stat()
    return FilePosition(found.st_dev, found.st_ino, str(log), len(TEXT), TEXT, TEXT)


def test_a_renamed_file_is_found_whatever_it_is_called_now(log: Path, place: FilePosition) -> None:
    assert find_renamed(place) == log
    elsewhere = log.rename(log.parent / "yesterday")
    assert find_renamed(place) == elsewhere
    os.truncate(elsewhere, 0)
    assert find_renamed(place) is None


def test_another_file_that_begins_alike_is_not_taken_for_it(tmp_path: Path) -> None:
    """Such as one whose first lines are a head: what stands in front of the position tells them apart."""
    head, file = b"# " + b"-" * FINGERPRINT_BYTES + b"\n", tmp_path / "app.log"
    file.write_bytes(head + b"one\ntwo\n")
    before = file.read_bytes()
    position = FilePosition(
        *stat_id(file.stat()), str(file), len(before), before[:FINGERPRINT_BYTES], before[-FINGERPRINT_BYTES:]
    )
    assert has_content_of(file, position)
    file.write_bytes(head + b"six\nten\nand more\n")
    assert not has_content_of(file, position)


def test_a_file_that_ends_before_the_position_is_another_one(log: Path, place: FilePosition) -> None:
    """Also where nothing of its content is known, because it was truncated between the look at it and its opening."""
    beyond = FilePosition(*place.key, str(log), len(TEXT) + 1)
    assert not has_content_of(log, beyond)
    log.write_bytes(TEXT + b"t")
    assert has_content_of(log, beyond)


def test_copies_are_looked_for_among_files_with_its_name_the_newest_first(log: Path, place: FilePosition) -> None:
    older, newer = log.parent / "app.log.2", log.parent / "2026-app.log"
    for age, file in enumerate((newer, older, log, log.parent / "other.log")):
        file.touch()
        os.utime(file, (1000 - age, 1000 - age))
    assert possible_copies(place) == [newer, older, log]


def test_a_copy_is_one_while_its_original_has_the_lines_itself(log: Path, place: FilePosition) -> None:
    copy = log.parent / "app.log.1"
    copy.write_bytes(TEXT + b"three\n")
    assert is_copy(copy, place)
    copy.write_bytes(b"another beginning\n")
    assert not is_copy(copy, place)
    copy.write_bytes(TEXT)
    log.unlink()
    assert not is_copy(copy, place)


def test_a_folder_that_is_gone_has_no_copies(log: Path, place: FilePosition) -> None:
    log.unlink()
    log.parent.rmdir()
    assert possible_copies(place) == []
    assert find_renamed(place) is None


def test_a_file_that_goes_while_the_folder_is_read_hides_no_copy(
    log: Path, place: FilePosition, monkeypatch: pytest.MonkeyPatch
) -> None:
    (log.parent / "app.log.9").touch()
    lstat = Path.lstat

    def gone_for_one(path: Path) -> os.stat_result:
        if path.name == "app.log.9":
            raise FileNotFoundError(path)
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", gone_for_one)
    assert log in possible_copies(place)
