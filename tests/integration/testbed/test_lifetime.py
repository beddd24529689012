"""Worlds stand side by side, and none outlives the process that opened it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from brokernat.testbed import ClusterOptions, LoopbackWorld, running_worlds
from brokernat.testbed.kafka import speaks_kafka
from brokernat.testbed.keeper import members
from brokernat.testbed.place import connects, wait_until

pytestmark = pytest.mark.integration

_ONE = ClusterOptions(brokers=1)

# Opens a world and waits to be killed; in a process of its own, which prints where the world is.
_OWNER = """
import sys
from brokernat.testbed import ClusterOptions, LoopbackWorld
with LoopbackWorld(hq=ClusterOptions(brokers=1), local=None) as world:
    print(world.state, flush=True)
    sys.stdin.read()
"""


def claimable(name: str) -> bool:
    held = running_worlds.claim(name)
    if held is None:
        return False
    held.release()
    return True


def test_worlds_stand_side_by_side_and_end_apart() -> None:
    with LoopbackWorld(hq=_ONE, local=None) as first:
        with LoopbackWorld(hq=_ONE, local=None) as second:
            assert first.plan.name != second.plan.name
            assert {first.plan.name, second.plan.name} <= {found.name for found in running_worlds.list_running()}
            gone = second.state
        assert not gone.exists()
        assert not members(gone)
        assert speaks_kafka(first.hq.reachable[1], first.client, tls=False)
        first.gateway.stop()
        assert not connects(first.hq.reachable[1], first.client)
        first.gateway.start()
        assert speaks_kafka(first.hq.reachable[1], first.client, tls=False)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_an_owner_that_dies(number: signal.Signals) -> None:
    owner = subprocess.Popen([sys.executable, "-c", _OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with owner:
        assert owner.stdout is not None
        state = running_worlds.state_root() / owner.stdout.readline().strip().rpartition("/")[2]
        assert len(members(state)) == 2, "a broker and a gateway"
        owner.send_signal(number)
        owner.wait()
        wait_until(lambda: not state.exists(), "the end of the world", timeout=60)
    assert not members(state)
    # The keeper is the last to hold the claim.
    wait_until(lambda: claimable(state.name), "the claim", timeout=60)


def test_a_world_that_lost_owner_and_keeper_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Worlds of this test alone: another process that opens one would remove this one first.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    state = running_worlds.state_root() / f"lost-{tmp_path.name}-{os.getpid()}"
    (state / "hq").mkdir(parents=True)
    held = running_worlds.claim(state.name)
    assert held is not None
    # Holds the claim of the name, as each process of a world does.
    left = subprocess.Popen(
        ["sleep", "300"], env={**os.environ, "BROKERNAT_WORLD": str(state)}, pass_fds=[held.fileno()]
    )
    spared = subprocess.Popen(["sleep", "300"], env={**os.environ, "BROKERNAT_WORLD": f"{state}0"})
    held.close()
    with left, spared:
        running_worlds.remove_stale()
        assert left.wait() == -signal.SIGKILL
        assert spared.poll() is None
        spared.kill()
    assert not state.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces")
def test_a_world_is_not_abandoned_for_a_process_in_another_network(loopback_world: LoopbackWorld) -> None:
    program = """
from brokernat.testbed import running_worlds
running_worlds.remove_stale()
print(*[each.name for each in running_worlds.list_running()])
"""
    seen = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert loopback_world.plan.name in seen.stdout.split()
    assert loopback_world.hq.running(1)
    assert loopback_world.state.is_dir()


def test_a_world_with_an_owner_is_left_alone(loopback_world: LoopbackWorld) -> None:
    running_worlds.remove_stale()
    assert loopback_world.hq.running(1)
    assert loopback_world.state.is_dir()
