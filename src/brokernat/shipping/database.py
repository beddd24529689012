"""The file of a spool: SQLite in WAL mode, which survives a kill at any time. It contains all SQL of shipping.

Each of the two threads has its own connection: the writer changes data in transactions, the sender reads blocks. A fork
waits for the end of a call (`threads.no_fork`), because SQLite's locks belong to the process.

An OperationalError of SQLite (disk full, folder not writable) means that nothing can be stored now; any other error
means that the file is not a valid spool.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Final

from brokernat.paths import reading
from brokernat.shipping.block import Block, Destination, SettledBlock
from brokernat.shipping.errors import SpoolDamagedError, SpoolFullError
from brokernat.shipping.folder import DATABASE, refuse_links
from brokernat.shipping.positions import FilePosition
from brokernat.shipping.threads import no_fork

FORMAT: Final = 1
_SETTINGS: Final = ("journal_mode=WAL", "synchronous=FULL", "journal_size_limit=16777216")
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, first INTEGER NOT NULL, count INTEGER NOT NULL,
    payload BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS rejected (
    source TEXT NOT NULL, sequence INTEGER NOT NULL, reason TEXT NOT NULL, record BLOB NOT NULL,
    PRIMARY KEY (source, sequence));
CREATE TABLE IF NOT EXISTS positions (
    device INTEGER NOT NULL, inode INTEGER NOT NULL, path TEXT NOT NULL, offset INTEGER NOT NULL,
    start BLOB NOT NULL, before BLOB NOT NULL, pieces INTEGER NOT NULL, PRIMARY KEY (device, inode));
"""
# A record's size includes its line end, as in `Block.size`.
_HELD_BYTES: Final = """
SELECT (SELECT coalesce(sum(length(payload) + 1), 0) FROM blocks)
     + (SELECT coalesce(sum(length(record) + 1), 0) FROM rejected)
"""


@dataclass(frozen=True, slots=True)
class SpoolContents:
    """The contents of a spool's file at one moment."""

    meta: dict[str, Any]
    """The values stored by `store_meta`, by name."""
    pending: int
    """Records in blocks."""
    held: int
    """Bytes of records, including rejected ones."""

    @property
    def destination(self) -> Destination | None:
        """The destination of the records; None for a spool of an earlier version."""
        return Destination(self.meta["cluster"], self.meta["topic"]) if "topic" in self.meta else None


