"""`brokernat pipeline replay`: dead letters of three causes, one of them mended; kills in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from collections.abc import Sequence

import pytest
from tests.conftest import Soak
from tests.integration.pipelines.conftest import CUSTOMERS, PROGRAM, TIMEOUT, Workplace, order, sources

from brokernat.testbed import Record
from brokernat.testbed.place import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.spark]

NEW_CUSTOMERS = CUSTOMERS + "c99,Late,retail\n"


def replayed(place: Workplace, *more: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(place.run("replay", "--format", "json", *more).stdout)
    return {name: found[name] for name in ("selected", "before", "tags", "filtered", "still")}


def broken(number: int) -> Sequence[bytes | None]:
    """Dead letters of three causes, of each so many."""
    unknown = [order(10_000 + n, customer_id="c99") for n in range(number)]
    return [*unknown, *(order(n, amount="x") for n in range(number)), *([b"{"] * number)]


def again(tags: Sequence[Record]) -> list[Record]:
    return [record for record in tags if record.header("brokernat-src-replayed")]


def kill_a_replay(place: Workplace, tags: int = 0) -> bool:
    """Starts a replay and kills it when a chunk is begun and so many more tags came out; False where it has ended."""

    def written() -> int:
        return sum(place.world.local.end_offsets(place.tags).values())

    wanted = written() + tags
    note = place.checkpoint / "_brokernat" / "replay" / "begun.json"
    environ = {**os.environ, "XDG_STATE_HOME": str(place.folder)}
    words = [*PROGRAM, *place.words("replay")]
    with (place.folder / "replay.log").open("ab") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, env=environ)
    wait_until(
        lambda: process.poll() is not None or (note.exists() and written() >= wanted), "a chunk", timeout=TIMEOUT
    )
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return note.exists()


def test_exactly_what_is_mended_comes_out_once_also_with_a_kill_in_the_middle(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(workplace.folder))
    workplace.write([order(1), *broken(5)], headers=(("trace", b"t"),))
    workplace.drain()
    # A batch that was run again leaves the same dead letter twice.
    workplace.world.local.write(workplace.dead, workplace.read_dead()[:3])
    still = {"MissingReference": 5, "WrongType": 5, "MalformedValue": 5}
    nothing = {"selected": 15, "before": 0, "tags": 0, "filtered": 0, "still": still}
    assert replayed(workplace) == nothing

    workplace.customers(NEW_CUSTOMERS)
    tried = replayed(workplace, "--cause", "MissingReference", "--dry-run")
    assert tried == {"selected": 5, "before": 0, "tags": 5, "filtered": 0, "still": {}}
    assert again(workplace.read_tags()) == []

    assert kill_a_replay(workplace), "the replay has ended before it was killed"
    came_out = len(again(workplace.read_tags()))
    rest = {"WrongType": 5, "MalformedValue": 5}
    expected = {"selected": 15, "before": came_out, "tags": 5 - came_out, "filtered": 0, "still": rest}
    assert replayed(workplace) == expected

    tags = again(workplace.read_tags())
    assert Counter(json.loads(tag.value or b"")["order_id"] for tag in tags) == {f"o{10_000 + n}": 1 for n in range(5)}
    dead = workplace.read_dead()
    letters = dict(zip(sources(dead), dead, strict=True))
    for tag, source in zip(tags, sources(tags), strict=True):
        assert json.loads(tag.value or b"")["name"] == "Late"
        assert tag.headers[0] == ("trace", b"t")
        assert tag.header("brokernat-src-timestamp") == letters[source].header("brokernat-src-timestamp")
        assert tag.header("__connect.errors.stage") is None
    assert replayed(workplace) == {"selected": 15, "before": 5, "tags": 0, "filtered": 0, "still": rest}
    # A dead letter and its tag are one delivery.
    partitions = json.loads(workplace.run("reconcile", "--format", "json").stdout)["partitions"]
    assert [sum(p[name] for p in partitions) for name in ("records", "delivered", "missing")] == [16, 16, 0]
    assert sum(p["duplicates"] for p in partitions) == 3


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_killed_at_random_moments(
    workplace: Workplace, soak: Soak, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(workplace.folder))
    workplace.write(broken(3334))
    workplace.drain()
    workplace.customers(NEW_CUSTOMERS)
    dice = soak.random("kill a replay")
    came_out: list[int] = []
    for number in soak.rounds():
        # The first as soon as a chunk is begun, the others when some of it has come out.
        if not kill_a_replay(workplace, dice.randint(1, 500) if number else 0):
            break
        came_out.append(len(again(workplace.read_tags())))
    assert came_out, "no replay was killed"
    replayed(workplace)
    name = "__connect.errors.exception.class.name"
    mended = [r for r in workplace.read_dead() if r.header(name) == b"brokernat.MissingReference"]
    assert Counter(sources(again(workplace.read_tags()))) == Counter(sources(mended))
    assert len(mended) == 3334
    with capsys.disabled():
        print(f"\n{len(came_out)} kills, after which so many had come out: {came_out}", end="")  # noqa: T201
