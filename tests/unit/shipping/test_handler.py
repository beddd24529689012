"""The handler where no broker answers: what is logged must be in the spool however the process ends."""

from __future__ import annotations

import json
import logging
import logging.config
import os
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import pytest

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError
from brokernat.shipping import KafkaHandler, NotShippedError, Spool, SpoolBusyError, queue, read_status
from brokernat.shipping.block import BLOCK_BYTES
from brokernat.shipping.folder import DATABASE
from brokernat.testbed.place import wait_until

NOWHERE = Cluster("nowhere", (Endpoint.parse("127.0.0.1:1"),))

PRELUDE = """
import logging, os, sys, multiprocessing, threading, time
from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.errors import ConfigError
from brokernat.shipping import KafkaHandler
cluster = Cluster("nowhere", (Endpoint.parse("127.0.0.1:1"),))
handler = KafkaHandler(cluster, "topic", sys.argv[1], close_timeout=1, audit=len(sys.argv) > 2)
log = logging.getLogger("app")
log.propagate = False
log.setLevel(logging.INFO)
log.addHandler(handler)
"""


def run(program: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    """A program of its own, which ends as programs end."""
    command = [sys.executable, "-c", PRELUDE + textwrap.dedent(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done


def stored(directory: Path) -> list[str]:
    """The messages that a spool holds; it must be free."""
    spool = Spool(directory)
    try:
        return [json.loads(r)["message"] for block in spool.blocks_after(0, 1 << 40) for r in block.records]
    finally:
        spool.close()


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    logger = logging.getLogger("test_handler")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    yield logger
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()


@pytest.mark.parametrize("topic", ["a b", "", "..", "a" * 250])
def test_a_name_that_no_topic_has_is_refused(tmp_path: Path, topic: str) -> None:
    with pytest.raises(ConfigError, match=f"`{re.escape(topic)}` is not a topic name"):
        KafkaHandler(NOWHERE, topic, tmp_path / "spool")
    assert not (tmp_path / "spool").exists()


@pytest.mark.parametrize(
    "ending",
    ["pass", "sys.exit(0)", "raise RuntimeError('x')", "threading.Thread(target=time.sleep, args=(1,)).start()"],
)
def test_an_exit_without_flush_loses_nothing(tmp_path: Path, ending: str) -> None:
    run(f"for number in range(5000): log.info('%d', number)\n{ending}", tmp_path, check=False)
    assert stored(tmp_path) == [str(number) for number in range(5000)]


def test_an_audit_call_at_the_end_of_the_interpreter_is_stored_or_raises(tmp_path: Path) -> None:
    """`logging` closes its handlers in the middle of what runs at exit."""
    done = run(
        """
        import atexit
        def late():
            try: log.info("behind it")
            except Exception as error: print(error)
        atexit.unregister(logging.shutdown)
        atexit.register(late)
        atexit.register(logging.shutdown)
        atexit.register(log.info, "before it")
        """,
        tmp_path,
        "audit",
    )
    assert stored(tmp_path) == ["before it"]
    assert done.stdout.strip() == "the record was not accepted: the handler is closed"


def test_an_audit_call_that_has_returned_survives_a_kill(tmp_path: Path) -> None:
    done = run(
        """
        for number in range(200):
            log.info("%d", number)
            print(number, flush=True)
        os.kill(os.getpid(), 9)
        """,
        tmp_path,
        "audit",
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert stored(tmp_path) == done.stdout.split()


@pytest.mark.parametrize("kind", [(), ("audit",)], ids=["ordinary", "audit"])
def test_children_of_a_fork_have_spools_of_their_own(tmp_path: Path, kind: tuple[str, ...]) -> None:
    """As preloading servers do it: the handler is made, used, and then workers are forked."""
    run(
        """
        log.info("parent before")
        stop = threading.Event()
        def chat():
            while not stop.is_set(): log.info("chatter")
        threading.Thread(target=chat, daemon=True).start()
        for worker in range(8):
            if os.fork() == 0:
                for number in range(50): log.info("worker %d record %d", worker, number)
                sys.exit()
        for worker in range(8): assert os.wait()[1] == 0
        stop.set()
        log.info("parent after")
        """,
        tmp_path,
        *kind,
    )
    of_parent = [message for message in stored(tmp_path) if message != "chatter"]
    assert of_parent == ["parent before", "parent after"]
    children = [path for path in tmp_path.iterdir() if path.is_dir()]
    found = [message for child in children for message in stored(child)]
    assert sorted(found) == sorted(f"worker {worker} record {number}" for worker in range(8) for number in range(50))
    sources = {status.source for status in read_status(tmp_path)}
    assert len(sources) == len(children) + 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_of_multiprocessing_loses_nothing_at_its_end(tmp_path: Path) -> None:
    run(
        """
        child = multiprocessing.get_context("fork").Process(target=lambda: log.info("from the child"))
        child.start()
        child.join()
        assert child.exitcode == 0
        """,
        tmp_path,
    )
    assert stored(tmp_path / "1") == ["from the child"]


def test_a_child_that_logs_nothing_opens_nothing_and_leaves_the_parent_alone(tmp_path: Path) -> None:
    run("if os.fork() == 0: sys.exit()\nos.wait()\nlog.info('parent')", tmp_path)
    assert stored(tmp_path) == ["parent"]
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


@pytest.mark.parametrize("audit", [False, True])
def test_a_child_that_cannot_have_a_spool_raises_for_audit_only(tmp_path: Path, audit: bool) -> None:
    program = """
        if os.fork() == 0:
            handler._directory = handler._directory / "spool.db"
            try:
                log.info("nowhere to go")
            except ConfigError:
                os._exit(3)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
        """
    done = run(program, tmp_path, *(["audit"] if audit else []))
    assert done.stdout.strip() == ("3" if audit else "0")
    assert ("--- Logging error ---" in done.stderr) is not audit


def test_ordinary_calls_never_wait_and_every_drop_is_counted_and_told(
    tmp_path: Path, log: logging.Logger, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "_REPORT_EVERY", 0.0)

    def refused_of(count: int) -> int:
        before = handler.status().refused
        for _ in range(count):
            log.info("x" * 10_000)
        return handler.status().refused - before

    handler = KafkaHandler(NOWHERE, "topic", tmp_path, max_spool=1 << 20, close_timeout=0)
    log.addHandler(handler)
    # Neither frees itself: the spool without a broker, and the queue without room in the spool.
    wait_until(lambda: refused_of(100) > 0 and "holds" in caplog.text, "a full spool and the reason", timeout=60)
    wait_until(lambda: refused_of(100) > 0, "a full queue", timeout=60)
    assert refused_of(100) == 100
    status = handler.status()
    assert status.held <= 1 << 20
    wait_until(lambda: "records were refused" in caplog.text, "the report", timeout=60)
    handler.close()
    log.removeHandler(handler)
    (left,) = read_status(tmp_path)
    assert left.refused >= status.refused
    assert left.accepted == left.pending == len(stored(tmp_path))


def test_what_a_close_refuses_is_reported(
    tmp_path: Path, log: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, max_spool=1 << 20, close_timeout=0)
    log.addHandler(handler)
    for _ in range(3_000):
        log.info("x" * 1_000)
    handler.close()
    log.removeHandler(handler)
    (left,) = read_status(tmp_path)
    assert left.refused > 0
    assert f"({left.refused} in all)" in caplog.text


def test_calls_that_wait_for_room_are_reported(
    tmp_path: Path, log: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, max_spool=1 << 20, close_timeout=0, on_full="block")
    log.addHandler(handler)

    def write() -> None:
        with suppress(NotShippedError):
            for _ in range(3_000):
                log.info("x" * 10_000)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    wait_until(
        lambda: "log calls wait until records can be stored (1 now): the spool" in caplog.text, "the report", timeout=60
    )
    handler.close()
    writer.join()
    log.removeHandler(handler)


def test_a_close_does_not_pause_for_each_block_that_it_refuses(
    tmp_path: Path, log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, max_spool=1 << 20, close_timeout=0)
    log.addHandler(handler)
    for _ in range(1_000):
        log.info("x" * 10_000)
    wait_until(lambda: handler.status().trouble.startswith("the spool"), "a full spool", timeout=60)
    stopping, pauses, sleep = handler._parts.writer._stop, [], time.sleep  # type: ignore[union-attr]

    def counted(seconds: float) -> None:
        if seconds and stopping.is_set():
            pauses.append(seconds)
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", counted)
    handler.close()
    assert handler.status().refused > 10 * BLOCK_BYTES / 10_000
    # The writer may have been about to pause when the close began.
    assert len(pauses) <= 1


@pytest.mark.timeout(120)
@pytest.mark.parametrize("audit", [False, True])
def test_a_record_that_no_empty_spool_takes_is_refused_and_holds_up_no_other(
    tmp_path: Path, log: logging.Logger, audit: bool
) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, max_spool=1 << 20, close_timeout=0, audit=audit)
    log.addHandler(handler)
    with pytest.raises(NotShippedError, match="the maximum is") if audit else nullcontext():
        log.info("x" * (1 << 20))
    log.info("after")
    assert handler.status().refused == 1
    handler.close()
    log.removeHandler(handler)
    assert stored(tmp_path) == ["after"]


@pytest.mark.timeout(120)
def test_a_large_record_behind_many_small_ones_gets_a_block_of_its_own(tmp_path: Path, log: logging.Logger) -> None:
    """Together they are more than the spool ever holds."""
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, max_spool=1 << 20, close_timeout=0)
    log.addHandler(handler)
    # One look of the writer finds all of them.
    with handler._parts.queue._lock:  # type: ignore[union-attr]
        for size in [1_000] * 400 + [800_000]:
            log.info("x" * size)
    wait_until(lambda: handler.status().accepted == 400, "the small ones", timeout=60)


def test_a_spool_that_breaks_under_a_running_handler_is_in_its_status(tmp_path: Path, log: logging.Logger) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, close_timeout=0)
    log.addHandler(handler)
    parts = handler._parts
    assert parts is not None
    with parts.spool._file.transaction():
        # Where the next block is to stand.
        parts.spool._file._writer.execute("INSERT INTO blocks VALUES (1, 'x', 1, 1, 'x')")

    def trouble() -> bool:
        log.info("x")
        return bool(handler.status().refused)

    wait_until(trouble, "a refusal", timeout=60)
    assert "cannot be read" in handler.status().trouble


def test_audit_that_raises_says_so_at_the_call(tmp_path: Path, log: logging.Logger) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, audit=True, on_full="raise", max_spool=1 << 20, close_timeout=0)
    log.addHandler(handler)
    taken = 0
    with pytest.raises(NotShippedError, match="of 1048576"):  # noqa: PT012 - the call that fails is not known before
        while True:
            log.info("%d" + "x" * 50_000, taken)
            taken += 1
    with pytest.raises(NotShippedError):
        log.info("y" * 50_000)
    assert handler.status().refused == 2
    handler.close()
    log.removeHandler(handler)
    assert len(stored(tmp_path)) == taken


