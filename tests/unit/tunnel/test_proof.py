"""What contradicts a forward, and what is only silence."""

import pytest

from brokernat.address import Endpoint
from brokernat.doctor.evidence import ApiVersions, ClusterMetadata, Connection, EndpointProbe, Identity
from brokernat.tunnel.proof import ForwardedBroker, contradiction, unreachable_reason

LOCAL = Endpoint("127.0.0.1", 20002)
BROKER = ForwardedBroker(Endpoint("kafka-2", 9092), LOCAL, 2)


def answering(identity: Identity | None, cluster_id: str = "hq") -> EndpointProbe:
    return EndpointProbe(
        str(LOCAL), "kafka-2", metadata=ClusterMetadata("ok", cluster_id=cluster_id), identity=identity
    )


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        (answering(Identity(2, "apiversions")), None),
        (answering(Identity(None, "none")), None),
        (answering(None), None),
        (answering(Identity(3, "apiversions")), "node 3 answers (apiversions, proven)"),
        (answering(Identity(2, "apiversions", others=(1,))), "different nodes answer: 2, 1"),
        (answering(Identity(2, "apiversions"), "other"), "cluster other answers, not hq"),
    ],
    ids=["right", "not provable", "not asked", "wrong", "balancer", "other cluster"],
)
def test_only_a_contradiction_counts(seen: EndpointProbe, found: str | None) -> None:
    assert contradiction(BROKER, seen, "hq") == found


def test_silence_names_the_stage_that_failed() -> None:
    assert unreachable_reason(answering(None)) is None
    closed = EndpointProbe(str(LOCAL), "kafka-2", connect=Connection(()), complete=False)
    assert unreachable_reason(closed) == "no answer in time"
    assert (
        unreachable_reason(EndpointProbe(str(LOCAL), "kafka-2", versions=ApiVersions("closed")))
        == "first request: closed"
    )
    login = EndpointProbe(str(LOCAL), "kafka-2", metadata=ClusterMetadata("closed", mechanisms=("PLAIN",)))
    assert unreachable_reason(login) == "the listener requires a login (PLAIN)"
