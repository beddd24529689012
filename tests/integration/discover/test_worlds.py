"""`brokernat discover` against real brokers: the right map from a gateway and a range of ports, and everything that can
stand behind a port instead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.integration.discover.conftest import Recorder, Switched
from tests.integration.spark.standalone import SHORT_LIVED
from tests.support.balancers import BALANCERS
from tests.support.cluster_admin import Allow, Operation, allow, delete_topics
from tests.support.warm_cli import WarmCli

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster, load
from brokernat.demo.data import DEAD_LETTERS, ORDERS, PIPELINE, TAGS, make_orders, write_files
from brokernat.doctor.credentials import client_side
from brokernat.doctor.discovery.matching import Discovery, match
from brokernat.doctor.discovery.sweep import sweep
from brokernat.testbed import LoopbackWorld, Record, RunningCluster, Topic
from brokernat.testbed.running_cluster import config_text

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

TIMEOUT = 90
RANGE = "9090-9100"


def discovered(cluster: Cluster, *candidates: Endpoint) -> Discovery:
    return match(sweep(cluster, candidates, TIMEOUT))


def of_node_1(hq: RunningCluster) -> Cluster:
    """The cluster with this bootstrap server only: another one would be the way to its own node."""
    return replace(hq.cluster, bootstrap_servers=(hq.reachable[1],))


def led(found: Discovery) -> dict[int, str]:
    return {entry.node_id: entry.candidate for entry in found.matched}


def right(hq: RunningCluster) -> dict[int, str]:
    return {node: str(end) for node, end in hq.reachable.items()}


def codes(found: Discovery) -> list[str]:
    return [finding.code for finding in found.findings]


def run(*words: str, folder: Path, code: int = 0) -> str:
    """The command line as a user has it; what it says on stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "brokernat", *words],
        cwd=folder, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}, capture_output=True, text=True, timeout=420,
        check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def told(hq: RunningCluster, folder: Path, *more: str, code: int = 0) -> dict[str, Any]:
    """From one bootstrap server and a range of the gateway's ports, most of them closed."""
    first = next(iter(hq.reachable.values()))
    words = ("discover", "--bootstrap-server", str(first), "--candidates", f"{first.host}:{RANGE}", *more)
    answer: dict[str, Any] = json.loads(run(*words, "--format", "json", folder=folder, code=code))
    return answer


@pytest.mark.parametrize(("version", "method"), [("3.9.2", "describeconfigs"), ("4.4.0", "apiversions")])
def test_the_right_map_from_a_range(kinds_world: LoopbackWorld, tmp_path: Path, version: str, method: str) -> None:
    hq = next(each for each in (kinds_world.hq, kinds_world.hq2) if each.plan.options.version == version)
    lines = {node: hq.log(node).read_text().count("Unexpected broker id") for node in hq.nodes}
    answer = told(hq, tmp_path, "--output", "rules")
    assert {each["node_id"]: each["candidate"] for each in answer["entries"]} == right(hq)
    assert {(each["method"], each["confidence"]) for each in answer["entries"]} == {(method, "proven")}
    assert answer["whole"]
    assert answer["findings"] == []
    assert answer["listener"] == "CLIENT"
    assert answer["cluster_id"] == hq.cluster_id
    assert answer["other_candidates"] == {"refused": 11 - len(hq.nodes)}
    # At most one line in a broker's log for each look: the bootstrap server is one of the candidates.
    assert all(hq.log(node).read_text().count("Unexpected broker id") <= lines[node] + 1 for node in hq.nodes)
    assert hq.cluster_id in (tmp_path / "rules").read_text()
    assert run("map", "check", "--file", "rules", folder=tmp_path) == ""


