"""What a running pipeline shows over HTTP and in its log, and the lag that Kafka's own tools see."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families
from tests.integration.pipelines.conftest import PROGRAM, TIMEOUT, Workplace, order
from tests.unit.pipelines.status.test_server import free_port

from brokernat.testbed.place import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.spark]

GROUP = "tags-pipeline"
CANARY = "canary-4711"


def fetched(port: int, path: str) -> tuple[int, str]:
    """Code and body; 0 while nobody listens."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/{path}", timeout=60) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def status_of(port: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fetched(port, "status.json")[1] or "{}")
    return found


def metric(text: str, name: str, **labels: str) -> float:
    """The sum of a metric over the labels that are not given."""
    families = text_string_to_metric_families(text)
    samples = [s for f in families for s in f.samples if s.name == name and labels.items() <= s.labels.items()]
    assert samples, name
    return sum(sample.value for sample in samples)


@pytest.fixture
def member(workplace: Workplace) -> Iterator[Consumer]:
    """A client that may become a member of the group."""
    servers = ",".join(map(str, workplace.world.hq.direct.bootstrap_servers))
    consumer = Consumer({"bootstrap.servers": servers, "group.id": GROUP})
    yield consumer
    consumer.close()


def committed(member: Consumer, topic: str) -> Mapping[int, int]:
    """What Kafka's own tools show of the group, by partition."""
    found = member.committed([TopicPartition(topic, number) for number in range(3)], timeout=60)
    return {place.partition: place.offset for place in found}


def test_a_run_shows_itself_and_kafkas_tools_see_its_lag(workplace: Workplace, member: Consumer) -> None:
    workplace.pipeline["source"]["commit_group"] = GROUP
    workplace.client |= {name: {"ssl.truststore.password": CANARY} for name in ("hq", "local")}
    broken = [b"{\x00<b>", None, order(1, amount="x"), order(2, customer_id="c98"), order(3, customer_id="c99")]
    workplace.write([*(order(number) for number in range(50)), *broken])
    port = free_port()
    with workplace.running("--status", str(port), "--log-format", "json") as run:
        run.until(lambda: fetched(port, "health") == (503, "the query has not started yet\n"), "the status page")
        run.until(lambda: fetched(port, "health") == (200, "ok\n"), "a healthy run")
        run.until(lambda: status_of(port)["partitions"], "the first report of a batch")
        ends = workplace.world.hq.end_offsets(workplace.topic)
        run.until(lambda: committed(member, workplace.topic) == ends, "the offsets of the group")
        run.until(lambda: status_of(port)["activity"] == "waiting for records", "an idle query")
        pages = {path: fetched(port, path)[1] for path in ("", "metrics", "status.json", "dead-letters.json")}
        # A member makes Kafka refuse offsets of anybody else: the run goes on.
        member.subscribe([workplace.topic])
        run.until(lambda: member.poll(0) or member.assignment(), "a member of the group")
        workplace.write([order(51)])
        run.until(lambda: "could not be committed: UnknownMemberId" in run.log.read_text(), "the warning")
        run.signal_group(signal.SIGTERM)
        assert run.process.wait(TIMEOUT) == 143, run.log.read_text()
    causes = {"MalformedValue": 1, "Tombstone": 1, "WrongType": 1, "MissingReference": 2}
    status = json.loads(pages["status.json"])
    assert status["records"] == {"received": 55, "tags": 50, "dead_letters": 5, "filtered": 0, "causes": causes}
    assert {p["partition"]: p["end"] for p in status["partitions"]} == ends
    assert (status["lag"], status["starts"], status["healthy"]) == (0, 1, True)
    assert {"addBatch", "commitOffsets"} <= status["steps"].keys()
    assert [reference["name"] for reference in status["references"]] == ["customers"]
    hq = [route for route in status["routes"] if route["cluster"] == "hq"]
    nodes = {b.node_id: (str(b.advertised), str(b.reachable)) for b in workplace.world.hq.plan.brokers}
    assert {route["node_id"]: (route["advertised"], route["reachable"]) for route in hq} == nodes
    assert {route["proved_by"][0] for route in hq} == {"driver"}

    for cause, number in causes.items():
        assert metric(pages["metrics"], "brokernat_dead_letters_total", cause=cause) == number
    assert metric(pages["metrics"], "brokernat_records_received_total") == 55
    assert metric(pages["metrics"], "brokernat_partition_end_offset") == sum(ends.values())
    assert metric(pages["metrics"], "brokernat_batch_step_seconds_total", step="addBatch") > 0

    letters = json.loads(pages["dead-letters.json"])
    assert letters["problem"] is None
    shown = {letter["cause"]: letter for letter in letters["letters"]}
    assert shown.keys() == causes.keys()
    assert (shown["MalformedValue"]["value"], shown["MalformedValue"]["size"]) == ("{\\x00<b>", 5)
    assert (shown["Tombstone"]["value"], shown["Tombstone"]["key"]) == (None, "k")
    assert shown["WrongType"]["source"].startswith(f"{workplace.world.hq.cluster_id}/{workplace.topic}/")

    assert CANARY not in "".join([*pages.values(), run.log.read_text()])
    log = [json.loads(line) for line in run.log.read_text().splitlines()]
    batch = next(line for line in log if "batch" in line)
    assert (batch["level"], batch["received"], batch["causes"]) == ("info", 55, causes)
    assert {"partitions", "steps", "references"} <= batch.keys()
    warnings = [line["message"] for line in log if line["level"] == "warning"]
    assert any(text.startswith(f"the offsets of group {GROUP} could not be committed") for text in warnings)


@pytest.mark.soak
@pytest.mark.usefixtures("nothing_ignored")
def test_the_demo_shows_the_page_until_ctrl_c(tmp_path: Path) -> None:
    port = free_port()
    words = [*PROGRAM, "demo", "--orders", "200", "--status", str(port)]
    with (tmp_path / "log").open("wb") as log:
        demo = subprocess.Popen(
            words, stdout=log, stderr=log, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)}
        )
    try:
        wait_until(
            lambda: status_of(port).get("activity") == "waiting for records",
            "the drained pipeline",
            timeout=TIMEOUT,
            abort=lambda: None if demo.poll() is None else f"it ended: {(tmp_path / 'log').read_text()}",
        )
        status, page = status_of(port), fetched(port, "")[1]
    finally:
        demo.send_signal(signal.SIGINT)
        code = demo.wait(TIMEOUT)
    output = (tmp_path / "log").read_text()
    assert code == 0, output
    assert f"Its status page: http://127.0.0.1:{port}/ (end the demo with Ctrl-C)" in output
    assert "Everything is stopped and removed" in output
    assert (status["records"]["tags"], status["records"]["dead_letters"], status["healthy"]) == (200, 12, True)
    assert {route["proved_by"][0] for route in status["routes"]} == {"driver"}
    assert "page.js" in page
