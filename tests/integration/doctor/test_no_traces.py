"""A full run changes nothing on the cluster: topics, groups, settings and rights are what they were, and a broker's log
has one line more at most."""

from __future__ import annotations

from typing import Any

import pytest
from tests.integration.doctor.groups import administrator, kafka, listed, make_group
from tests.integration.doctor.looking import TIMEOUT
from tests.integration.doctor.scene import Scene
from tests.support.cluster_admin import Allow, Operation, allow

from brokernat.doctor.probes.collecting import collect
from brokernat.testbed import RunningCluster, Topic

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

_ASKED = "Unexpected broker id"
"""What brokers say when they are asked for the settings of node -1: one line, and its trace below it."""


def state(cluster: RunningCluster, *, with_rights: bool) -> dict[str, Any]:
    """All that an administrator sees, past everything under test."""
    admin = administrator(cluster)
    topics = admin.list_topics(timeout=TIMEOUT).topics
    resources = [kafka.ConfigResource(kafka.ConfigResource.Type.TOPIC, name) for name in topics]
    resources += [kafka.ConfigResource(kafka.ConfigResource.Type.BROKER, str(node)) for node in cluster.nodes]
    settings: dict[Any, Any] = {}
    for wanted in resources:
        # One at a time: no more than one broker is allowed in a request.
        for resource, answer in admin.describe_configs([wanted]).items():
            told = answer.result(TIMEOUT)
            settings[resource.restype, resource.name] = {name: entry.value for name, entry in told.items()}
    seen: dict[str, Any] = {
        "topics": {name: sorted(topic.partitions) for name, topic in topics.items()},
        "groups": listed(admin),
        "settings": settings,
        "ends": {name: cluster.end_offsets(name) for name in topics},
    }
    if with_rights:
        everything = kafka.AclBindingFilter(
            kafka.ResourceType.ANY,
            None,
            kafka.ResourcePatternType.ANY,
            None,
            None,
            kafka.AclOperation.ANY,
            kafka.AclPermissionType.ANY,
        )
        seen["rights"] = sorted(map(str, admin.describe_acls(everything).result(TIMEOUT)))
    return seen


def logs(cluster: RunningCluster) -> dict[int, str]:
    """What each broker has printed so far."""
    return {node: cluster.log(node).read_text(errors="replace") for node in cluster.nodes}


def complaints(cluster: RunningCluster, before: dict[int, str]) -> dict[int, int]:
    """How often each broker has written since of a request that it refused."""
    return {node: text[len(before[node]) :].count(_ASKED) for node, text in logs(cluster).items()}


def test_an_older_cluster_with_topics_groups_and_rights_is_as_before(doctor_scene: Scene) -> None:
    hq = doctor_scene.hq2
    hq.create_topics([Topic("orders", partitions=4, replicas=2, configs={"retention.ms": "3600000"})])
    allow(hq, Allow(Operation.READ, name="orders"))
    make_group(hq, "auditors")
    before, written = state(hq, with_rights=True), logs(hq)
    assert before["groups"]
    assert before["rights"]

    evidence = collect(hq.cluster, TIMEOUT)

    assert all(probe.answers and probe.identity and probe.identity.node_id for probe in evidence.bootstraps)
    assert state(hq, with_rights=True) == before
    assert complaints(hq, written) == dict.fromkeys(hq.nodes, 1), "brokers before 4.4 tell who they are by one line"


def test_a_new_cluster_keeps_its_log_clean_and_gets_no_topic_of_kafka_s_own(doctor_scene: Scene) -> None:
    hq = doctor_scene.hq
    before, written = state(hq, with_rights=False), logs(hq)
    collect(hq.cluster, TIMEOUT)
    after = state(hq, with_rights=False)
    assert after == before
    assert not any(name.startswith("__") for name in after["topics"])
    assert complaints(hq, written) == dict.fromkeys(hq.nodes, 0)
