"""The spool: blocks of records on disk until the brokers have acknowledged all of each.

SQLite in WAL mode keeps it whole through any end of the process. One thread writes (`append`, `settle`); the sender
reads (`blocks_after`) and tells what became of a block (`settled`), which the next write puts down: one transaction,
one fsync at most, for the new block, for those that leave, for the sequence number and for the place in a file.

A sequence number must never be given twice. A kill takes no committed transaction away, but without `durable` a power
cut may: then the machine's boot has changed and the spool was not closed, and the numbering starts anew under a new
source. With `durable` every commit is on the disk (`synchronous=FULL`) before it counts.

Every counter here only grows, and what is held is a difference of two, so none can wrap below zero.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
import uuid
from collections import deque
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from brokernat.shipping.block import Block
from brokernat.shipping.faults import SpoolBusyError, SpoolDamagedError, SpoolFullError
from brokernat.shipping.forking import still
from brokernat.shipping.lock import SpoolLock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FILE: Final = "spool.db"
FORMAT: Final = 1
DEFAULT_LIMIT: Final = 1 << 30
SMALLEST_LIMIT: Final = 1 << 20
_FRESH_BYTES: Final = 8 << 20
"""Of new blocks that stay in memory for a sender that keeps up; beyond it the sender reads them from the disk."""
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


@dataclass(frozen=True, slots=True)
class Rejection:
    """A record that the brokers will never take: kept in the spool, counted, and not acknowledged."""

    source: str
    sequence: int
    reason: str
    record: bytes


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file has been read, and what to know it by: an inode is given to another file soon."""

    device: int
    inode: int
    path: str
    offset: int
    start: bytes = b""
    """How the file begins."""
    before: bytes = b""
    """What stands in front of `offset`."""
    pieces: int = 0
    """Pieces that were taken already of a line that is too long for one record."""


@dataclass(frozen=True, slots=True)
class Account:
    """Records since the spool was made."""

    accepted: int
    acknowledged: int
    rejected: int

    @property
    def pending(self) -> int:
        """Those without an answer."""
        return self.accepted - self.acknowledged - self.rejected