def test_exchanged_ports_in_the_file_are_put_right_and_the_pipeline_runs(
    loopback_world: LoopbackWorld, tmp_path: Path, warm_cli: WarmCli
) -> None:
    hq, local = loopback_world.hq, loopback_world.local
    exchanged = ",".join(f"{hq.advertised[node]}={hq.reachable[to]}" for node, to in {1: 2, 2: 1, 3: 3}.items())
    file = write_files(
        tmp_path,
        type(hq.cluster)("hq", hq.cluster.bootstrap_servers[:1], AddressMap.parse(exchanged)),
        local.cluster,
    )
    before = file.read_text()
    gateway = hq.reachable[1].host
    words = ("discover", "--cluster", "hq", "--candidates", f"{gateway}:{RANGE}", "--write", "--yes")
    run(*words, folder=tmp_path)
    address_map = load(file).cluster("hq").address_map
    assert address_map is not None
    assert {node: address_map.translate(end).endpoint for node, end in hq.advertised.items()} == hq.reachable
    rest = [line for line in file.read_text().splitlines() if " = " not in line]
    assert rest == [line for line in before.splitlines() if " = " not in line]

    orders = make_orders(200)
    hq.create_topic(ORDERS)
    local.create_topics([Topic(TAGS, 1, 1), Topic(DEAD_LETTERS, 1, 1)])
    hq.write(ORDERS, [Record(value=value.encode(), key=key.encode()) for key, value in orders.records])
    try:
        settings = {"spark.sql.shuffle.partitions": "2", **SHORT_LIVED}
        spark = [word for item in settings.items() for word in ("--conf", "=".join(item))]
        done = warm_cli.run(
            ["pipeline", "run", PIPELINE, "--once", "--config", str(file), "--master", "local[2,4]", *spark]
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(local.read(TAGS)) == orders.expected_tags
        assert len(local.read(DEAD_LETTERS)) == orders.expected_dead_letters
    finally:
        delete_topics(hq, ORDERS)
        delete_topics(local, TAGS, DEAD_LETTERS)


def test_the_bootstrap_servers_are_the_candidates_unless_others_are_given(loopback_world: LoopbackWorld) -> None:
    found = discovered(loopback_world.hq.cluster)
    assert led(found) == right(loopback_world.hq)
    assert found.whole
    assert discovered(loopback_world.local.cluster).direct


def test_two_ports_exchanged(loopback_world: LoopbackWorld, switch: Switched) -> None:
    hq = loopback_world.hq
    with switch([hq.bound[2]], [hq.bound[1]]) as (one, two):
        assert led(discovered(hq.cluster, one, two, hq.reachable[3])) == {
            1: str(two),
            2: str(one),
            3: str(hq.reachable[3]),
        }


@pytest.mark.parametrize("balancer", BALANCERS)
@pytest.mark.parametrize("version", ["3.9.2", "4.4.0"])
def test_a_balancer_on_one_port(kinds_world: LoopbackWorld, switch: Switched, version: str, balancer: str) -> None:
    hq = next(each for each in (kinds_world.hq, kinds_world.hq2) if each.plan.options.version == version)
    with switch(list(hq.bound.values()), choice=BALANCERS[balancer]) as (balanced,):
        found = discovered(of_node_1(hq), hq.reachable[1], balanced)
    assert led(found) == {1: str(hq.reachable[1])}
    assert codes(found) == ["BN605", "BN602"]
    assert str(balanced) in found.findings[1].subject


def test_a_port_that_leads_to_another_cluster_with_the_same_addresses(kinds_world: LoopbackWorld) -> None:
    hq, other = kinds_world.hq, kinds_world.hq2
    assert hq.advertised == other.advertised
    found = discovered(of_node_1(hq), hq.reachable[1], other.reachable[2])
    assert led(found) == {1: str(hq.reachable[1])}
    assert codes(found) == ["BN605", "BN501"]
    assert other.cluster_id in found.findings[1].message
    assert discovered(hq.cluster, *hq.reachable.values(), *other.reachable.values()).whole


def test_the_right_broker_on_another_listener(kinds_world: LoopbackWorld) -> None:
    hq = kinds_world.hq
    peer = hq.plan.broker(2).peer
    found = discovered(of_node_1(hq), hq.reachable[1], peer)
    assert led(found) == {1: str(hq.reachable[1])}
    assert codes(found) == ["BN605", "BN603"]
    assert "node 2 on listener PEER" in found.findings[1].message


def plain_password(cluster: Cluster) -> str:
    assert cluster.kafka_properties()["sasl.mechanism"] == "PLAIN"
    return client_side(cluster).password


def test_a_candidate_gets_no_password_without_consent(kinds_world: LoopbackWorld, recorder: Recorder) -> None:
    """It looks like a broker of the cluster in every answer that a listener gives before the login."""
    cluster = kinds_world.local.cluster
    with recorder(cluster.bootstrap_servers[0]) as (candidate, received):
        asked: list[Endpoint] = []

        def refuse(endpoints: Sequence[Endpoint]) -> bool:
            asked.extend(endpoints)
            return False

        swept = sweep(cluster, [candidate], TIMEOUT, agree=refuse)
        assert asked == [candidate]
        assert received
        assert plain_password(cluster).encode() not in received
        assert (swept.candidates[0].speaks, swept.candidates[0].answers) == ("kafka", False)
        swept = sweep(cluster, [candidate], TIMEOUT, agree=lambda _: True)
        assert plain_password(cluster).encode() in received
        assert swept.candidates[0].answers


def test_without_a_terminal_the_login_is_refused_with_the_list_or_sent_by_an_option(
    kinds_world: LoopbackWorld, recorder: Recorder, tmp_path: Path
) -> None:
    cluster = kinds_world.local.cluster
    (tmp_path / "brokernat.yaml").write_text(config_text([kinds_world.local]))
    with recorder(cluster.bootstrap_servers[0]) as (candidate, received):
        words = ("discover", "--cluster", cluster.name, "--candidates", str(candidate))
        done = subprocess.run(
            [sys.executable, "-m", "brokernat", *words],
            cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert str(candidate) in done.stderr
        assert "--send-login" in done.stderr
        assert plain_password(cluster).encode() not in received
        run(*words, "--send-login", folder=tmp_path, code=5)
        assert plain_password(cluster).encode() in received


def test_kafkas_own_file_is_another_way_to_give_the_login(kinds_world: LoopbackWorld, tmp_path: Path) -> None:
    properties = {**kinds_world.local.cluster.kafka_properties(), "security.protocol": "sasl_plaintext", "acks": "all"}
    (tmp_path / "client.properties").write_text("".join(f"{name} = {value}\n" for name, value in properties.items()))
    answer = json.loads(
        run("discover", "--command-config", "client.properties", "--format", "json", folder=tmp_path, code=5)
    )
    # Metadata is answered after the login only; who answers may not be asked by this user.
    assert answer["cluster_id"] == kinds_world.local.cluster_id
    assert [finding["code"] for finding in answer["findings"]] == ["BN605", "BN604"]


def test_what_the_map_leads_to_gets_the_login_without_a_question(
    kinds_world: LoopbackWorld, recorder: Recorder
) -> None:
    local = kinds_world.local
    with recorder(local.cluster.bootstrap_servers[0]) as (candidate, _):
        rules = AddressMap.parse(",".join(f"{end}={candidate}" for end in local.advertised.values()))
        swept = sweep(
            replace(local.cluster, address_map=rules), [candidate], TIMEOUT, agree=lambda _: pytest.fail("asked")
        )
        assert swept.candidates[0].answers


def test_without_the_right_to_ask_for_settings(kinds_world: LoopbackWorld) -> None:
    """Not guessed, although there is but one broker; told as soon as there is something that only it can answer."""
    asked = kinds_world.local
    found = discovered(asked.cluster)
    assert found.matched == ()
    assert codes(found) == ["BN605", "BN604"]
    asked.create_topic("seen", partitions=1, replicas=1)
    allow(asked, Allow(Operation.DESCRIBE))
    found = discovered(asked.cluster)
    assert [(entry.method, entry.confidence) for entry in found.matched] == [("listoffsets", "likely")]
