from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from brokernat.shipping import queue as module
from brokernat.shipping.errors import NotShippedError, SpoolDamagedError, SpoolFullError
from brokernat.shipping.queue import OnFull, RecordQueue, SpoolWriter
from brokernat.shipping.spool import Spool
from brokernat.testbed.place import wait_until


def taken(queue: RecordQueue, most: int = 100) -> list[bytes]:
    return [body for body, _ in queue.take(most, 1 << 20, 0, 0)]


def test_records_leave_in_order_and_make_room() -> None:
    queue = RecordQueue(OnFull.DROP, max_records=3)
    for number in range(5):
        queue.offer(b"%d" % number)
    assert (queue.depth, queue.refused) == ((3, 3), 2)
    assert taken(queue, 2) == [b"0", b"1"]
    queue.offer(b"5")
    assert taken(queue) == [b"2", b"5"]
    assert queue.depth == (0, 0)


def test_every_drop_is_counted_and_no_counter_ever_wraps() -> None:
    """A refusal leaves what counts the queue alone, so that the bounds hold after any number of them."""
    queue = RecordQueue(OnFull.DROP, max_records=10, max_bytes=100)
    offered = kept = 0
    for round_ in range(200):
        for size in (1, 30, 101, 50):
            queue.offer(b"x" * size)
            offered += 1
        if round_ % 3 == 0:
            kept += len(taken(queue))
        records, size = queue.depth
        assert 0 <= records <= 10
        assert 0 <= size <= 100
    kept += len(taken(queue))
    assert queue.refused == offered - kept
    assert queue.depth == (0, 0)
    queue.offer(b"after all that there is room")
    assert len(taken(queue)) == 1


def test_a_record_larger_than_the_queue_is_refused_and_blocks_nobody() -> None:
    queue = RecordQueue(OnFull.BLOCK, max_bytes=10)
    with pytest.raises(NotShippedError, match="it has 11 bytes, the maximum is 10"):
        queue.offer(b"x" * 11)
    assert queue.refused == 1


def test_a_record_larger_than_what_stands_behind_the_queue_is_refused_and_blocks_nobody() -> None:
    queue = RecordQueue(OnFull.BLOCK, largest=10)
    with pytest.raises(NotShippedError, match="it has 11 bytes, the maximum is 10"):
        queue.offer(b"x" * 11)
    queue.offer(b"x" * 10)
    assert (len(taken(queue)), queue.refused) == (1, 1)


def test_blocking_waits_for_room() -> None:
    queue = RecordQueue(OnFull.BLOCK, max_records=1)
    queue.offer(b"first")
    second = threading.Thread(target=queue.offer, args=(b"second",), daemon=True)
    second.start()
    assert taken(queue) == [b"first"]
    second.join(30)
    assert taken(queue) == [b"second"]


def test_closing_frees_who_waits_for_room() -> None:
    queue = RecordQueue(OnFull.BLOCK, max_records=1)
    queue.offer(b"first")
    failure: Future[None] = Future()

    def offer() -> None:
        try:
            queue.offer(b"second")
        except NotShippedError as error:
            failure.set_exception(error)

    thread = threading.Thread(target=offer, daemon=True)
    thread.start()
    queue.close("the handler is closed")
    with pytest.raises(NotShippedError, match="the handler is closed"):
        failure.result(30)


def test_raising_says_why_there_is_no_room() -> None:
    queue = RecordQueue(OnFull.RAISE, max_records=1)
    queue.offer(b"first")
    with pytest.raises(NotShippedError, match="the queue is full"):
        queue.offer(b"second")
    taken(queue)
    queue.stalled = "the spool is full"
    with pytest.raises(NotShippedError, match="the spool is full"):
        queue.offer(b"second")
    assert queue.refused == 2


def test_a_record_that_was_taken_and_not_stored_is_counted_and_told() -> None:
    queue = RecordQueue(OnFull.RAISE)
    receipt = queue.offer(b"x", receipt=True)
    assert receipt is not None
    queue.refuse(queue.take(10, 100, 0, 0), "disk full")
    with pytest.raises(NotShippedError, match="disk full"):
        receipt.result(0)
    assert queue.refused == 1


