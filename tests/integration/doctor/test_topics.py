"""Topics that are named: missing ones are not created, and the user's rights are those that the broker has."""

from __future__ import annotations

import pytest
from tests.integration.doctor.looking import looked_at
from tests.integration.doctor.scene import Scene
from tests.support.cluster_admin import Allow, Operation, allow

from brokernat.config import Cluster
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.evidence import TopicSeen
from brokernat.testbed import ClusterOptions, LoopbackWorld, RunningCluster, Topic

BEFORE_3_7 = "2.4.1"

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]


def found(cluster: Cluster, topic: str) -> dict[str, str]:
    """What is said about the topic, by code."""
    findings = diagnose(looked_at(cluster, topics=(topic,))).findings
    return {each.code: each.message for each in findings if each.subject == f"topic {topic}"}


def test_a_missing_topic_is_told_and_not_created(doctor_scene: Scene) -> None:
    hq = doctor_scene.hq
    for _ in range(2):
        assert found(hq.cluster, "nosuch") == {"BN508": "the cluster has no topic of this name"}
    assert found(hq.cluster, "no/such").keys() == {"BN508"}


STRICT = Topic("strict", configs={"min.insync.replicas": "2"})


def test_everybody_may_use_a_topic_without_an_authorizer() -> None:
    """Since 3.7, one that requires more replicas than it has, too."""
    with LoopbackWorld(hq=ClusterOptions(brokers=1), local=None) as world:
        world.hq.create_topics([Topic("everybodys", partitions=3), STRICT])
        evidence = looked_at(world.hq.cluster, topics=("everybodys",))
        strict = found(world.hq.cluster, "strict")
    (seen,) = evidence.topics
    assert (seen.name, seen.error, seen.partitions) == ("everybodys", "", 3)
    assert {"READ", "WRITE"} <= set(seen.rights or ())
    assert {"BN508", "BN509", "BN511"} <= set(diagnose(evidence).passed)
    assert strict == {}


def test_before_3_7_a_topic_may_require_more_replicas_than_it_has() -> None:
    with LoopbackWorld(hq=ClusterOptions(brokers=1, version=BEFORE_3_7), local=None) as world:
        world.hq.create_topics([STRICT])
        assert found(world.hq.cluster, "strict") == {
            "BN511": "a partition has 1 in-sync replica, and `min.insync.replicas` is 2"
        }


def test_the_rights_of_the_user_decide(strict: RunningCluster) -> None:
    strict.create_topics([Topic("ledger")])
    (seen,) = looked_at(strict.cluster, topics=("ledger",)).topics
    assert seen == TopicSeen("ledger", "TOPIC_AUTHORIZATION_FAILED")
    assert found(strict.cluster, "ledger") == {"BN509": "this user may neither read nor write it"}

    allow(strict, Allow(Operation.WRITE, name="ledger"))
    assert found(strict.cluster, "ledger") == {"BN509": "this user has no right to READ, so consumers are rejected"}

    allow(strict, Allow(Operation.READ, name="ledger"))
    assert found(strict.cluster, "ledger") == {}