class SpoolDatabase:
    """An open spool file. The caller holds the lock of the folder."""

    def __init__(self, directory: Path) -> None:
        """Creates the file if missing. Each commit is synced to the disk until `stop_syncing` is called.

        Args:
            directory: the spool's folder.

        Raises:
            SpoolDamagedError: the file is not a spool, or has another format.
            SpoolFullError: the file cannot be written.
        """
        self._directory = directory
        with no_fork(), _spool_errors(directory):
            self._writer = _connect(directory / DATABASE)
            ((version,),) = self._writer.execute("PRAGMA user_version")
            if version not in (0, FORMAT):
                raise SpoolDamagedError(directory, f"it has format {version}, this version reads {FORMAT}")
            for setting in _SETTINGS:
                self._writer.execute(f"PRAGMA {setting}")
            self._writer.executescript(_TABLES)
            self._writer.execute(f"PRAGMA user_version={FORMAT}")
            self._reader = _connect(directory / DATABASE)
            self.initial = _contents(self._writer)
            """The contents stored by earlier processes."""
            ((last,),) = self._writer.execute("SELECT max(id) FROM blocks")
            self.last_block_id: int = last or 0
            """The id of the last block found; 0 if there was none."""

    def stop_syncing(self) -> None:
        """Commit without fsync from now on: a power cut may undo later commits, but not earlier ones."""
        with no_fork(), _spool_errors(self._directory):
            self._writer.execute("PRAGMA wal_checkpoint")
            self._writer.execute("PRAGMA synchronous=NORMAL")

    def close(self) -> None:
        """Close both connections."""
        with no_fork():
            self._reader.close()
            self._writer.close()

    def abandon(self) -> tuple[object, ...]:
        """Called in a forked child: returns the connections, which the child must never close."""
        return self._writer, self._reader

    # Called by the writer

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction for the `with` block.

        Raises:
            SpoolFullError: it cannot be written now.
            SpoolDamagedError: it cannot be read.
        """
        with no_fork(), _spool_errors(self._directory):
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                # On a full disk SQLite has rolled back already.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def store_meta(self, **values: Any) -> None:
        """Store values by name."""
        self._writer.executemany("REPLACE INTO meta VALUES (?, ?)", values.items())

    def store(self, block: Block) -> None:
        """Store a new block."""
        row = (block.block_id, block.source, block.first, len(block.records), block.payload)
        self._writer.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", row)

    def settle(self, outcome: SettledBlock) -> None:
        """Remove the block and store its rejected records."""
        self._writer.execute("DELETE FROM blocks WHERE id = ?", (outcome.block.block_id,))
        for one in outcome.rejections:
            row = (one.source, one.sequence, one.reason, one.record)
            self._writer.execute("INSERT OR REPLACE INTO rejected VALUES (?, ?, ?, ?)", row)

    def store_position(self, position: FilePosition) -> None:
        """Store the position in a file; replaces an earlier one."""
        self._writer.execute("REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(position))

    def remove_position(self, position: FilePosition) -> None:
        """Remove the position of a deleted file."""
        self._writer.execute("DELETE FROM positions WHERE device = ? AND inode = ?", position.key)

    def positions(self) -> list[FilePosition]:
        """All positions in files. Raises SpoolDamagedError or SpoolFullError."""
        with no_fork(), _spool_errors(self._directory, "read"):
            return [FilePosition(*row) for row in self._writer.execute("SELECT * FROM positions")]

    # Called by the sender

    def block_after(self, block_id: int) -> Block | None:
        """The block after `block_id`; None if there is none. Raises SpoolDamagedError or SpoolFullError."""
        query = "SELECT id, source, first, payload FROM blocks WHERE id > ? ORDER BY id LIMIT 1"
        with no_fork(), _spool_errors(self._directory, "read"):
            row = self._reader.execute(query, (block_id,)).fetchone()
        return None if row is None else Block.stored(*row)


def read_contents(directory: Path) -> SpoolContents:
    """The contents of a spool, which another process may have open.

    Raises:
        SpoolDamagedError: the file is not a spool.
        ConfigError: this user may not read it.
        SpoolUnsafeError: a file in it is a link.
    """
    with reading(directory, "the spool"):
        refuse_links(directory)
        # Checked without opening it: closing a file releases all POSIX locks of this process on it.
        if (directory / DATABASE).exists() and not os.access(directory / DATABASE, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(directory / DATABASE))
    uri = f"{(directory / DATABASE).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=5)) as file:
            file.execute("BEGIN")
            return _contents(file)
    except sqlite3.Error as error:
        raise SpoolDamagedError(directory, str(error)) from None


def _contents(file: sqlite3.Connection) -> SpoolContents:
    meta = dict(file.execute("SELECT name, value FROM meta"))
    ((pending,),) = file.execute("SELECT coalesce(sum(count), 0) FROM blocks")
    ((held,),) = file.execute(_HELD_BYTES)
    return SpoolContents(meta, pending, held)


@contextmanager
def _spool_errors(directory: Path, used: str = "written") -> Iterator[None]:
    """Raises the errors of SQLite as errors of the spool."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise SpoolFullError(f"the spool {directory} cannot be {used}: {error}") from None
    except sqlite3.DatabaseError as error:
        raise SpoolDamagedError(directory, str(error)) from None


def _connect(file: Path) -> sqlite3.Connection:
    # This module begins transactions itself. One thread at a time uses a connection, not always the one that opened it.
    return sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
