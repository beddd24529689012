"""Three tools on the worlds of the tests: `python -m bench.doctor.compare` writes docs/reference/doctor-compared.md.

Whether a tool names the cause is decided by a pattern for each world (compared.py), the same for all tools, so that
nobody's taste is in the table. What is quoted is the first line that the pattern finds, or else the first that tells of
an error or a broker.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.doctor.compared import COMPARED
from tests.integration.doctor.scene import Scene, scene

from brokernat.config import Cluster, Secret
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.probes.collecting import collect
from brokernat.doctor.reports.terminal import terminal
from brokernat.jvm import find_java, resolve

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "doctor-compared.md"
TOOLS = "4.3.1"
LIMIT = 90
"""Seconds that a tool may take."""
_LONGEST = 200
_TELLING = re.compile(r"(?i)error|exception|fail|broker \d+ at|\(id: \d+")
# What librdkafka and log4j write in front of every line.
_PREFIX = re.compile(r"^(%\d\|[^]]*\]: |\[main\] \w+ [\w.]+ - |Caused by: )")


@dataclass(frozen=True)
class Outcome:
    """What a tool printed, stdout and stderr."""

    text: str

    def cell(self, said: str) -> str:
        """Whether it names the cause, and its own words."""
        lines = [_PREFIX.sub("", line.strip()) for line in self.text.splitlines() if line.strip()]
        found = next((line for line in lines if re.search(said, line)), None)
        telling = [line for line in lines if _TELLING.search(line)]
        quoted = found or next(iter((*telling[:1], *lines[-1:])), "(nothing)")
        short = quoted if len(quoted) <= _LONGEST else f"{quoted[:_LONGEST]}…"
        return f"{'**yes**' if found else 'no'}: `{short.replace('|', '¦').replace('`', chr(39))}`"


def main() -> int:
    """Run all tools in all worlds and write the page."""
    rows = []
    with scene() as place, tempfile.TemporaryDirectory() as directory:
        for compared in COMPARED:
            outcomes = list(_outcomes(compared.case.broken(place), place, Path(directory)))
            cells = [_neutral(outcome.cell(compared.said)) for outcome in outcomes]
            rows.append(f"| {compared.wrong} | {' | '.join(cells)} |")
            sys.stderr.write(f"{rows[-1]}\n")
    PAGE.write_text(_HEAD.format(kcat=_kcat_version(), tools=TOOLS) + "\n".join(rows) + "\n")
    return 0


def _outcomes(cluster: Cluster, place: Scene, folder: Path) -> Iterator[Outcome]:
    servers = ",".join(map(str, cluster.bootstrap_servers))
    jars = ":".join(map(str, resolve([f"org.apache.kafka:kafka-tools:{TOOLS}", "org.slf4j:slf4j-simple:1.7.36"])))
    java = [str(find_java().binary), "-cp", jars, "org.apache.kafka.tools.BrokerApiVersionsCommand"]
    config = ["--command-config", str(_java_file(cluster, folder))]
    commands = (
        ["kcat", "-F", str(_kcat_file(cluster, place, folder)), "-L", "-m", "6"],
        [*java, "--bootstrap-server", servers, *config],
    )
    with ThreadPoolExecutor() as pool:
        yield from map(Outcome, pool.map(_run, commands))
    # Folded nowhere, so that a quotation is a whole sentence.
    yield Outcome(terminal(diagnose(collect(cluster, 15)), width=10_000))


def _run(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode() if isinstance(error.stdout, bytes) else ""
        return f"{said}\n(stopped after {LIMIT} s)"
    return done.stdout


def _kcat_file(cluster: Cluster, place: Scene, folder: Path) -> Path:
    """The cluster in librdkafka's names; the map is not among them: both tools know none."""
    named = {"sasl.mechanism": "sasl.mechanisms"}
    properties = {"bootstrap.servers": ",".join(map(str, cluster.bootstrap_servers))}
    properties |= {
        named.get(name, name): value.reveal() if isinstance(value, Secret) else value
        for name, value in cluster.client.items()
        if not name.startswith("ssl.")
    }
    if "ssl.truststore.location" in cluster.client:
        properties["ssl.ca.location"] = str(place.local.folder / "trust.pem")
    return _written(folder / "kcat.properties", properties)


def _java_file(cluster: Cluster, folder: Path) -> Path:
    properties = {**cluster.kafka_properties(), "default.api.timeout.ms": "6000", "request.timeout.ms": "5000"}
    for name in ("bootstrap.servers", "brokernat.map", "brokernat.unmapped"):
        properties.pop(name, None)
    return _written(folder / "java.properties", properties)


def _written(file: Path, properties: dict[str, str]) -> Path:
    file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    return file


def _neutral(text: str) -> str:
    """Addresses of whichever slot as those of one, and the ports that the machine chose."""
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9092", re.sub(r"127\.[1-9]\d*\.", "127.10.", text))


def _kcat_version() -> str:
    said = subprocess.run(["kcat", "-V"], capture_output=True, text=True, check=True).stdout
    versions = re.search(r"Version (\S+) .*librdkafka (\S+)", said)
    return f"{versions[1]} (librdkafka {versions[2]})" if versions else "of an unknown version"


_HEAD = """\
# The doctor beside other tools

Worlds of the tests, each on real brokers. Every tool gets the same bootstrap servers and the same login. **Yes** means
that a line of its output names the cause; that line is quoted, otherwise the first about an error or a broker. What
decides is a pattern for each world, the same for all tools, in `bench/doctor/compared.py`. Made by `python -m
bench.doctor.compare` with kcat {kcat} and Kafka's tools {tools}, which know no address map, so no world needs one.

| what is wrong | `kcat -L` | `kafka-broker-api-versions` | `brokernat doctor` |
|---|---|---|---|
"""

if __name__ == "__main__":
    sys.exit(main())
