"""What a healthy run of each role says, in one place."""

import re

from tests.matrix.programs import Outcome

from brokernat.testbed import RunningCluster

ROLES = ("admin", "producer", "transactional", "group")
RECORDS = 20
"""Of one partition, in one round of the producer role."""


def assert_healthy(outcome: Outcome, cluster: RunningCluster, client: str = "client") -> None:
    """Every role did its work on every broker, and the brokers told the client addresses that are dead here."""
    nodes = list(cluster.nodes)
    admin = outcome.of("admin", client)
    assert admin["ok"], admin["error"]
    assert admin["cluster_id"] == cluster.cluster_id
    # Java's Node writes IPv6 without brackets.
    assert admin["nodes"] == [f"{node} {at.host}:{at.port}" for node, at in cluster.advertised.items()]
    assert admin["answered_for"] == nodes
    assert admin["list_offsets"] in (len(nodes), "no such call")

    producer = outcome.of("producer", client)
    assert producer["ok"], producer["error"]
    assert producer["acked"] == {str(node): RECORDS for node in nodes}

    transactional = outcome.of("transactional", client)
    assert transactional["ok"], transactional["error"]
    assert transactional["committed"] == RECORDS * len(nodes)
    assert transactional["aborted"] == 0

    group = outcome.of("group", client)
    assert group["ok"], group["error"]
    # Three rounds so far (plain, committed, aborted), and one that came after the first member had left.
    assert group["read"] == 3 * RECORDS * len(nodes)
    assert group["committed"] == group["there"]
    assert group["read_after_rejoin"] == RECORDS * len(nodes)


def assert_dialled(outcome: Outcome, cluster: RunningCluster) -> None:
    """The agent said, once each, which advertised endpoint it translated to what."""
    for node in cluster.nodes:
        line = f"translated {cluster.advertised[node]} -> {cluster.reachable[node]} "
        assert outcome.log.count(line) == 1, outcome.log[-4000:]


def refusals(log: str) -> dict[str, str]:
    """The endpoints that a map refused, with the rule to add that stands in the same line."""
    return dict(re.findall(r'refused: (\S+) has no rule .*?; add "([^"]+)"', log))


def bootstrap_by_name(cluster: RunningCluster) -> dict[str, str]:
    """The bootstrap servers that TLS wants: the brokers' own names, which nobody here can resolve."""
    return {"bootstrap.servers": ",".join(map(str, cluster.advertised.values()))}
