"""A disk that is really full: a small tmpfs in a mount namespace of its own, where the machine lets us have one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_UNSHARE = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]

PROGRAM = """
import json, logging, subprocess, sys, time
from pathlib import Path
from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.shipping import KafkaHandler, NotShippedError, Spool

disk, audit = Path(sys.argv[1]), sys.argv[2] == "audit"
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", disk], check=True)
nowhere = Cluster("nowhere", (Endpoint.parse("127.0.0.1:1"),))
handler = KafkaHandler(
    nowhere, "t", disk / "spool", audit=audit, on_full="raise" if audit else "drop", close_timeout=1
)
log = logging.getLogger("app")
log.propagate = False
log.setLevel(logging.INFO)
log.addHandler(handler)
returned = []

def say(message):
    try:
        log.info(message)
        returned.append(message)
    except NotShippedError as error:
        return str(error)

say("before")
handler.flush()
(disk / "filler").write_bytes(b"")
with (disk / "filler").open("ab", buffering=0) as filler:
    try:
        while filler.write(b"x" * 65536):
            pass
    except OSError:
        subprocess.run(["dd", "if=/dev/zero", f"of={disk}/rest", "bs=4096"], capture_output=True)
refused, deadline = [], time.monotonic() + 60
while not refused and time.monotonic() < deadline:
    reason = say("while it is full " + "y" * 100_000)
    refused += [reason] if reason else []
    status = handler.status()
    # The queue may have been full before the disk was found to be.
    if not audit and status.refused and "cannot be written" in status.trouble:
        refused.append(status.trouble)
(disk / "filler").unlink()
(disk / "rest").unlink()
while say("after") and time.monotonic() < deadline:
    pass
while "cannot be written" in handler.status().trouble and time.monotonic() < deadline:
    time.sleep(0.01)
    say("after")
handler.flush()
status = handler.status()
handler.close()
spool = Spool(disk / "spool")
blocks = spool.blocks_after(0, 1 << 40)
stored = [json.loads(record)["message"] for block in blocks for record in block.records]
numbers = [number for block in blocks for number, _ in block.numbered()]
print(json.dumps({
    "refused": refused, "stored": stored, "returned": returned, "counted": status.refused,
    "gapless": numbers == list(range(1, len(numbers) + 1)),
}))
"""


@pytest.mark.skipif(
    subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode != 0,
    reason="this user may have no mount namespace",
)
@pytest.mark.parametrize("kind", ["audit", "ordinary"])
def test_a_full_disk_refuses_and_goes_on_when_there_is_room(tmp_path: Path, kind: str) -> None:
    command = [*_UNSHARE, sys.executable, "-c", PROGRAM, str(tmp_path), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "cannot be written" in found["refused"][0]
    assert found["counted"] >= 1
    assert found["gapless"]
    assert (found["stored"][0], found["stored"][-1]) == ("before", "after")
    if kind == "audit":
        assert found["stored"] == found["returned"]