class Spool:
    """One folder, one source, one process at a time."""

    def __init__(self, directory: Path | str, limit: int = DEFAULT_LIMIT, *, durable: bool = False) -> None:
        """Opens the spool, makes it where there is none.

        Args:
            directory: the folder; made with its parents, for its owner only.
            limit: bytes of records that it may hold, rejected ones included; at least 1 MiB.
            durable: a record that is in survives a power cut, for an fsync a block.

        Raises:
            SpoolBusyError: another process has it open.
            SpoolDamagedError: it cannot be read.
            SpoolFullError: it cannot be written.
            OSError: the folder cannot be made or written.
        """
        self.directory = Path(directory).absolute()
        self.limit = max(limit, SMALLEST_LIMIT)
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = SpoolLock(self.directory)
        self.arrived = threading.Event()
        """Set when there is something to send."""
        self._fresh: deque[Block] = deque()
        self._fresh_in = self._fresh_out = 0
        self._settling = threading.Lock()
        self._outcomes: deque[tuple[Block, tuple[Rejection, ...]]] = deque()
        self.counts = {"accepted": 0, "acknowledged": 0, "rejected": 0, "refused": 0}
        self.trouble = self._noted_trouble = ""
        """What keeps the sender from sending, for whoever asks for the status."""
        try:
            with still():
                self._open(durable)
        except BaseException as error:
            self._lock.release()
            if isinstance(error, sqlite3.OperationalError):
                raise SpoolFullError(f"the spool {self.directory} cannot be written: {error}") from None
            if isinstance(error, sqlite3.DatabaseError):
                raise SpoolDamagedError(self.directory, str(error)) from None
            raise

    def _open(self, durable: bool) -> None:
        self._writer = _connect(self.directory / FILE)
        found = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, FORMAT):
            raise SpoolDamagedError(self.directory, f"it has format {found}, this version reads {FORMAT}")
        self._writer.execute("PRAGMA journal_mode=WAL")
        self._writer.execute("PRAGMA synchronous=FULL")
        self._writer.execute("PRAGMA journal_size_limit=16777216")
        self._writer.executescript(_TABLES)
        self._writer.execute(f"PRAGMA user_version={FORMAT}")
        meta = dict(self._writer.execute("SELECT name, value FROM meta"))
        self.counts.update(json.loads(meta.get("counts", "{}")))
        self.refused_before = self.counts["refused"]
        boot = _boot()
        sure = meta.get("closed", 1) or meta.get("durable", 0) or meta.get("boot") == boot
        known = "source" in meta and sure
        self.source: str = meta["source"] if known else f"{socket.gethostname()}.{uuid.uuid4().hex[:16]}"
        self._next: int = meta["next"] if known else 1
        self._stored = self._freed = 0
        with self._transaction():
            now = {"source": self.source, "next": self._next, "boot": boot, "durable": int(durable), "closed": 0}
            self._set(**now, limit=self.limit)
        last = self._writer.execute("SELECT max(id) FROM blocks").fetchone()[0]
        self._next_block: int = (last or 0) + 1
        for table, column in (("blocks", "payload"), ("rejected", "record")):
            query = f"SELECT coalesce(sum(length({column}) + 1), 0) FROM {table}"  # noqa: S608 - the names above
            self._stored += self._writer.execute(query).fetchone()[0]
        if not durable:
            # The new boot is on the disk before anything is numbered under it.
            self._writer.execute("PRAGMA wal_checkpoint")
            self._writer.execute("PRAGMA synchronous=NORMAL")
        self._reader = _connect(self.directory / FILE)

    # By the thread that writes

    @property
    def held(self) -> int:
        """Bytes of records that are in the spool."""
        return self._stored - self._freed

    @property
    def room(self) -> int:
        """Bytes of records that still go in."""
        return self.limit - self.held

    def append(
        self, tails: Sequence[bytes], positions: Iterable[Position] = (), gone: Iterable[Position] = ()
    ) -> Block | None:
        """Number the records and commit them as one block.

        Args:
            tails: the records, each a JSON object without its opening brace.
            positions: the places in files that they were read up to.
            gone: places in files that are no more.

        Raises:
            SpoolFullError: no room, by the limit or on the disk; nothing was stored and no number was used.
        """
        block = Block.stamped(self._next_block, self.source, self._next, tails) if tails else None
        if block is not None and block.size > self.room:
            self.settle()
            if block.size > self.room:
                raise SpoolFullError(f"the spool {self.directory} holds {self.held} bytes of {self.limit}")
        with self._transaction() as counts:
            if block is not None:
                row = (block.block_id, block.source, block.first, len(tails), block.payload)
                self._writer.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", row)
                counts["accepted"] += len(tails)
                self._set(next=self._next + len(tails))
            for place in positions:
                self._writer.execute("REPLACE INTO positions VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(place))
            for place in gone:
                where = (place.device, place.inode)
                self._writer.execute("DELETE FROM positions WHERE device = ? AND inode = ?", where)
        if block is not None:
            self._next += len(tails)
            self._next_block += 1
            self._stored += block.size
            self._offer(block)
        return block

    def settle(self, *, refused: int = 0) -> None:
        """Write down what became of blocks, what the sender met, and records refused before they came here.

        Raises:
            SpoolFullError: it cannot be written now; outcomes are kept for the next time.
        """
        if self._outcomes or refused or self.trouble != self._noted_trouble:
            with self._transaction() as counts:
                counts["refused"] += refused

    def positions(self) -> list[Position]:
        """All places in files."""
        rows = self._writer.execute("SELECT * FROM positions")
        return [Position(*row) for row in rows]

    def close(self) -> None:
        """Settle, and note that nothing is missing. The folder is free afterwards."""
        try:
            with self._transaction():
                self._set(closed=1)
        except SpoolFullError:
            pass  # Read as a spool that was not closed, which costs no record.
        finally:
            self._reader.close()
            self._writer.close()
            self._lock.release()

    def abandon(self) -> tuple[object, ...]:
        """In a forked child: the parent has it. Gives what must be kept from ever being closed here."""
        self._lock.abandon()
        return self._writer, self._reader

    # By the thread that sends

    def blocks_after(self, block_id: int, size: int) -> list[Block]:
        """The blocks that follow one, up to `size` bytes of them but at least one; from memory where they are there."""
        found: list[Block] = []
        while size > 0 and block_id + 1 < self._next_block:
            while self._fresh and self._fresh[0].block_id <= block_id:
                self._fresh_out += self._fresh.popleft().size
            if self._fresh and self._fresh[0].block_id == block_id + 1:
                block = self._fresh.popleft()
                self._fresh_out += block.size
            else:
                query = "SELECT id, source, first, payload FROM blocks WHERE id > ? ORDER BY id LIMIT 1"
                with still():
                    row = self._reader.execute(query, (block_id,)).fetchone()
                if row is None:
                    break
                block = Block.stored(*row)
            found.append(block)
            size -= block.size
            block_id = block.block_id
        return found

    def settled(self, block: Block, rejections: Sequence[Rejection] = ()) -> None:
        """Every record of the block is acknowledged, but for those rejected."""
        self._outcomes.append((block, tuple(rejections)))

    # By any

    def account(self) -> Account:
        """What has become of all records, as far as it is known, written down or not."""
        with self._settling:
            outcomes, counts = list(self._outcomes), self.counts
        rejected = sum(len(rejections) for _, rejections in outcomes)
        decided = sum(len(block.records) for block, _ in outcomes)
        return Account(counts["accepted"], counts["acknowledged"] + decided - rejected, counts["rejected"] + rejected)

    @property
    def pending(self) -> int:
        """Records that are in the spool and have no answer."""
        return self.account().pending

    def _offer(self, block: Block) -> None:
        if self._fresh_in - self._fresh_out + block.size <= _FRESH_BYTES:
            self._fresh_in += block.size
            self._fresh.append(block)
        self.arrived.set()

    @contextmanager
    def _transaction(self) -> Iterator[dict[str, int]]:
        with still(), self._one_transaction() as counts:
            yield counts

    @contextmanager
    def _one_transaction(self) -> Iterator[dict[str, int]]:
        """One that also puts down what became of blocks; gives the counts as they will be."""
        outcomes, trouble = list(self._outcomes), self.trouble
        counts = dict(self.counts)
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            freed = sum(self._put_down(block, rejections, counts) for block, rejections in outcomes)
            yield counts
            self._set(counts=json.dumps(counts), trouble=trouble)
            self._writer.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._roll_back()
            raise SpoolFullError(f"the spool {self.directory} cannot be written: {error}") from None
        except sqlite3.DatabaseError as error:
            self._roll_back()
            raise SpoolDamagedError(self.directory, str(error)) from None
        except BaseException:
            self._roll_back()
            raise
        with self._settling:
            for _ in outcomes:
                self._outcomes.popleft()
            self.counts = counts
        self._noted_trouble = trouble
        self._freed += freed

    def _put_down(self, block: Block, rejections: tuple[Rejection, ...], counts: dict[str, int]) -> int:
        self._writer.execute("DELETE FROM blocks WHERE id = ?", (block.block_id,))
        for one in rejections:
            row = (one.source, one.sequence, one.reason, one.record)
            self._writer.execute("INSERT OR REPLACE INTO rejected VALUES (?, ?, ?, ?)", row)
        counts["acknowledged"] += len(block.records) - len(rejections)
        counts["rejected"] += len(rejections)
        return block.size - sum(len(one.record) + 1 for one in rejections)

    def _roll_back(self) -> None:
        # A full disk has rolled back already.
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    def _set(self, **values: Any) -> None:
        self._writer.executemany("REPLACE INTO meta VALUES (?, ?)", values.items())


def open_numbered(directory: Path | str, limit: int = DEFAULT_LIMIT, *, durable: bool = False) -> Spool:
    """The first spool below `directory`, by number from 1, that no process has open: what it holds is shipped too."""
    for number in count(1):
        try:
            return Spool(Path(directory) / str(number), limit, durable=durable)
        except SpoolBusyError:
            continue
    raise AssertionError("numbers do not end")


def _connect(file: Path) -> sqlite3.Connection:
    # Transactions are ours; each connection is used by one thread at a time, not always the one that made it.
    return sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)


def _boot() -> str:
    """This start of the machine. Where it cannot be told, every start of a spool that was not closed is a new one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return uuid.uuid4().hex
