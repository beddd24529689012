"""One password in every place that takes one; it must be found nowhere else."""

from __future__ import annotations

import json
import os
import re
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.pipelines.conftest import Workplace, order
from tests.integration.spark.standalone import StandaloneCluster
from tests.support.ports import free_port
from tests.support.postgres import USER, Postgres, postgres
from tests.support.warm_cli import WarmCli

from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol, Record

pytestmark = [pytest.mark.integration, pytest.mark.spark]

CANARY = "canary-8f3b1c"  # the user's password, as the file names it
PAGES = ("environment", "jobs", "stages", "allexecutors", "sql?details=true&length=100", "streaming/statistics")


@pytest.fixture
def place(tmp_path: Path, warm_cli: WarmCli) -> Iterator[Workplace]:
    options = ClusterOptions(brokers=1, protocol=Protocol.SASL_PLAINTEXT, password=CANARY)
    with LoopbackWorld(hq=options, local=options) as world:
        place = Workplace(world, tmp_path, "orders", warm_cli)
        place.create_topics()
        yield place


@pytest.fixture
def database() -> Iterator[Postgres]:
    with postgres(CANARY, ["CREATE TABLE crm AS SELECT 'c1' AS customer_id, 'gold' AS tier"]) as running:
        yield running


def test_a_password_is_nowhere_but_in_its_file(
    place: Workplace, standalone: StandaloneCluster, monkeypatch: pytest.MonkeyPatch, database: Postgres
) -> None:
    place.pipeline["enrich"] += [{"reference": name, "key": "customer_id"} for name in ("crm", "scores")]
    jdbc = {
        "url": database.url,
        "user": USER,
        "password": CANARY,
        "table": "crm",
        "version": "SELECT count(*) FROM crm",
    }
    scores = {"format": "json", "schema": "score INT"}
    place.pipeline["references"] |= {
        "crm": {"jdbc": jdbc, "refresh": "every_batch"},
        "scores": {"kafka": {"cluster": "hq", "topic": "scores", "decode": scores}},
    }
    place.world.hq.create_topic("scores", configs={"cleanup.policy": "compact"})
    place.world.hq.write("scores", [Record(key=b"c1", value=b'{"score": 7}')])
    secret = place.folder / "secret"
    secret.write_text(CANARY)
    words = Workplace.words

    def without_password(self: Workplace, command: str, *more: str) -> list[str]:
        line = words(self, command, *more)
        file = self.folder / "brokernat.yaml"
        file.write_text(file.read_text().replace(CANARY, f"${{file:{secret}}}"))
        return line

    monkeypatch.setattr(Workplace, "words", without_password)
    (place.folder / "events").mkdir()
    place.write([order(1), b"{", order(2, customer_id="c99")])
    port = free_port()
    settings = {
        "spark.eventLog.enabled": "true",
        # Compressed, as they are by default, nothing in them could be found.
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file:{place.folder}/events",
        "spark.ui.enabled": "true",
        "spark.ui.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Executors say less unless they are asked to.
        "spark.log.level": "INFO",
    }
    confs = (word for item in settings.items() for word in ("--conf", "=".join(item)))
    with place.running("--master", standalone.url, "--proof-timeout", "180", *confs) as run:
        run.until(lambda: len(place.read_tags()) >= 1, "a tag")
        run.until(lambda: place.offsets()[1] >= 0, "a committed batch")
        lines = command_lines()
        shown = rest_pages(port) | cluster_pages(standalone)
        run.signal_group(signal.SIGTERM)
        assert run.process.wait(60) == 143, run.log.read_text()
    # An error on the way shows no secret either.
    place.customers("customer_id,name\nc1,a\nc1,b\n")
    failed = place.run_alone("run", "--once", code=2)

    folders = (place.folder, standalone.directory)
    read = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path != secret]
    assert {"spark.log", "pipeline.log", "launch.log"} <= {path.name for path in read}
    assert any("events" in path.parts for path in read)
    assert standalone.executor_logs()
    assert [path for path in read if CANARY.encode() in path.read_bytes()] == []
    assert CANARY not in failed.stdout + failed.stderr
    assert len(shown) >= 9
    assert [page for page, text in shown.items() if CANARY in text] == []
    assert [line for line in lines if CANARY in line] == []
    assert CANARY not in repr([*place.read_dead(), *place.read_tags()])
    assert len(place.read_dead()) == 2
    tag = json.loads(place.read_tags()[0].value or b"")
    assert (tag["tier"], tag["score"]) == ("gold", 7)


def rest_pages(port: int) -> dict[str, str]:
    """What Spark's REST interface shows of the application."""
    base = f"http://127.0.0.1:{port}/api/v1/applications"
    with urllib.request.urlopen(base, timeout=30) as answer:
        [application] = json.load(answer)
    found = {}
    for page in PAGES:
        try:
            with urllib.request.urlopen(f"{base}/{application['id']}/{page}", timeout=30) as answer:
                found[page] = answer.read().decode()
        except OSError:
            continue
    return found


def cluster_pages(standalone: StandaloneCluster) -> dict[str, str]:
    """What master and worker show, to people and to programs."""
    logs = "".join(path.read_text() for path in standalone.directory.glob("*.log"))
    found = {}
    for base in re.findall(r"WebUI.* started at (http://\S+)", logs):
        for page in ("/", "/json/"):
            with urllib.request.urlopen(base + page, timeout=30) as answer:
                found[base + page] = answer.read().decode()
    return found


def command_lines() -> list[str]:
    """The process list of this machine, but for the brokers, whose own secret it is, and which show none."""
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                lines.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
    return lines
