"""Memory of a program that logs on while no broker answers: what it grows by must not depend on how long that is."""

import subprocess
import sys
from pathlib import Path

from bench.report import say, verdict

LIMIT_MB = 64
_RATE = 5_000

_PROGRAM = """
import logging, sys, time
from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.shipping import KafkaHandler

def resident():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmRSS"))

logging.getLogger("brokernat").addHandler(logging.NullHandler())
cluster = Cluster("nowhere", (Endpoint.parse("127.0.0.1:1"),))
handler = KafkaHandler(cluster, "topic", sys.argv[1], max_spool=64 << 20, close_timeout=0)
log = logging.getLogger("app")
log.setLevel(logging.INFO)
log.addHandler(handler)
start, most = resident(), 0
end, due = time.monotonic() + float(sys.argv[2]), time.monotonic()
count = 0
while time.monotonic() < end:
    for _ in range(100):
        log.info("order %d of customer %s was paid", count, "c-1234")
        count += 1
    most = max(most, resident())
    due += 100 / float(sys.argv[3])
    time.sleep(max(0, due - time.monotonic()))
status = handler.status()
print(start, most, status.accepted, status.refused, status.held)
"""


def measure(work: Path, seconds: float) -> bool:
    """A spool that is full long before the end, so that every bound is reached."""
    command = [sys.executable, "-c", _PROGRAM, str(work / "outage"), str(seconds), str(_RATE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    start, most, accepted, refused, held = map(float, done.stdout.split())
    say(
        f"outage: {seconds:.0f} s at {_RATE} records/s, {accepted:.0f} in the spool ({held / 1e6:.0f} MB), "
        f"{refused:.0f} refused"
    )
    return verdict(
        "outage, growth of resident memory",
        f"{most - start:.0f} MB from {start:.0f} MB",
        f"<= {LIMIT_MB} MB",
        most - start <= LIMIT_MB,
    )