def test_audit_that_blocks_waits_and_a_close_frees_it(tmp_path: Path, log: logging.Logger) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, audit=True, max_spool=1 << 20, close_timeout=0)
    log.addHandler(handler)
    taken, refused = [], []

    def fill() -> None:
        try:
            while True:
                log.info("x" * 50_000)
                taken.append(1)
        except NotShippedError as error:
            refused.append(error)

    caller = threading.Thread(target=fill, daemon=True)
    caller.start()
    wait_until(lambda: handler.status().trouble.startswith("the spool"), "a full spool", timeout=60)
    assert not refused
    handler.close()
    caller.join(60)
    assert len(refused) == 1
    log.removeHandler(handler)
    assert len(stored(tmp_path)) == len(taken)


def test_a_flush_that_ends_before_the_spool_is_written_says_so(tmp_path: Path, log: logging.Logger) -> None:
    """Nothing waits for the brokers then, and yet nothing is acknowledged."""
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, close_timeout=0)
    log.addHandler(handler)
    assert handler.flush(60)
    with closing(sqlite3.connect(tmp_path / DATABASE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        log.info("queued")
        assert not handler.flush(0.1)
        assert handler.status().pending == 0
        other.execute("ROLLBACK")
    handler.close()
    assert stored(tmp_path) == ["queued"]


def test_a_clock_that_is_set_back_changes_no_order(tmp_path: Path, log: logging.Logger) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, close_timeout=0)
    log.addHandler(handler)
    for created in (2_000_000_000.0, 1_000_000_000.0, 1_500_000_000.0):
        record = log.makeRecord("app", logging.INFO, "", 0, "at %d", (created,), None)
        record.created = created
        log.handle(record)
    handler.close()
    assert stored(tmp_path) == ["at 2000000000", "at 1000000000", "at 1500000000"]


@pytest.mark.parametrize("name", ["confluent_kafka", "kafka.conn", "aiokafka", "brokernat.shipping.sender"])
def test_what_shipping_and_kafka_clients_log_is_not_shipped(tmp_path: Path, name: str) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, close_timeout=0)
    handler.handle(logging.makeLogRecord({"name": name, "msg": "feedback"}))
    handler.handle(logging.makeLogRecord({"name": "kafka_orders", "msg": "application"}))
    handler.close()
    assert stored(tmp_path) == ["application"]


