"""The spool: stores each block on disk until the brokers have acknowledged all its records.

One thread writes (`append`, `settle`). The sender reads (`blocks_after`) and reports the results of a block
(`settled`); the next write stores them. A write is one transaction with at most one fsync, for the new block, the
removed blocks, the sequence number and the position in a file. The size of the spool is the difference of two counters
that only grow.

A sequence number of a source is never used twice. A kill undoes no committed transaction. A power cut may undo some,
unless the spool is `durable`, and records with the undone numbers may already be sent. So if the boot id has changed
and the spool was not closed, the numbering restarts with a new source.

`folder` protects the files, `database` contains the SQL, `block` contains the cache of blocks, and `status` the
counters.
"""

from __future__ import annotations

import json
import logging
import socket
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

from brokernat.shipping.block import Block, BlockCache, Destination, Rejection
from brokernat.shipping.database import SpoolDatabase
from brokernat.shipping.errors import OtherDestinationError, SpoolBusyError, SpoolFullError
from brokernat.shipping.folder import SpoolFolder
from brokernat.shipping.positions import FilePosition
from brokernat.shipping.status import SettledBlocks, Totals
from brokernat.shipping.threads import log_later, no_fork
from brokernat.text import counted


class Numbering(NamedTuple):
    """The source and sequence number of the spool's next record."""

    source: str
    next: int


def numbering(meta: Mapping[str, Any], boot: str) -> Numbering:
    """The numbering with which a spool continues.

    Args:
        meta: the values that the last process stored; empty for a new spool.
        boot: the boot id of the machine.
    """
    numbers_are_safe = meta.get("closed", 1) or meta.get("durable", 0) or meta.get("boot") == boot
    if "source" in meta and numbers_are_safe:
        return Numbering(meta["source"], meta["next"])
    return new_numbering()


def new_numbering() -> Numbering:
    """A new unique source, numbered from 1."""
    return Numbering(f"{socket.gethostname()}.{uuid.uuid4().hex[:16]}", 1)


