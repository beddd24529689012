"""Evidence of the usual situation, made by hand: three brokers behind a gateway that forwards a port to each."""

from dataclasses import replace

from tests.support.endpoint_probes import probed
from tests.support.endpoint_probes import replace as replace_words

from brokernat.doctor.checks import CHECKS
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, EndpointProbe, Evidence, Identity

BROKERS = tuple(Advertised(n, f"192.168.1.{22 + n}", 9092) for n in (1, 2, 3))


def reached(node_id: int, endpoint: str) -> EndpointProbe:
    """A node that answers."""
    host = endpoint.rpartition(":")[0]
    return probed(
        endpoint,
        host,
        (host,),
        attempts=(Attempt(host, "connected"),),
        speaks="kafka",
        cluster_id="c",
        brokers=BROKERS,
        identity=Identity(node_id, "describeconfigs"),
    )


def steady(probe: EndpointProbe, connections: int = 17) -> EndpointProbe:
    """The same with further connections that met the node again."""
    assert probe.identity is not None
    assert probe.identity.node_id is not None
    met = tuple((each.address, probe.identity.node_id) for each in probe.attempts)
    return replace_words(probe, identity=replace(probe.identity, met=met, connections=connections))


def refused(endpoint: str) -> EndpointProbe:
    """A host where nothing listens."""
    host = endpoint.rpartition(":")[0]
    return probed(endpoint, host, (host,), attempts=(Attempt(host, "refused"),))


GATEWAY = {n: f"172.10.1.40:{9092 + n}" for n in (1, 2, 3)}
WITHOUT_MAP = Evidence(
    taken_at="2026-11-21T12:00:00+00:00",
    cluster="hq",
    security_protocol="PLAINTEXT",
    mechanism=None,
    rules=None,
    unmapped="pass",
    bootstraps=tuple(reached(n, end) for n, end in GATEWAY.items()),
    paths=tuple(BrokerPath(each, refused(each.endpoint)) for each in BROKERS),
    replicas=(1, 2, 3),
)


def mapped(leads: dict[int, int], evidence: Evidence = WITHOUT_MAP) -> Evidence:
    """The same with a map that leads each node to the forward of another."""
    rules = {n: f"{BROKERS[n - 1].endpoint}={GATEWAY[to]}" for n, to in leads.items()}
    paths = tuple(
        BrokerPath(each, reached(leads[each.node_id], GATEWAY[leads[each.node_id]]), rules[each.node_id])
        if each.node_id in leads
        else BrokerPath(each, None)
        for each in BROKERS
    )
    return replace(evidence, rules=tuple(rules.values()), unmapped="fail", paths=paths)


# For snapshots of whole reports, which a new check is not to change.
FEW = tuple(
    check
    for check in CHECKS
    if check.code in {"BN101", "BN103", "BN202", "BN302", "BN305", "BN502", "BN503", "BN601", "BN605", "BN606", "BN614"}
)


WELL = tuple(BrokerPath(each, reached(each.node_id, each.endpoint)) for each in BROKERS)
DIRECT = replace_words(
    WITHOUT_MAP, bootstraps=(reached(1, BROKERS[0].endpoint), reached(2, BROKERS[1].endpoint)), paths=WELL
)
"""Three brokers that are reached where they advertise."""
