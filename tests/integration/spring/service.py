"""The service of examples/spring-audit-logs: built as its README says, run as a process of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tools.jars import maven

from brokernat.jvm import agent_jar, find_java
from brokernat.testbed import RunningCluster
from brokernat.testbed.place import Here, Place

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "spring-audit-logs"

ACTION = "opened the door"

# A failure is as sure after seconds as after the example's 20.
IMPATIENT = [
    f"--spring.kafka.producer.properties.{name}={milliseconds}"
    for name, milliseconds in (("delivery.timeout.ms", 5000), ("request.timeout.ms", 2500))
]
_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m")
_BUILD_TIMEOUT, _TIMEOUT = 540, 180


@dataclass(frozen=True)
class Service:
    """A built service. It is started in `folder`, where it finds `application-nat.yaml`."""

    jar: Path
    folder: Path
    credentials: Mapping[str, str]
    place: Place = field(default_factory=Here)

    @contextmanager
    def running(
        self, *arguments: str, agent: bool, environ: Mapping[str, str] = MappingProxyType({})
    ) -> Iterator[Running]:
        """Started, ended with the block; without `agent` it is what it was before brokernat."""
        loader = [f"-javaagent:{agent_jar()}"] if agent else []
        words = [str(find_java(17).binary), *_JVM, *loader, "-jar", str(self.jar), *arguments]
        log = self.folder / "service.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.place.command(words),
                cwd=self.folder,
                env={**os.environ, **self.credentials, **environ},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )
        try:
            yield Running(process, log)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def audit(self, users: Sequence[str], *arguments: str, agent: bool) -> str:
        """Let it record one event for each user and end; the result is its log."""
        with self.running("--spring.profiles.active=nat", *arguments, agent=agent) as service:
            service.tell(users)
            return service.end()


@dataclass(frozen=True)
class Running:
    """A service that waits for lines `USER ACTION`."""

    process: subprocess.Popen[str]
    log: Path

    def tell(self, users: Sequence[str]) -> None:
        assert self.process.stdin
        self.process.stdin.write("".join(f"{user} {ACTION}\n" for user in users))
        self.process.stdin.flush()

    def end(self) -> str:
        """No more lines; the result is its log, once it has ended in order."""
        assert self.process.stdin
        self.process.stdin.close()
        code = self.process.wait(_TIMEOUT)
        said = self.log.read_text()
        assert code == 0, said[-6000:]
        return said


def build(profile: str, folder: Path) -> Path:
    """The jar of `mvn package` with a profile of the example's pom, in a copy of the example."""
    source = folder / "source"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("target"))
    command = [maven(), "--batch-mode", "--no-transfer-progress", "-Dstyle.color=never", "-P", profile, "package"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=_BUILD_TIMEOUT, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    return source / "target" / "audit-logs.jar"


def render(folder: Path, credentials: Mapping[str, str]) -> None:
    """What `brokernat render spring` makes of the `brokernat.yaml` in `folder`, beside it as `application-nat.yaml`."""
    brokernat(folder, credentials, "render", "spring", "--cluster", "hq", "--output", "application-nat.yaml")


def brokernat(folder: Path, credentials: Mapping[str, str], *words: str) -> None:
    """Our own command line in `folder`."""
    done = subprocess.run(
        [sys.executable, "-m", "brokernat", *words],
        cwd=folder,
        env={**os.environ, **credentials},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def new_users() -> list[str]:
    """Names that no other test uses: the topic is shared."""
    crowd = uuid.uuid4().hex[:8]
    return sorted(f"{crowd}-{number}" for number in range(30))


def audited(cluster: RunningCluster, users: Sequence[str], topic: str = "audit") -> list[str]:
    """Those of `users` of whom an event is in the topic, once for each event."""
    events = [json.loads(record.value or b"") for record in cluster.read(topic)]
    return sorted(event["user"] for event in events if event["user"] in users and event["action"] == ACTION)


def not_sent(log: str) -> list[str]:
    """The keys of the records that the service's own listener has reported."""
    return sorted(re.findall(rf"not sent: topic=audit key=(\S+) value=AuditEvent\[user=\1, action={ACTION}", log))


def translated(log: str) -> set[str]:
    """The advertised endpoints for which the agent dialled others."""
    return set(re.findall(r"translated (\S+) ->", log))
