"""Shipping at length: 200 kills while brokers come and go, ten minutes without brokers, a write torn at every byte."""

import json
import logging
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import Soak
from tests.integration.shipping.reading_back import arrived
from tests.integration.shipping.rounds import Stage, restarting_brokers

from brokernat.shipping import KafkaHandler, NotShippedError, Spool
from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol, RunningCluster
from brokernat.testbed.place import wait_until

pytestmark = pytest.mark.soak

KILLS = 200
OUTAGE = 600
GROWTH = 64
"""Megabytes: the queue, the blocks on their way, what librdkafka holds of them."""
_RESERVE = 300


def resident() -> float:
    """Megabytes of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with LoopbackWorld(hq=ClusterOptions(protocol=Protocol.SASL_PLAINTEXT), local=None) as world:
        yield world.hq


@pytest.mark.timeout(0)
def test_nothing_is_lost_in_two_hundred_kills(
    cluster: RunningCluster, tmp_path: Path, soak: Soak, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.create_topic("kills")
    stage, dice = Stage(cluster, "kills", tmp_path), soak.random("shipping")
    with restarting_brokers(cluster, soak.random("brokers")) as restarted:
        for _ in soak.rounds():
            if stage.kills >= KILLS:
                break
            dice.choice([stage.kill_the_shipper, stage.kill_the_auditor])(dice)
    found = stage.drain()
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{stage.kills} kills, {len(restarted)} brokers restarted, {len(stage.promised)} records promised, "
            f"{sum(found.messages.values())} arrived, {found.duplicates} duplicates"
        )
    assert found.gaps() == {}
    assert stage.promised - set(found.messages) == set()
    assert [message for message, count in found.messages.items() if count > 1] == []


@pytest.mark.timeout(0)
@pytest.mark.parametrize(("audit", "on_full"), [(False, "drop"), (True, "block"), (True, "raise")])
def test_ten_minutes_without_brokers_and_a_small_spool(
    cluster: RunningCluster,
    tmp_path: Path,
    soak: Soak,
    audit: bool,
    on_full: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not soak.fits(OUTAGE + _RESERVE):
        pytest.skip("no time for an outage of ten minutes")
    topic = f"outage-{on_full}"
    cluster.create_topic(topic)
    handler = KafkaHandler(
        cluster.cluster, topic, tmp_path, audit=audit, on_full=on_full, max_spool=8 << 20, close_timeout=120
    )
    log = logging.getLogger(topic)
    log.propagate = False
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    # What an audit call has promised; the others are too many to keep beside a figure of the memory.
    promised: set[str] = set()
    returned = raised = 0
    over = threading.Event()

    def work() -> None:
        nonlocal returned, raised
        while not over.wait(0.001):
            message = f"{returned + raised} " + "x" * 200
            try:
                log.info(message)
                returned += 1
                if audit:
                    promised.add(message)
            except NotShippedError:
                raised += 1

    for node in cluster.nodes:
        cluster.kill(node)
    worker = threading.Thread(target=work, daemon=True)
    start = most = resident()
    worker.start()
    end = time.monotonic() + OUTAGE
    while time.monotonic() < end:
        time.sleep(1)
        most = max(most, resident())
    status = handler.status()
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{on_full}: {OUTAGE} s without brokers, {status.accepted} records in the spool ({status.held} bytes), "
            f"{status.refused} refused, memory {start:.0f} MB and {most - start:.0f} MB more"
        )
    assert most - start <= GROWTH
    assert status.held <= 8 << 20
    assert bool(status.refused) is (on_full != "block")
    starting = [threading.Thread(target=cluster.start, args=(node,)) for node in cluster.nodes]
    for thread in starting:
        thread.start()
    for thread in starting:
        thread.join()
    wait_until(lambda: handler.status().acknowledged > status.accepted, "deliveries", timeout=180)
    over.set()
    worker.join(60)
    assert handler.flush(180)
    status = handler.status()
    handler.close()
    log.removeHandler(handler)
    found = arrived(cluster, topic)
    assert (found.gaps(), status.pending) == ({}, 0)
    assert sum(found.messages.values()) == status.accepted
    assert status.accepted + status.refused == returned + raised
    if audit:
        assert set(found.messages) == promised


@pytest.mark.timeout(0)
def test_a_last_write_cut_at_every_byte_takes_no_earlier_one_with_it(tmp_path: Path, soak: Soak) -> None:
    def bodies(message: str) -> list[bytes]:
        return [json.dumps({"message": message})[1:].encode()]

    spool = Spool(tmp_path / "spool", durable=True)
    for message in ("first", "second"):
        spool.append(bodies(message))
    log = spool.directory / "spool.db-wal"
    before = log.stat().st_size
    spool.append(bodies("last"))
    whole = log.read_bytes()
    sizes = list(range(before, len(whole) + 1))
    soak.random("cut").shuffle(sizes)
    for _, size in zip(soak.rounds(), sizes, strict=False):
        copy = tmp_path / "cut"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        shutil.copy(spool.directory / "spool.db", copy)
        (copy / log.name).write_bytes(whole[:size])
        again = Spool(copy)
        found = [json.loads(r)["message"] for block in again.blocks_after(0, 1 << 40) for r in block.records]
        assert found in (["first", "second"], ["first", "second", "last"])
        assert again.counts["accepted"] == len(found)
        again.close()
