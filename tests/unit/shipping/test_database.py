from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from brokernat.shipping.block import Block, Rejection, SettledBlock
from brokernat.shipping.database import SpoolDatabase, read_contents
from brokernat.shipping.errors import SpoolDamagedError, SpoolFullError
from brokernat.shipping.folder import DATABASE
from brokernat.shipping.positions import FilePosition

BLOCK = Block.stamped(7, "app.1", 1, [b"}", b'"message":"no"}'])
PLACE = FilePosition(1, 2, "/var/log/app.log", 10, b"start", b"before", 3)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[SpoolDatabase]:
    opened = SpoolDatabase(tmp_path)
    yield opened
    opened.close()


def test_what_is_written_is_found_by_the_next_holder_and_by_anybody(tmp_path: Path, file: SpoolDatabase) -> None:
    with file.transaction():
        file.store_meta(source="app.1", next=3)
        file.store(BLOCK)
        file.store_position(PLACE)
    assert file.block_after(6) == BLOCK
    assert file.block_after(7) is None
    file.close()
    again = SpoolDatabase(tmp_path)
    assert (again.last_block_id, again.positions()) == (7, [PLACE])
    assert again.initial == read_contents(tmp_path)
    assert (again.initial.meta, again.initial.pending, again.initial.held) == (
        {"source": "app.1", "next": 3},
        2,
        BLOCK.size,
    )
    again.close()


def test_of_a_transaction_that_fails_nothing_is_there(file: SpoolDatabase, tmp_path: Path) -> None:
    def broken_off() -> None:
        with file.transaction():
            file.store(BLOCK)
            raise KeyError

    with pytest.raises(KeyError):
        broken_off()
    assert read_contents(tmp_path).pending == 0
    with file.transaction():
        file.store(BLOCK)
    assert read_contents(tmp_path).pending == 2


def test_a_settled_block_leaves_its_rejected_records(file: SpoolDatabase, tmp_path: Path) -> None:
    outcome = SettledBlock(BLOCK, (Rejection("app.1", 2, "INVALID_RECORD", BLOCK.records[1]),))
    with file.transaction():
        file.store(BLOCK)
    with file.transaction():
        file.settle(outcome)
    contents = read_contents(tmp_path)
    assert (contents.pending, contents.held) == (0, BLOCK.size - outcome.freed)


def test_a_place_is_of_a_file_and_not_of_its_name(file: SpoolDatabase) -> None:
    later = FilePosition(1, 2, "/var/log/app.log.1", 20)
    with file.transaction():
        file.store_position(PLACE)
        file.store_position(later)
    assert file.positions() == [later]
    with file.transaction():
        file.remove_position(PLACE)
    assert file.positions() == []


def test_files_of_two_devices_may_have_one_inode_number(file: SpoolDatabase) -> None:
    elsewhere = FilePosition(2, 2, "/srv/app.log", 30)
    with file.transaction():
        file.store_position(PLACE)
        file.store_position(elsewhere)
    with file.transaction():
        file.remove_position(PLACE)
    assert file.positions() == [elsewhere]


def test_sqlite_s_errors_are_said_in_words(tmp_path: Path, file: SpoolDatabase) -> None:
    with pytest.raises(SpoolFullError, match="cannot be written: disk I/O error"), file.transaction():
        raise sqlite3.OperationalError("disk I/O error")
    with pytest.raises(SpoolDamagedError, match="cannot be read: malformed"), file.transaction():
        raise sqlite3.DatabaseError("malformed")
    with pytest.raises(SpoolDamagedError, match="cannot be read: unable to open"):
        read_contents(tmp_path / "nowhere")


def test_each_commit_is_synced_until_it_is_relaxed(file: SpoolDatabase) -> None:
    full, normal = 2, 1  # sqlite.org/pragma.html#pragma_synchronous
    ((before,),) = file._writer.execute("PRAGMA synchronous")
    file.stop_syncing()
    ((after,),) = file._writer.execute("PRAGMA synchronous")
    assert (before, after) == (full, normal)
    assert (file._writer.execute("PRAGMA journal_mode").fetchone()[0], DATABASE) == ("wal", "spool.db")