@pytest.mark.parametrize("part", ["writer", "sender"])
def test_what_is_logged_in_a_thread_of_shipping_is_not_taken(tmp_path: Path, log: logging.Logger, part: str) -> None:
    """A destructor of the application may run there, and an audit call would wait for itself."""
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, close_timeout=0)
    log.addHandler(handler)
    parts = handler._parts
    assert parts is not None
    ours = getattr(parts, part)
    wait_until(lambda: ours.ident is not None, "the thread", timeout=60)
    ours.ident = threading.get_ident()
    log.info("from a destructor")
    assert parts.queue.offered == 0


def test_a_second_process_is_refused_in_words(tmp_path: Path) -> None:
    handler = KafkaHandler(NOWHERE, "topic", tmp_path, close_timeout=0)
    with pytest.raises(SpoolBusyError, match=str(os.getpid())):
        KafkaHandler(NOWHERE, "topic", tmp_path)
    shared = [KafkaHandler(NOWHERE, "topic", tmp_path / "many", shared_spool=True, close_timeout=0) for _ in range(2)]
    assert [one.status().directory.name for one in shared] == ["1", "2"]
    for one in (handler, *shared):
        one.close()


@pytest.mark.parametrize(("audit", "on_full"), [(True, "drop"), (False, "raise")])
def test_policies_that_promise_nothing_are_refused(tmp_path: Path, audit: bool, on_full: str) -> None:
    with pytest.raises(ValueError, match=f"on_full={on_full} cannot be combined with audit={audit}"):
        KafkaHandler(NOWHERE, "topic", tmp_path, audit=audit, on_full=on_full)


