"""The brokers that all worlds share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.doctor.scene import Scene, scene
from tests.support.cluster_admin import Allow, Operation, allow

from brokernat.testbed import ClusterOptions, Listener, LoopbackWorld, Mechanism, Protocol, RunningCluster, Topic

BEARER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"


@pytest.fixture(scope="package")
def doctor_scene() -> Iterator[Scene]:
    """Six brokers and three servers that are no Kafka; tests change nothing there."""
    with scene() as place:
        yield place


@pytest.fixture(scope="package")
def strict() -> Iterator[RunningCluster]:
    """Two brokers with SCRAM-SHA-512 and OAUTHBEARER, each the leader of a partition that their user may describe.

    Tests give rights to groups and ids of their own, and none to `__consumer_offsets`.
    """
    options = ClusterOptions(
        brokers=2,
        protocol=Protocol.SASL_PLAINTEXT,
        mechanism=Mechanism.SCRAM_SHA_512,
        password="canary-3e77",
        authorize=True,
        listeners=(
            Listener("PART", Protocol.PLAINTEXT, nodes=(1,)),
            Listener("TLS", Protocol.SASL_SSL),
            Listener("ONE", Protocol.SASL_PLAINTEXT, nodes=(1,)),
        ),
        broker_properties={
            "sasl.enabled.mechanisms": "SCRAM-SHA-512,OAUTHBEARER",
            **{f"listener.name.{name}.oauthbearer.sasl.jaas.config": BEARER for name in ("client", "tls", "one")},
        },
    )
    with LoopbackWorld(hq=options, local=None) as world:
        world.hq.create_topics([Topic("orders", partitions=2)])
        allow(world.hq, Allow(Operation.DESCRIBE, name="orders"))
        yield world.hq
