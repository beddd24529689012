"""Brokers with ACLs: what the check says is missing is what has to be granted, and then it runs."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.integration.pipelines.conftest import Workplace, order
from tests.support.cluster_admin import Allow, Operation, Resource, allow
from tests.support.warm_cli import WarmCli

from brokernat.testbed import ClusterOptions, LoopbackWorld, Protocol, RunningCluster

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SMALL = {"max.message.bytes": "200000"}


@pytest.fixture
def place(tmp_path: Path, warm_cli: WarmCli) -> Iterator[Workplace]:
    options = ClusterOptions(brokers=1, protocol=Protocol.SASL_PLAINTEXT, authorize=True)
    with LoopbackWorld(hq=options, local=options) as world:
        place = Workplace(world, tmp_path, "orders", warm_cli)
        world.hq.create_topic(place.topic)
        world.local.create_topic(place.tags, configs=SMALL)
        world.local.create_topic(place.dead, configs=SMALL | {"cleanup.policy": "compact"})
        yield place


def not_well(check: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """What is not well, by subject."""
    found = json.loads(check.stdout)["checks"]
    return {check["subject"]: check for check in found if check["level"] != "ok"}


def grant_as_told(hint: str, clusters: tuple[RunningCluster, ...]) -> None:
    """Does what a `kafka-acls.sh` line of a hint says, on the cluster that it names."""
    words = shlex.split(hint)
    options = dict(pairwise(words))
    (cluster,) = (each for each in clusters if str(each.cluster.bootstrap_servers[0]) == options["--bootstrap-server"])
    assert options["--allow-principal"] == f"User:{cluster.plan.options.username}"
    named = {"Read": Operation.READ, "Write": Operation.WRITE, "DescribeConfigs": Operation.DESCRIBE_CONFIGS}
    if "--cluster" in words:
        allow(cluster, Allow(named[options["--operation"]], Resource.CLUSTER, "kafka-cluster"))
    else:
        allow(cluster, Allow(named[options["--operation"]], name=options["--topic"]))


def grant_all_as_told(found: dict[str, dict[str, Any]], clusters: tuple[RunningCluster, ...]) -> None:
    for hint in (check["hint"] or "" for check in found.values()):
        if hint.startswith("kafka-acls.sh "):
            grant_as_told(hint, clusters)


def test_each_missing_right_is_named_and_granting_what_is_named_heals(place: Workplace) -> None:
    hq, local = place.world.hq, place.world.local
    # One topic may be seen and not be written; of the others nothing may be known.
    allow(local, Allow(Operation.DESCRIBE, name=place.tags))

    found = not_well(place.run("check", "--format", "json", code=5))

    source, tags, dead = f"source topic {place.topic}", f"sink topic {place.tags}", f"sink topic {place.dead}"
    assert {subject for subject, check in found.items() if check["level"] == "error"} == {source, tags, dead}
    assert "no DESCRIBE permission on `orders` in `hq`, or it does not exist" in found[source]["message"]
    assert "no WRITE permission on `orders-tags` in `local`" in found[tags]["message"]
    assert "this user may not read its node id" in found["proof hq"]["message"]
    grant_all_as_told(found, (hq, local))

    # Now that the topics may be seen, their limits may be asked for: what is left are warnings. A JVM answers the same
    # question of the proof from memory for two seconds; with another client name it is another question.
    place.client |= {name: {"client.id": "allowed"} for name in ("hq", "local")}
    found = not_well(place.run("check", "--format", "json"))
    assert set(found) == {f"message size {topic}" for topic in (place.topic, place.dead)}
    grant_all_as_told(found, (hq, local))

    place.write([order(1), b"{"])
    ended = place.run("run", "--once")
    assert f"`{place.tags}` accepts 200000 bytes, the source up to 1048588" in ended.stderr
    assert "--add-config max.message.bytes=" in ended.stderr
    assert "read its node id" not in ended.stderr
    assert f"`{place.dead}` is compacted: it rejects a record without a key" in ended.stderr
    assert (len(place.read_tags()), len(place.read_dead())) == (1, 1)