def boot_id() -> str:
    """The boot id of the machine. If it is unknown, every start after an unclean end counts as a new boot."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return uuid.uuid4().hex


DEFAULT_LIMIT: Final = 1 << 30
SMALLEST_LIMIT: Final = 1 << 20


class Spool:
    """A spool on the disk: one folder and one source, used by one process at a time."""

    def __init__(
        self,
        directory: Path | str,
        limit: int = DEFAULT_LIMIT,
        *,
        durable: bool = False,
        destination: Destination | None = None,
        redirect: bool = False,
    ) -> None:
        """Opens the spool; creates it if missing.

        Args:
            directory: the folder; created with its parents, for its owner only.
            limit: the maximum bytes of records, including rejected ones; at least 1 MiB.
            durable: whether stored records survive a power cut; costs an fsync per block.
            destination: the cluster and topic of the records; None keeps the stored one. An empty spool accepts another
                destination, with a new source, because a reader of the new topic would miss the earlier numbers. A
                spool of an old version without a destination gets this one.
            redirect: whether to send stored records to this destination, although they were accepted for another one
                or for another cluster of that name.

        Raises:
            SpoolBusyError: another process has it open.
            OtherDestinationError: it contains records for another destination.
            SpoolDamagedError: it cannot be read.
            SpoolFullError: the disk is full.
            SpoolUnsafeError: others may write the folder, or a file in it is a link.
            ConfigError: the folder cannot be created or written.
        """
        self.directory = Path(directory).absolute()
        self.limit = max(limit, SMALLEST_LIMIT)
        self._folder = SpoolFolder(self.directory)
        self.arrived = threading.Event()
        """Set when there are records to send."""
        self._cache = BlockCache()
        self.cluster_id = self._stored_cluster_id = ""
        """The Kafka cluster id that records were sent to; empty until it is known."""
        self.redirected = redirect
        self.trouble = self._stored_trouble = ""
        """The error that stops the sender, for the status."""
        try:
            with no_fork():
                self._open(durable, destination, redirect)
        except BaseException:
            self._folder.release()
            raise

    def _open(self, durable: bool, destination: Destination | None, redirect: bool) -> None:
        self._file = SpoolDatabase(self.directory)
        try:
            found = self._file.initial
            self._settled_blocks = SettledBlocks(json.loads(found.meta.get("counts", "{}")))
            self.refused_before = self.counts["refused"]
            boot = boot_id()
            self.source, self._next = numbering(found.meta, boot)
            earlier = found.destination
            self.destination = destination or earlier
            self.found_pending = found.pending
            """The number of records from earlier processes."""
            if self.destination == earlier:
                self.cluster_id = self._stored_cluster_id = found.meta.get("cluster_id", "")
            if destination and earlier and destination != earlier:
                if found.pending and not redirect:
                    raise OtherDestinationError(self.directory, found.pending, earlier, destination)
                self.source, self._next = new_numbering()
                message = "the spool %s was for %s and is now for %s; it holds %s"
                held = counted(found.pending, "record")
                log_later(logging.INFO, message, self.directory, earlier, destination, held)
            if destination and earlier is None and found.pending:
                message = "the spool %s has %d records of a version that stored no destination; "
                log_later(logging.WARNING, message + "they are sent to %s", self.directory, found.pending, destination)
            self._next_block = self._file.last_block_id + 1
            self._stored_bytes, self._freed_bytes = found.held, 0
            with self._transaction():
                meta = {"source": self.source, "next": self._next, "boot": boot, "durable": int(durable), "closed": 0}
                self._file.store_meta(
                    **meta, limit=self.limit, **(self.destination._asdict() if self.destination else {})
                )
            if not durable:
                # The new boot id is on the disk before any record is numbered.
                self._file.stop_syncing()
        except BaseException:
            self._file.close()
            raise

    # Called by the writer

    @property
    def held(self) -> int:
        """Bytes of records in the spool."""
        return self._stored_bytes - self._freed_bytes

    @property
    def room(self) -> int:
        """Free bytes for records in the spool."""
        return self.limit - self.held

    @property
    def largest(self) -> int:
        """Bytes of the largest record that fits into an empty spool, without its sequence number."""
        return self.limit - Block.stamped(0, self.source, 1 << 62, [b""]).size

    def append(
        self, bodies: Sequence[bytes], positions: Iterable[FilePosition] = (), removed: Iterable[FilePosition] = ()
    ) -> Block | None:
        """Number the records and commit them as one block.

        Args:
            bodies: the records, each a JSON object without its opening brace.
            positions: the positions in files up to which they were read.
            removed: the positions of deleted files.

        Returns:
            The block; None without records.

        Raises:
            SpoolFullError: the spool's limit is reached or the disk is full; nothing was stored and no number was used.
        """
        block = Block.stamped(self._next_block, self.source, self._next, bodies) if bodies else None
        if block is not None and block.size > self.room:
            self.settle()
            if block.size > self.room:
                raise SpoolFullError(f"the spool {self.directory} holds {self.held} bytes of {self.limit}")
        with self._transaction() as counts:
            if block is not None:
                self._file.store(block)
                counts["accepted"] += len(bodies)
                self._file.store_meta(next=self._next + len(bodies))
            for position in positions:
                self._file.store_position(position)
            for position in removed:
                self._file.remove_position(position)
        if block is not None:
            self._next += len(bodies)
            self._next_block += 1
            self._stored_bytes += block.size
            self._cache.offer(block)
            self.arrived.set()
        return block

    def settle(self, *, refused: int = 0) -> None:
        """Stores the results of blocks, the error of the sender, and the number of records that the queue has refused.

        Raises:
            SpoolFullError: it cannot be written now; the results are kept for the next write.
        """
        stored_state = (self._stored_trouble, self._stored_cluster_id)
        if refused or self._settled_blocks.outcomes() or (self.trouble, self.cluster_id) != stored_state:
            with self._transaction() as counts:
                counts["refused"] += refused

    def positions(self) -> list[FilePosition]:
        """The stored positions in files."""
        return self._file.positions()

    def close(self) -> None:
        """Stores all results, marks the spool as closed and releases the folder."""
        try:
            with self._transaction():
                self._file.store_meta(closed=1)
        except SpoolFullError:
            pass  # At the next start the spool counts as not closed; no record is lost.
        finally:
            self._file.close()
            self._folder.release()

    def abandon(self) -> tuple[object, ...]:
        """Called in a forked child: returns objects that it must never close, because the parent still uses them."""
        self._folder.release()
        return self._file.abandon()

    # Called by the sender

    def blocks_after(self, block_id: int, size: int) -> list[Block]:
        """The blocks after `block_id`: at least one, and up to `size` bytes; from the cache if possible."""
        found: list[Block] = []
        while size > 0 and block_id + 1 < self._next_block:
            block = self._cache.take(block_id + 1) or self._file.block_after(block_id)
            if block is None:
                break
            found.append(block)
            size -= block.size
            block_id = block.block_id
        return found

    def settled(self, block: Block, rejections: Sequence[Rejection] = ()) -> None:
        """Marks all records of the block as acknowledged, except the rejected ones."""
        self._settled_blocks.settled(block, rejections)

    # Called by any thread

    @property
    def counts(self) -> dict[str, int]:
        """Records by their result, as stored."""
        return self._settled_blocks.counts

    def totals(self) -> Totals:
        """The results of all records so far, stored or not."""
        return self._settled_blocks.totals()

    @property
    def pending(self) -> int:
        """The number of records in the spool without an answer."""
        return self.totals().pending

    @contextmanager
    def _transaction(self) -> Iterator[dict[str, int]]:
        """A transaction that also stores the results of blocks; yields the new counts."""
        outcomes, trouble, cluster_id = self._settled_blocks.outcomes(), self.trouble, self.cluster_id
        counts = dict(self.counts)
        with self._file.transaction():
            for outcome in outcomes:
                self._file.settle(outcome)
                counts["acknowledged"] += outcome.acknowledged
                counts["rejected"] += len(outcome.rejections)
            yield counts
            self._file.store_meta(counts=json.dumps(counts), trouble=trouble, cluster_id=cluster_id)
        self._settled_blocks.written(outcomes, counts)
        self._stored_trouble, self._stored_cluster_id = trouble, cluster_id
        self._freed_bytes += sum(outcome.freed for outcome in outcomes)


def open_numbered(
    directory: Path | str,
    limit: int = DEFAULT_LIMIT,
    *,
    durable: bool = False,
    destination: Destination | None = None,
) -> Spool:
    """The first numbered spool below `directory` that no process has open; its records are shipped, too.

    A spool with records for another destination is skipped and reported.
    """
    for number in count(1):
        try:
            return Spool(Path(directory) / str(number), limit, durable=durable, destination=destination)
        except SpoolBusyError:
            continue
        except OtherDestinationError as error:
            log_later(logging.WARNING, "%s", error)
    raise AssertionError("numbers do not end")