def test_a_property_that_librdkafka_refuses_is_said_and_the_spool_is_free(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.such\.property"):
        KafkaHandler(NOWHERE, "topic", tmp_path, producer={"no.such.property": 1})
    KafkaHandler(NOWHERE, "topic", tmp_path, close_timeout=0).close()


def test_the_handler_can_be_made_by_dictconfig(tmp_path: Path) -> None:
    (tmp_path / "brokernat.yaml").write_text("clusters:\n  hq:\n    bootstrap_servers: 127.0.0.1:1\n")
    program = f"""
    import logging.config
    logging.config.dictConfig({{
        "version": 1,
        "handlers": {{"kafka": {{
            "class": "brokernat.shipping.KafkaHandler", "cluster": "hq", "topic": "audit", "audit": True,
            "spool": {str(tmp_path / "spool")!r}, "config": {str(tmp_path / "brokernat.yaml")!r}, "close_timeout": 0,
        }}}},
        "root": {{"level": "INFO", "handlers": ["kafka"]}},
    }})
    logging.getLogger("orders").info("paid")
    """
    run(program, tmp_path / "other")
    assert stored(tmp_path / "spool") == ["paid"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_logging_is_configured_anew_waits_for_no_one_who_waits_for_it(tmp_path: Path) -> None:
    """A configuration holds the lock of `logging` while it closes and makes handlers, and a fork takes it too."""
    run(
        """
        forking, looked = threading.Event(), threading.Event()
        os.register_at_fork(before=forking.set)
        def configure():
            with logging._lock:
                looked.set()
                forking.wait()
                time.sleep(0.5)
                handler.close()
        thread = threading.Thread(target=configure, daemon=True)
        thread.start()
        looked.wait()
        if os.fork() == 0: os._exit(0)
        assert os.wait()[1] == 0
        thread.join(60)
        assert not thread.is_alive()
        """,
        tmp_path,
    )


def test_a_child_of_a_closed_handler_opens_nothing_and_closes_nothing(tmp_path: Path) -> None:
    """What the handler had open is closed, and the numbers of its files may be those of others by now."""
    done = run(
        """
        handler.close()
        others = [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
        if os.fork() == 0:
            for other in others: os.fstat(other)
            try: log.info("too late")
            except Exception as error: print(error, flush=True)
            os._exit(0)
        assert os.wait()[1] == 0
        """,
        tmp_path,
        "audit",
    )
    assert done.stdout.strip() == "the record was not accepted: the handler was closed before the fork"
    assert "Bad file descriptor" not in done.stderr
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_a_record_logged_by_a_signal_handler_is_taken(tmp_path: Path) -> None:
    run(
        """
        import signal
        signal.signal(signal.SIGALRM, lambda *_: log.info("alarm"))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for number in range(3000): log.info("%d", number)
        signal.setitimer(signal.ITIMER_REAL, 0)
        """,
        tmp_path,
    )
    found = stored(tmp_path)
    assert [message for message in found if message != "alarm"] == [str(number) for number in range(3000)]
    assert "alarm" in found
