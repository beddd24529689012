"""Kills under load: programs that log or write files, a shipper that is killed, brokers that go and come back."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.integration.shipping.reading_back import Arrived, arrived

from brokernat.testbed import RunningCluster
from brokernat.testbed.running_cluster import config_text

AUDITOR = """
import logging, sys
from brokernat.shipping import KafkaHandler
config, topic, spool, first = sys.argv[1:]
handler = KafkaHandler("hq", topic, spool, audit=True, config=config, close_timeout=0)
log = logging.getLogger("audit")
log.propagate = False
log.setLevel(logging.INFO)
log.addHandler(handler)
number = int(first)
while True:
    log.info("audit %d", number)
    print(number, flush=True)
    number += 1
"""


@dataclass
class Stage:
    """One cluster, one topic, one spool; `promised` is what must arrive."""

    cluster: RunningCluster
    topic: str
    folder: Path
    promised: set[str] = field(default_factory=set)
    kills: int = 0

    def __post_init__(self) -> None:
        self.config = self.folder / "brokernat.yaml"
        self.config.write_text(config_text([self.cluster]))
        self.log = self.folder / "logs" / "app.log"
        self.log.parent.mkdir()

    def ship(self, *arguments: object) -> subprocess.Popen[bytes]:
        """`brokernat ship` of the log's folder."""
        to = ("--config", self.config, "--cluster", "hq", "--topic", self.topic, "--spool", self.folder / "spool")
        command = [sys.executable, "-m", "brokernat", "ship", *to, *arguments]
        return subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE)

    def kill_the_shipper(self, dice: random.Random) -> None:
        """Lines are written and the log is rotated while a shipper is killed."""
        with self._writing(dice):
            shipper = self.ship("--file", self.log.parent, "--from-beginning")
            self._kill(shipper, dice)

    def kill_the_auditor(self, dice: random.Random) -> None:
        """A program that logs audit records is killed; what its calls returned for is promised."""
        first = len(self.promised) + 1_000_000 * (self.kills + 1)
        arguments = (self.config, self.topic, self.folder / "audit", first)
        auditor = subprocess.Popen([sys.executable, "-c", AUDITOR, *map(str, arguments)], stdout=subprocess.PIPE)
        lines: list[bytes] = []
        assert auditor.stdout is not None
        reading = threading.Thread(target=lambda: lines.extend(auditor.stdout or ()), daemon=True)
        reading.start()
        deadline = time.monotonic() + 120
        while not lines and time.monotonic() < deadline and auditor.poll() is None:
            time.sleep(0.01)
        ended = auditor.poll()
        self._kill(auditor, dice)
        reading.join(60)
        auditor.stdout.close()
        assert lines, f"no audit call returned; the program had ended: {ended}"
        self.promised |= {f"audit {int(line)}" for line in lines}

    def drain(self) -> Arrived:
        """Everything that is left, sent in order, and what has arrived then."""
        for arguments in (("--file", self.log.parent, "--from-beginning"), ("--spool", self.folder / "audit")):
            done = self.ship(*arguments, "--once", "--patience", 240)
            _, said = done.communicate(timeout=300)
            assert done.returncode == 0, said.decode()
        return arrived(self.cluster, self.topic)

    def _kill(self, process: subprocess.Popen[bytes], dice: random.Random) -> None:
        # Not a wait for something: the moment of the kill is what is drawn.
        time.sleep(dice.uniform(0.1, 1.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        self.kills += 1

    @contextmanager
    def _writing(self, dice: random.Random) -> Iterator[None]:
        over = threading.Event()
        number = self.kills * 1_000_000
        rotate = dice.random() < 0.5

        def write() -> None:
            count = number
            while not over.is_set():
                lines = [f"line {count + step}" for step in range(100)]
                count += 100
                with self.log.open("a") as file:
                    file.writelines(line + "\n" for line in lines)
                self.promised.update(lines)
                if rotate and count % 5_000 == 0:
                    self.log.rename(self.log.with_suffix(f".{count}"))
                over.wait(0.02)

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            yield
        finally:
            over.set()
            writer.join(60)


@contextmanager
def restarting_brokers(cluster: RunningCluster, dice: random.Random) -> Iterator[list[int]]:
    """One broker after the other is killed and started again; gives whose turn it was."""
    over = threading.Event()
    killed: list[int] = []

    def disturb() -> None:
        while not over.is_set():
            node = dice.choice(cluster.nodes)
            cluster.kill(node)
            killed.append(node)
            over.wait(dice.uniform(0.5, 4))
            cluster.start(node)
            over.wait(dice.uniform(0.5, 4))

    disturber = threading.Thread(target=disturb, daemon=True)
    disturber.start()
    try:
        yield killed
    finally:
        over.set()
        disturber.join(300)
