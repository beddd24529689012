"""What contradicts a forward, and what is only silence."""

import pytest
from tests.support.simulated_brokers import serving

from brokernat.address import Endpoint
from brokernat.config import Cluster, Secret
from brokernat.doctor.evidence import ApiVersions, ClusterMetadata, Connection, EndpointProbe, Identity
from brokernat.tunnel.proof import ForwardedBroker, contradiction, probe, unreachable_reason

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
        (
            answering(Identity(2, "apiversions", strangers=(("127.0.0.1", "other"), ("127.0.0.2", "other")))),
            "several clusters answer: hq, other",
        ),
    ],
    ids=["right", "not provable", "not asked", "wrong", "balancer", "other cluster", "balancer over clusters"],
)
def test_only_a_contradiction_counts(seen: EndpointProbe, found: str | None) -> None:
    assert contradiction(BROKER, seen, "hq") == found


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_login_goes_through_the_forward_as_to_the_broker_itself(mechanism: str) -> None:
    """Without TLS, too: the far end dials the cluster's own names."""
    client = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism}
    login: dict[str, str | Secret] = {"sasl.username": "app", "sasl.password": Secret("s3cret")}
    with serving(1, dead="127.0.77", mechanisms=(mechanism,)) as served:
        advertised = served.cluster.advertised[1]
        broker = ForwardedBroker(advertised, served.reachable[1], 1)
        (seen,) = probe(Cluster("hq", (advertised,), client=client | login), [broker], 60)
    # It is tried; a simulated broker hangs up at the first token.
    assert seen.sasl is not None
    assert seen.sasl.outcome == "closed"


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
