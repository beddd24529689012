"""The loop from files and pipes into a spool that is small, with somebody behind it who takes all that comes."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from brokernat.shipping.errors import NotShippedError, SpoolFullError
from brokernat.shipping.lines import Pipe
from brokernat.shipping.sender import Sender
from brokernat.shipping.shipment import Shipment
from brokernat.shipping.spool import SMALLEST_LIMIT, Spool
from brokernat.shipping.tail import Tail

SHORT_LINES = b"".join(b"%d\n" % number for number in range(60_000))
GARBAGE = bytes(range(256)) * 4096
CONTENTS = pytest.mark.parametrize(
    "content", [SHORT_LINES, b"\n" * 60_000, GARBAGE], ids=["short lines", "line ends", "garbage"]
)


class Acknowledging:
    """In the sender's place: every block is delivered as soon as it is there."""

    refused = None

    def __init__(self, spool: Spool) -> None:
        self.records: list[dict[str, Any]] = []
        self._spool = spool
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        position = 0
        while not self._over.wait(0.001):
            for block in self._spool.blocks_after(position, 1 << 20):
                self.records += map(json.loads, block.records)
                self._spool.settled(block)
                position = block.block_id


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """Closed by the run."""
    return Spool(tmp_path / "spool", SMALLEST_LIMIT)


def expected(content: bytes) -> list[str]:
    return [line.removesuffix(b"\r").decode(errors="replace") for line in content.removesuffix(b"\n").split(b"\n")]


def lines_of(sender: Acknowledging) -> list[str]:
    """Those that came in pieces joined again."""
    joined = "".join(one["message"] + ("" if one.get("continued") else "\n") for one in sender.records)
    return joined.removesuffix("\n").split("\n")


@pytest.mark.timeout(120)
@CONTENTS
def test_a_file_of_any_kind_passes_through_the_smallest_spool(spool: Spool, tmp_path: Path, content: bytes) -> None:
    """Records are larger than their lines, line ends a hundred times: no block may need more room than there is."""
    (tmp_path / "app.log").write_bytes(content)
    tail = Tail([str(tmp_path / "app.log")], [], from_beginning=True)
    sender = Acknowledging(spool)
    assert Shipment(spool, cast("Sender", sender), tail=tail).run(once=True, patience=60) == 0
    assert lines_of(sender) == expected(content)


@pytest.mark.timeout(120)
@CONTENTS
def test_a_pipe_of_any_kind_passes_through_the_smallest_spool(spool: Spool, content: bytes) -> None:
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(content)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    sender = Acknowledging(spool)
    try:
        assert Shipment(spool, cast("Sender", sender), pipe=Pipe(reading)).run(once=False, patience=60) == 0
    finally:
        os.close(reading)
    writer.join(30)
    assert lines_of(sender) == expected(content)


def test_a_stop_leaves_nothing_behind_of_what_was_read_from_a_pipe(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be nowhere: neither in the pipe nor in the spool."""
    reading, writing = os.pipe()
    sender = Acknowledging(spool)
    shipment = Shipment(spool, cast("Sender", sender), pipe=Pipe(reading))
    append = spool.append

    def then_stop(*arguments: Any) -> None:
        append(*arguments)
        shipment.stop()

    monkeypatch.setattr(spool, "append", then_stop)
    written = os.write(writing, b"\n" * 40_000 + b"and a rest")
    assert shipment.run(once=False, patience=60) == 0
    os.set_blocking(reading, False)
    os.close(writing)
    left = os.read(reading, written)
    os.close(reading)
    assert sum(len(one["message"]) or 1 for one in sender.records) + len(left) == written


def test_a_stop_while_the_spool_is_full_loses_nothing_of_a_pipe(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read waits for room, also after SIGTERM: nobody can read it again."""
    reading, writing = os.pipe()
    sender = Acknowledging(spool)
    shipment = Shipment(spool, cast("Sender", sender), pipe=Pipe(reading))
    full, append = threading.Event(), spool.append

    def full_until_stopped(*arguments: Any) -> Any:
        if full.is_set():
            return append(*arguments)
        full.set()
        shipment.stop()
        raise SpoolFullError("the spool is full")

    monkeypatch.setattr(spool, "append", full_until_stopped)
    os.write(writing, b"one\ntwo\nand a rest")
    assert shipment.run(once=False, patience=60) == 0
    os.close(writing)
    os.close(reading)
    assert lines_of(sender) == ["one", "two", "and a rest"]


def ended_while_full(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, sent: bytes, end: Callable[[Shipment], None], patience: float
) -> tuple[Shipment, Acknowledging]:
    """A shipment of a pipe that is told to end while the spool has no room."""
    reading, writing = os.pipe()
    sender = Acknowledging(spool)
    shipment = Shipment(spool, cast("Sender", sender), pipe=Pipe(reading))

    def full(*_: Any) -> Any:
        end(shipment)
        raise SpoolFullError("the spool is full")

    monkeypatch.setattr(spool, "append", full)
    os.write(writing, sent)
    assert shipment.run(once=False, patience=patience) == 0
    os.close(writing)
    os.close(reading)
    return shipment, sender


def test_a_second_stop_does_not_wait_for_room(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    _, sender = ended_while_full(spool, monkeypatch, b"one\n", Shipment.abort, patience=60)
    assert sender.records == []


def test_what_a_pipe_had_sent_waits_for_room_no_longer_than_for_the_brokers(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shipment, _ = ended_while_full(spool, monkeypatch, b"one\ntwo\nand a rest", Shipment.stop, patience=0)
    assert shipment.lost == 3
    assert caplog.messages == ["3 records of standard input lost: the spool had no room"]


@pytest.mark.timeout(60)
def test_a_full_spool_for_another_cluster_ends_a_pipe(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing will make room."""
    reading, writing = os.pipe()
    sender = Acknowledging(spool)

    def full(*_: Any) -> Any:
        monkeypatch.setattr(sender, "refused", NotShippedError("another cluster"))
        raise SpoolFullError("the spool is full")

    monkeypatch.setattr(spool, "append", full)
    os.write(writing, b"one\n")
    with pytest.raises(NotShippedError):
        Shipment(spool, cast("Sender", sender), pipe=Pipe(reading)).run(once=False, patience=60)
    os.close(writing)
    os.close(reading)


class FullDisk:
    """In the spool's place: something was acknowledged, and nothing can be written."""

    pending = 1

    def __init__(self) -> None:
        self.asked = 0

    def settle(self) -> None:
        self.asked += 1
        raise SpoolFullError("the spool cannot be written: database or disk is full")

    def close(self) -> None:
        pass


def test_a_full_disk_is_said_once_and_not_with_every_look(caplog: pytest.LogCaptureFixture) -> None:
    """The log may lie on the same disk."""
    disk = FullDisk()
    sender = Acknowledging(cast("Spool", disk))
    sender._over.set()
    Shipment(cast("Spool", disk), cast("Sender", sender)).run(once=True, patience=0.5)
    assert disk.asked > 3
    assert caplog.messages == [
        "acknowledgements cannot be stored: the spool cannot be written: database or disk is full"
    ]