def test_each_refusal_is_noted_once_in_the_spool(tmp_path: Path) -> None:
    queue, spool = RecordQueue(OnFull.DROP, max_records=1), Spool(tmp_path / "spool")
    writer = SpoolWriter(queue, spool)
    for offered, refused in ((3, 2), (0, 2), (1, 3)):
        for _ in range(offered):
            queue.offer(b"x")
        writer._settle()
        assert spool.counts["refused"] == refused
    spool.close()


def test_what_is_queued_at_a_stop_is_tried_again_as_long_as_the_stop_has_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IDLE", 0.0)
    queue, spool = RecordQueue(OnFull.DROP), Spool(tmp_path / "spool")
    append, faults = spool.append, [SpoolFullError("the disk is full")] * 2

    def full_at_first(bodies: list[bytes]) -> object:
        if faults:
            raise faults.pop()
        return append(bodies)

    monkeypatch.setattr(spool, "append", full_at_first)
    queue.offer(b'"message":"a"}')
    writer = SpoolWriter(queue, spool)
    # Hours, of which nothing passes.
    writer._give_up = time.monotonic() + 7200
    writer._stop.set()
    writer._run()
    assert (spool.pending, queue.refused) == (1, 0)
    spool.close()


def test_who_waits_for_a_record_that_no_spool_takes_any_more_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    queue, spool = RecordQueue(OnFull.BLOCK), Spool(tmp_path / "spool")

    def damaged(bodies: list[bytes]) -> None:
        raise SpoolDamagedError(tmp_path, "it is no database any more")

    monkeypatch.setattr(spool, "append", damaged)
    receipt = queue.offer(b'"message":"a"}', receipt=True)
    SpoolWriter(queue, spool)._run()
    assert receipt is not None
    with pytest.raises(NotShippedError, match="the spool cannot be written"):
        receipt.result(0)
    with pytest.raises(NotShippedError, match="it is no database any more"):
        queue.offer(b'"message":"b"}')
    assert queue.refused == 2
    wait_until(lambda: "shipping has ended: the spool" in caplog.text, "the log", timeout=60)
    spool.close()


def test_a_signal_handler_may_log_in_the_middle_of_a_call() -> None:
    queue = RecordQueue(OnFull.DROP)
    with queue._lock:
        queue.offer(b"from a signal handler")
    assert taken(queue) == [b"from a signal handler"]


def test_a_wake_up_hides_no_record() -> None:
    queue = RecordQueue(OnFull.DROP)
    queue.wake()
    queue.offer(b"a")
    queue.wake()
    queue.offer(b"b")
    assert taken(queue) == [b"a", b"b"]


@pytest.mark.parametrize("waited_for", [False, True])
def test_a_record_wakes_who_waits_for_one(waited_for: bool) -> None:
    queue = RecordQueue(OnFull.DROP)
    found: Future[list[bytes]] = Future()

    def take() -> None:
        # Hours: only a record can end this wait.
        found.set_result([body for body, _ in queue.take(10, 1 << 20, 7200, 0)])

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    queue.offer(b"first", receipt=waited_for)
    assert found.result(30) == [b"first"]
    thread.join(30)


def test_a_record_that_somebody_waits_for_is_not_kept_lingering() -> None:
    queue = RecordQueue(OnFull.BLOCK)
    queue.offer(b"ordinary")
    queue.offer(b"audit", receipt=True)
    # Hours: a linger would not end.
    assert [body for body, _ in queue.take(10, 1 << 20, 0, 7200)] == [b"ordinary", b"audit"]


def test_a_block_has_no_more_bytes_than_asked_for_unless_it_is_one_record() -> None:
    queue = RecordQueue(OnFull.DROP)
    for size in (40, 40, 40, 500, 1):
        queue.offer(b"x" * size)
    taken = [[len(body) for body, _ in queue.take(10, 100, 0, 0)] for _ in range(4)]
    assert taken == [[40, 40], [40], [500], [1]]
