from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from brokernat.shipping import spool as module
from brokernat.shipping.block import Block, Destination, Rejection
from brokernat.shipping.errors import OtherDestinationError, SpoolBusyError, SpoolDamagedError, SpoolFullError
from brokernat.shipping.folder import DATABASE
from brokernat.shipping.positions import FilePosition
from brokernat.shipping.spool import Numbering, Spool, numbering, open_numbered
from brokernat.testbed.place import wait_until

EVERYTHING = 1 << 40
AUDIT, NOSUCH = Destination("hq", "audit"), Destination("hq", "nosuch")


def bodies(*messages: object) -> list[bytes]:
    return [json.dumps({"message": message})[1:].encode() for message in messages]


def messages(blocks: Sequence[Block]) -> list[object]:
    return [json.loads(record)["message"] for block in blocks for record in block.records]


def crash(spool: Spool, to: Path) -> Path:
    """The folder as a kill at this moment leaves it."""
    shutil.copytree(spool.directory, to)
    return to


def test_records_are_numbered_without_a_gap_through_restarts(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append(bodies(*"ab"))
    source = spool.source
    spool.close()
    spool = Spool(tmp_path / "spool")
    spool.append(bodies("c"))
    blocks = spool.blocks_after(0, EVERYTHING)
    assert messages(blocks) == ["a", "b", "c"]
    assert [number for block in blocks for number, _ in block.numbered()] == [1, 2, 3]
    assert {block.source for block in blocks} == {source}
    spool.close()


def test_a_kill_loses_nothing_that_was_appended(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for number in range(20):
        spool.append(bodies(number))
    again = Spool(crash(spool, tmp_path / "killed"))
    assert messages(again.blocks_after(0, EVERYTHING)) == list(range(20))
    assert again.source == spool.source
    again.append(bodies("next"))
    assert again.blocks_after(20, EVERYTHING)[0].first == 21


def test_the_cluster_that_records_go_to_is_known_after_a_kill_also_before_it_has_answered(tmp_path: Path) -> None:
    """Otherwise the records that wait could go to another cluster of that name."""
    spool = Spool(tmp_path / "spool", destination=AUDIT)
    spool.append(bodies("sent"))
    spool.cluster_id = "first"
    spool.settle()
    again = Spool(crash(spool, tmp_path / "killed"), destination=AUDIT)
    assert (again.cluster_id, again.pending) == ("first", 1)


def test_only_what_is_settled_leaves_and_the_account_adds_up(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for number in range(3):
        spool.append(bodies(number, -number))
    first, second, third = spool.blocks_after(0, EVERYTHING)
    spool.settled(first)
    spool.settled(third, [Rejection(third.source, 6, "MSG_SIZE_TOO_LARGE", third.records[1])])
    spool.settle(refused=5)
    assert spool.counts == {"accepted": 6, "acknowledged": 3, "rejected": 1, "refused": 5}
    assert spool.pending == 2
    again = Spool(crash(spool, tmp_path / "killed"))
    assert again.blocks_after(0, EVERYTHING) == [second]
    assert (again.counts, again.pending) == (spool.counts, 2)
    assert again.held == spool.held == second.size + len(third.records[1]) + 1


def test_a_full_spool_takes_nothing_and_uses_no_number(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", limit=1 << 20)
    big = bodies("x" * 300_000)
    for _ in range(3):
        spool.append(big)
    with pytest.raises(SpoolFullError, match="of 1048576"):
        spool.append(big)
    assert spool.counts["accepted"] == 3
    spool.settled(spool.blocks_after(0, 1)[0])
    assert (block := spool.append(big)) is not None
    assert block.first == 4


def test_room_comes_back_exactly_however_often_it_runs_full(tmp_path: Path) -> None:
    """The counters behind the limit only grow; a limit that drifted would stall the writer in the end."""
    spool = Spool(tmp_path / "spool", limit=1 << 20)
    position = 0
    for _ in range(30):
        try:
            while True:
                spool.append(bodies("x" * 200_000, "y"))
        except SpoolFullError:
            for block in spool.blocks_after(position, EVERYTHING):
                rejected = [Rejection(block.source, block.first + 1, "no", block.records[1])] if position % 7 else []
                spool.settled(block, rejected)
                position = block.block_id
        assert 0 <= spool.held <= spool.limit
    spool.settle()
    kept = spool._file._writer.execute("SELECT sum(length(record) + 1) FROM rejected").fetchone()[0]
    assert spool.held == kept
    assert spool.pending == 0


def test_a_disk_that_takes_no_more_is_a_full_spool_and_no_crash(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append(bodies("before"))
    pages = spool._file._writer.execute("PRAGMA page_count").fetchone()[0]
    spool._file._writer.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(SpoolFullError, match="database or disk is full"):
        spool.append(bodies("x" * 100_000))
    spool._file._writer.execute("PRAGMA max_page_count=1000000")
    spool.append(bodies("after"))
    assert messages(spool.blocks_after(0, EVERYTHING)) == ["before", "after"]
    assert [block.first for block in spool.blocks_after(0, EVERYTHING)] == [1, 2]


def test_a_last_write_that_is_cut_takes_no_earlier_one_with_it(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", durable=True)
    spool.append(bodies("first"))
    spool.append(bodies("second"))
    log = spool.directory / f"{DATABASE}-wal"
    before = log.stat().st_size
    spool.append(bodies("last"))
    whole = log.read_bytes()
    assert len(whole) > before
    counted = []
    # A frame of SQLite's log is 24 bytes and a page. Every byte is a matter for `tests/soak`.
    frames = range(before, len(whole) + 1, 24 + 4096)
    near = {size + step for size in frames for step in (-1, 0, 1, 23, 24, 25, 1000)}
    for size in sorted(size for size in near if before <= size <= len(whole)):
        copy = tmp_path / "cut"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        shutil.copy(spool.directory / DATABASE, copy)
        (copy / f"{DATABASE}-wal").write_bytes(whole[:size])
        again = Spool(copy)
        found = messages(again.blocks_after(0, EVERYTHING))
        assert found in (["first", "second"], ["first", "second", "last"])
        block = again.append(bodies("next"))
        assert block is not None
        assert block.first == len(found) + 1
        assert again.counts["accepted"] == len(found) + 1
        counted.append(len(found))
        again.close()
    assert counted[0] == 2
    assert counted[-1] == 3


@pytest.mark.parametrize("durable", [False, True])
def test_numbers_are_not_given_again_after_a_power_cut(
    durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an fsync for each commit the last ones may be undone, and have been sent already."""
    spool = Spool(tmp_path / "spool", durable=durable)
    spool.append(bodies("sent before the power went"))
    folder = crash(spool, tmp_path / "cut")
    monkeypatch.setattr(module, "boot_id", lambda: "another start of the machine")
    again = Spool(folder, durable=durable)
    assert (again.source == spool.source) is durable
    block = again.append(bodies("new"))
    assert block is not None
    assert block.first == (2 if durable else 1)
    old, new = again.blocks_after(0, EVERYTHING)
    assert (old.source, old.first, new.source) == (spool.source, 1, again.source)


def test_a_spool_that_was_closed_goes_on_after_a_restart_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append(bodies("a"))
    spool.close()
    monkeypatch.setattr(module, "boot_id", lambda: "another start of the machine")
    assert Spool(tmp_path / "spool").source == spool.source


def test_positions_are_of_the_same_transaction_as_their_records(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", limit=1 << 20)
    here, there = FilePosition(1, 2, "/a", 10, b"start", b"before", 3), FilePosition(1, 2, "/b", 20)
    spool.append(bodies("a"), [here])
    with pytest.raises(SpoolFullError):
        spool.append(bodies("x" * (2 << 20)), [there])
    assert Spool(crash(spool, tmp_path / "killed")).positions() == [here]
    spool.append([], [there])
    assert spool.positions() == [there]
    spool.append([], [], [there])
    assert spool.positions() == []


def test_a_sender_that_keeps_up_reads_no_disk(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append(bodies("a"))
    spool._file._reader.close()
    assert messages(spool.blocks_after(0, EVERYTHING)) == ["a"]


def test_new_blocks_in_memory_are_bounded_and_the_rest_comes_from_the_disk(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for number in range(40):
        spool.append(bodies(str(number) + "x" * 500_000))
    assert spool._cache.held <= 8 << 20
    position, found = 0, []
    while blocks := spool.blocks_after(position, 3 << 20):
        position = blocks[-1].block_id
        found += [int(str(message).rstrip("x")) for message in messages(blocks)]
    assert found == list(range(40))


def test_a_look_at_the_status_is_no_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ship status` has the lock shared for a moment; who starts then waits for the moment to pass."""
    Spool(tmp_path / "spool").close()
    with (tmp_path / "spool" / "lock").open() as look:
        fcntl.flock(look, fcntl.LOCK_SH)
        monkeypatch.setattr("time.sleep", lambda seconds: fcntl.flock(look, fcntl.LOCK_UN))
        Spool(tmp_path / "spool").close()


def test_records_of_one_topic_never_go_to_another(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    spool = Spool(folder, destination=NOSUCH)
    spool.append(bodies(*"ab"))
    spool.close()
    for other in (AUDIT, Destination("hq2", "nosuch")):
        with pytest.raises(OtherDestinationError) as caught:
            Spool(folder, destination=other)
        held = "has 2 records for topic `nosuch` of cluster `hq`"
        assert caught.value.message == f"the spool {folder} {held}, but was opened for {other}"
        to = f"--cluster {other.cluster} --topic {other.topic} --spool {folder}"
        assert f"brokernat ship --once --redirect {to}`" in str(caught.value.hint)
        assert "brokernat ship --once --cluster hq --topic nosuch" in str(caught.value.hint)
    again = Spool(folder, destination=NOSUCH)
    assert (again.pending, again.source, again.destination) == (2, spool.source, NOSUCH)
    again.close()


def test_records_may_be_redirected_in_so_many_words(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", destination=NOSUCH)
    spool.append(bodies("a"))
    spool.close()
    again = Spool(tmp_path / "spool", destination=AUDIT, redirect=True)
    again.append(bodies("b"))
    old, new = again.blocks_after(0, EVERYTHING)
    # What is new has a source of its own: a reader of the new topic would miss the numbers that went to the old one.
    assert (old.source, old.first, new.source, new.first) == (spool.source, 1, again.source, 1)
    assert old.source != new.source
    again.close()
    with pytest.raises(OtherDestinationError):
        Spool(tmp_path / "spool", destination=NOSUCH)


def test_an_empty_spool_may_go_to_another_topic(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", destination=NOSUCH)
    block = spool.append(bodies("a"), [FilePosition(1, 2, "/a", 10)])
    assert block is not None
    spool.settled(block)
    spool.close()
    again = Spool(tmp_path / "spool", destination=AUDIT)
    assert again.source != spool.source
    assert again.positions() == [FilePosition(1, 2, "/a", 10)]
    again.close()


def test_the_cluster_s_id_does_not_follow_a_spool_to_another_destination(tmp_path: Path) -> None:
    """Records that wait for the new one would be refused by the id of the old one."""
    for destination in (NOSUCH, Destination("hq2", "audit")):
        spool = Spool(tmp_path / "spool", destination=destination)
        assert spool.cluster_id == ""
        spool.cluster_id = f"the id of {destination.cluster}"
        spool.close()
    again = Spool(tmp_path / "spool", destination=Destination("hq2", "audit"))
    assert again.cluster_id == "the id of hq2"
    again.close()


def test_a_spool_of_a_version_that_noted_no_topic_gets_the_first_one_and_it_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append(bodies("a"))
    spool.close()
    adopted = Spool(tmp_path / "spool", destination=AUDIT)
    assert (adopted.source, adopted.pending, adopted.destination) == (spool.source, 1, AUDIT)
    wait_until(lambda: "of a version that stored no destination" in caplog.text, "the warning", timeout=60)
    adopted.close()
    with pytest.raises(OtherDestinationError):
        Spool(tmp_path / "spool", destination=NOSUCH)


def test_a_numbered_spool_for_another_topic_is_left_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = open_numbered(tmp_path, destination=NOSUCH)
    spool.append(bodies("a"))
    spool.close()
    other = open_numbered(tmp_path, destination=AUDIT)
    assert other.directory.name == "2"
    other.close()
    wait_until(lambda: "1 record for topic `nosuch`" in caplog.text, "the log", timeout=60)
    assert open_numbered(tmp_path, destination=NOSUCH).source == spool.source


def test_two_processes_on_one_spool_are_told(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    with pytest.raises(SpoolBusyError, match=f"in use by process {os.getpid()}"):
        Spool(tmp_path)
    attempt = f"from brokernat.shipping import Spool; Spool({str(tmp_path)!r})"
    other = subprocess.run([sys.executable, "-c", attempt], capture_output=True, text=True, check=False)
    assert "SpoolBusyError" in other.stderr
    spool.close()
    Spool(tmp_path).close()


def test_numbered_spools_are_taken_from_the_first_free_one_on(tmp_path: Path) -> None:
    first, second = open_numbered(tmp_path), open_numbered(tmp_path)
    assert [first.directory.name, second.directory.name] == ["1", "2"]
    assert first.source != second.source
    first.close()
    assert open_numbered(tmp_path).directory == first.directory


@pytest.mark.parametrize("content", [b"not a database at all, and long enough to be looked at" * 10, b"\0" * 5000])
def test_a_damaged_spool_is_said_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DATABASE).write_bytes(content)
    with pytest.raises(SpoolDamagedError, match="cannot be read") as caught:
        Spool(tmp_path)
    assert ".recover" in str(caught.value.hint)
    assert (tmp_path / DATABASE).read_bytes() == content


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool._file._writer.execute("PRAGMA user_version=99")
    spool.close()
    with pytest.raises(SpoolDamagedError, match="format 99, this version reads 1"):
        Spool(tmp_path)


def test_the_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    Spool(tmp_path / "spool").close()
    assert (tmp_path / "spool").stat().st_mode & 0o077 == 0


KNOWN = {"source": "app.1", "next": 7}


@pytest.mark.parametrize(
    "left",
    [
        {"closed": 1, "durable": 0, "boot": "earlier"},
        {"closed": 0, "durable": 1, "boot": "earlier"},
        {"closed": 0, "durable": 0, "boot": "now"},
    ],
    ids=["closed", "durable", "the same start of the machine"],
)
def test_a_spool_of_which_nothing_can_be_undone_goes_on(left: dict[str, object]) -> None:
    assert numbering(KNOWN | left, "now") == Numbering("app.1", 7)


@pytest.mark.parametrize("left", [{}, KNOWN | {"closed": 0, "durable": 0, "boot": "earlier"}], ids=["new", "power cut"])
def test_where_numbers_may_be_missing_another_source_begins(left: dict[str, object]) -> None:
    first, second = numbering(left, "now"), numbering(left, "now")
    assert first.source.startswith(f"{socket.gethostname()}.")
    assert (first.next, second.next) == (1, 1)
    assert first.source != second.source
