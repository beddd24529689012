"""The spool: blocks of records on disk until the brokers have acknowledged all of each.

One thread writes (`append`, `settle`). The sender reads (`blocks_after`) and reports what became of a block
(`settled`), which the next write stores: one transaction, one fsync at most, for the new block, for those that leave,
for the sequence number and for the position in a file. What is held is a difference of two counters that only grow.

No number of a source is ever given twice. A kill takes no committed transaction away. A power cut may, where commits
are not on the disk before they count (`durable`), and the numbers that it undoes may have been sent already. It leaves
two signs: the machine has another boot id, and the spool was not closed. Then the numbering starts again under a new
source.

`folder` guards the files, `database` has the SQL, `block` the cache of blocks that need not be read, `status` the
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


class Numbering(NamedTuple):
    """What the next record of a spool gets."""

    source: str
    next: int


def numbering(meta: Mapping[str, Any], boot: str) -> Numbering:
    """How a spool goes on.

    Args:
        meta: what its last holder wrote down; empty for a new one.
        boot: this start of the machine.
    """
    sure = meta.get("closed", 1) or meta.get("durable", 0) or meta.get("boot") == boot
    if "source" in meta and sure:
        return Numbering(meta["source"], meta["next"])
    return new_numbering()


def new_numbering() -> Numbering:
    """From 1, under a source that no spool had before."""
    return Numbering(f"{socket.gethostname()}.{uuid.uuid4().hex[:16]}", 1)


def boot_id() -> str:
    """This start of the machine. Where it cannot be told, every start of a spool that was not closed is a new one."""
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
        """Opens the spool, makes it where there is none.

        Args:
            directory: the folder; made with its parents, for its owner only.
            limit: bytes of records that it may hold, rejected ones included; at least 1 MiB.
            durable: a record that is in survives a power cut, for an fsync a block.
            destination: where its records go; None to look at the spool and leave that as it is. An empty spool may
                get another destination, and a new source with it: a reader of a topic would miss the numbers that went
                to another. A spool of a version that noted no destination gets this one.
            redirect: send what it holds to this destination, although it was taken for another one or for another
                cluster of that name.

        Raises:
            SpoolBusyError: another process has it open.
            OtherDestinationError: it holds records for another destination.
            SpoolDamagedError: it cannot be read.
            SpoolFullError: the disk is full.
            SpoolUnsafeError: others may write the folder, or a file in it is a link.
            ConfigError: the folder cannot be made or written.
        """
        self.directory = Path(directory).absolute()
        self.limit = max(limit, SMALLEST_LIMIT)
        self._folder = SpoolFolder(self.directory)
        self.arrived = threading.Event()
        """Set when there is something to send."""
        self._cache = BlockCache()
        self.cluster_id = self._noted_cluster_id = ""
        """The brokers' own name of the cluster that records were sent to; empty until it is known."""
        self.redirected = redirect
        self.trouble = self._noted_trouble = ""
        """What keeps the sender from sending, for whoever asks for the status."""
        try:
            with no_fork():
                self._open(durable, destination, redirect)
        except BaseException:
            self._folder.release()
            raise

    def _open(self, durable: bool, destination: Destination | None, redirect: bool) -> None:
        self._file = SpoolDatabase(self.directory)
        try:
            found = self._file.found
            self._settled_blocks = SettledBlocks(json.loads(found.noted.get("counts", "{}")))
            self.refused_before = self.counts["refused"]
            boot = boot_id()
            self.source, self._next = numbering(found.noted, boot)
            before = found.destination
            self.destination = destination or before
            self.found_pending = found.pending
            """Records that an earlier process has left."""
            if self.destination == before:
                self.cluster_id = self._noted_cluster_id = found.noted.get("cluster_id", "")
            if destination and before and destination != before:
                if found.pending and not redirect:
                    raise OtherDestinationError(self.directory, found.pending, before, destination)
                self.source, self._next = new_numbering()
                message = "the spool %s was for %s and is now for %s; %d records wait in it"
                log_later(logging.INFO, message, self.directory, before, destination, found.pending)
            if destination and before is None and found.pending:
                message = "the spool %s has %d records of a version that stored no destination; "
                log_later(logging.WARNING, message + "they are sent to %s", self.directory, found.pending, destination)
            self._next_block = self._file.last_block_id + 1
            self._stored, self._freed = found.held, 0
            with self._transaction():
                now = {"source": self.source, "next": self._next, "boot": boot, "durable": int(durable), "closed": 0}
                self._file.note(**now, limit=self.limit, **(self.destination._asdict() if self.destination else {}))
            if not durable:
                # The new boot is on the disk before anything is numbered under it.
                self._file.relax()
        except BaseException:
            self._file.close()
            raise

    # By the thread that writes

    @property
    def held(self) -> int:
        """Bytes of records in the spool."""
        return self._stored - self._freed

    @property
    def room(self) -> int:
        """Bytes of records for which the spool still has room."""
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
            positions: the places in files that they were read up to.
            removed: places in files that are no more.

        Returns:
            The block; None where there were no records.

        Raises:
            SpoolFullError: no room, by the limit or on the disk; nothing was stored and no number was used.
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
                self._file.note(next=self._next + len(bodies))
            for position in positions:
                self._file.store_position(position)
            for position in removed:
                self._file.remove_position(position)
        if block is not None:
            self._next += len(bodies)
            self._next_block += 1
            self._stored += block.size
            self._cache.offer(block)
            self.arrived.set()
        return block

    def settle(self, *, refused: int = 0) -> None:
        """Stores the results of blocks, the errors of the sender, and the number of records refused before the spool.

        Raises:
            SpoolFullError: it cannot be written now; outcomes are kept for the next time.
        """
        noted = (self._noted_trouble, self._noted_cluster_id)
        if refused or self._settled_blocks.outcomes() or (self.trouble, self.cluster_id) != noted:
            with self._transaction() as counts:
                counts["refused"] += refused

    def positions(self) -> list[FilePosition]:
        """The stored positions in files."""
        return self._file.positions()

    def close(self) -> None:
        """Stores all results, notes a clean end and frees the folder."""
        try:
            with self._transaction():
                self._file.note(closed=1)
        except SpoolFullError:
            pass  # Read as a spool that was not closed, which costs no record.
        finally:
            self._file.close()
            self._folder.release()

    def abandon(self) -> tuple[object, ...]:
        """For a forked child, because the parent keeps the spool. Returns objects that the child must never close."""
        self._folder.release()
        return self._file.abandon()

    # By the thread that sends

    def blocks_after(self, block_id: int, size: int) -> list[Block]:
        """The blocks after `block_id`: at least one, else up to `size` bytes; from memory if they are there."""
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
        """Notes that every record of the block is acknowledged, except the rejected ones."""
        self._settled_blocks.settled(block, rejections)

    # By any

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
        """One that also puts down what became of blocks; gives the counts as they will be."""
        outcomes, trouble, cluster_id = self._settled_blocks.outcomes(), self.trouble, self.cluster_id
        counts = dict(self.counts)
        with self._file.transaction():
            for outcome in outcomes:
                self._file.settle(outcome)
                counts["acknowledged"] += outcome.acknowledged
                counts["rejected"] += len(outcome.rejections)
            yield counts
            self._file.note(counts=json.dumps(counts), trouble=trouble, cluster_id=cluster_id)
        self._settled_blocks.written(outcomes, counts)
        self._noted_trouble, self._noted_cluster_id = trouble, cluster_id
        self._freed += sum(outcome.freed for outcome in outcomes)


def open_numbered(
    directory: Path | str,
    limit: int = DEFAULT_LIMIT,
    *,
    durable: bool = False,
    destination: Destination | None = None,
) -> Spool:
    """The first spool below `directory`, by number from 1, that no process has open: what it holds is shipped too.

    One that holds records for another destination is left to a process that ships there, and reported.
    """
    for number in count(1):
        try:
            return Spool(Path(directory) / str(number), limit, durable=durable, destination=destination)
        except SpoolBusyError:
            continue
        except OtherDestinationError as error:
            log_later(logging.WARNING, "%s", error)
    raise AssertionError("numbers do not end")
