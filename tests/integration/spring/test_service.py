"""The Spring Boot service behind dead addresses: it fails as it was, and works with the agent and one more file."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.spring.service import (
    EXAMPLE,
    IMPATIENT,
    Service,
    audited,
    brokernat,
    build,
    new_users,
    not_sent,
    render,
    translated,
)

from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol
from brokernat.testbed.place import wait_until

CANARY = "canary-5d2e7a"
"""The password; it stands in the environment of the service and nowhere else."""
CREDENTIALS = {"HQ_USER": "app", "HQ_PASSWORD": CANARY}

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def world() -> Iterator[LoopbackWorld]:
    hq = ClusterOptions(protocol=Protocol.SASL_PLAINTEXT, password=CANARY)
    with LoopbackWorld(hq=hq, local=None) as running:
        yield running


@pytest.fixture(scope="module")
def service(world: LoopbackWorld, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """Of Spring Boot 2.6.15, with what `brokernat render spring` writes for this world beside it."""
    folder = tmp_path_factory.mktemp("spring")
    jar = build("boot-2", folder)
    text = (EXAMPLE / "brokernat.yaml").read_text()
    for node, number in zip(world.hq.nodes, (23, 24, 25), strict=True):
        text = text.replace(f"192.168.1.{number}:9092", str(world.hq.advertised[node]))
        text = text.replace(f"172.10.1.40:{9070 + number}", str(world.hq.reachable[node]))
    assert not re.search(r"192\.168|172\.10", text)
    (folder / "brokernat.yaml").write_text(text)
    render(folder, CREDENTIALS)
    world.hq.create_topic("audit")
    return Service(jar, folder, CREDENTIALS)


def test_without_the_agent_it_says_so_for_the_brokers_and_for_each_record(
    world: LoopbackWorld, service: Service
) -> None:
    users = new_users()
    log = service.audit(users, *IMPATIENT, agent=False)

    assert "Kafka version: 3.0.2" in log
    dead = "|".join(re.escape(str(endpoint)) for endpoint in world.hq.advertised.values())
    line = rf"Connection to node \d \(\S*?({dead})\) could not be established\. Broker may not be available\."
    assert re.search(line, log), log[-6000:]
    assert not_sent(log) == users
    assert audited(world.hq, users) == []


def test_with_the_agent_every_event_arrives_and_the_password_is_nowhere(world: LoopbackWorld, service: Service) -> None:
    users = new_users()
    with service.running("--spring.profiles.active=nat", agent=True) as running:
        running.tell(users[:1])
        wait_until(lambda: bool(audited(world.hq, users)), "the first event", timeout=120)
        shown = command_lines()
        running.tell(users[1:])
        log = running.end()

    assert audited(world.hq, users) == users
    assert not_sent(log) == []
    assert translated(log) <= {str(endpoint) for endpoint in world.hq.advertised.values()}
    assert translated(log)
    assert CANARY not in log + shown + "".join(path.read_text() for path in service.folder.glob("*.yaml"))


def test_what_the_service_writes_into_its_file_is_shipped_without_a_gap(world: LoopbackWorld, service: Service) -> None:
    world.hq.create_topic("audit-of-files")
    folder, users = service.folder / "logs", new_users()
    with service.running(
        "--spring.profiles.active=file", agent=False, environ={"AUDIT_FOLDER": str(folder)}
    ) as running:
        running.tell(users)
        running.end()

    brokernat(
        service.folder, CREDENTIALS, "ship", "--cluster", "hq", "--topic", "audit-of-files", "--spool", "spool",
        "--file", f"{folder}/audit.log*", "--from-beginning", "--once",
    )  # fmt: skip

    shipped = world.hq.read("audit-of-files")
    lines = [json.loads(json.loads(record.value or b"")["message"]) for record in shipped]
    assert sorted(line["user"] for line in lines) == users
    sequences = [(record.header("brokernat-seq") or b"").decode().rpartition("/")[2] for record in shipped]
    assert sorted(map(int, sequences)) == list(range(1, len(users) + 1))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = (EXAMPLE / "audit-ship.service").read_text()
    program = str(Path(sys.executable).with_name("brokernat"))
    (tmp_path / "audit-ship.service").write_text(unit.replace("/opt/brokernat/bin/brokernat", program))
    done = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / "audit-ship.service"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def command_lines() -> str:
    """Of every process of this machine, as `ps` shows them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((process / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(found)
