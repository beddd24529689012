"""`examples/audit-logs` as its README has it, on the loopback world."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.shipping.reading_back import arrived

from brokernat.config import load
from brokernat.shipping import read_status
from brokernat.testbed import LoopbackWorld
from brokernat.testbed.running_cluster import config_text

pytestmark = pytest.mark.integration

EXAMPLE = Path(__file__).parents[3] / "examples" / "audit-logs"


def test_what_the_service_calls_done_arrives(loopback_world: LoopbackWorld, tmp_path: Path) -> None:
    hq = loopback_world.hq
    hq.create_topic("audit")
    (tmp_path / "brokernat.yaml").write_text(config_text([hq]))
    spool, config = str(tmp_path / "spool"), str(tmp_path / "brokernat.yaml")
    command = [sys.executable, str(EXAMPLE / "service.py"), spool, config]
    actions = "alice opened the door\nbob closed the door\n"
    done = subprocess.run(command, input=actions, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "done: opened the door\ndone: closed the door\n"
    ship = [sys.executable, "-m", "brokernat", "ship", "--config", config, "--cluster", "hq"]
    subprocess.run([*ship, "--topic", "audit", "--spool", spool, "--once"], timeout=120, check=True)
    (status,) = read_status(tmp_path / "spool")
    assert (status.accepted, status.acknowledged) == (2, 2)
    records = arrived(hq, "audit").records[status.source]
    found = [(record["extra"]["user"], record["message"]) for _, record in sorted(records.items())]
    assert found == [("alice", "opened the door"), ("bob", "closed the door")]


def test_its_file_is_in_order() -> None:
    hq = load(EXAMPLE / "brokernat.yaml", environ={"HQ_USER": "me", "HQ_PASSWORD": "secret"}).cluster("hq")
    assert hq.address_map is not None
    assert "--spool /var/lib/brokernat/audit" in (EXAMPLE / "brokernat-ship.service").read_text()
