"""Who answers at the ends of forwards: the doctor's probes, one connection each, under the names that brokers have.

Through a forward a wrong broker looks like a right one until records are in the wrong place, so each forward is asked
for the node's identity. Only a contradiction is an error: another node or another cluster answers. What cannot be
proven (a user without DESCRIBE_CONFIGS on brokers before 4.4) is no obstacle, because the far end dialled the name that
the broker advertises; and a broker that is silent now may be restarting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from brokernat.address import Endpoint
from brokernat.config import Cluster
from brokernat.doctor.credentials import client_side
from brokernat.doctor.evidence import EndpointProbe, Stage
from brokernat.doctor.probes.walk import Prober, Shared
from brokernat.text import printable

_STEP = 5.0
_PARALLEL = 32


@dataclass(frozen=True, slots=True)
class ForwardedBroker:
    """A broker behind a forward: what it advertises, where its forward listens, and its node id where that is known."""

    advertised: Endpoint
    local: Endpoint
    node_id: int | None = None

    def __str__(self) -> str:
        return str(self.advertised) if self.node_id is None else f"node {self.node_id} at {self.advertised}"


def probe(
    cluster: Cluster, brokers: Sequence[ForwardedBroker], timeout: float, *, until: Stage = "identity"
) -> list[EndpointProbe]:
    """What a client of this cluster meets behind each forward, in their order.

    Args:
        cluster: whose client section is used.
        timeout: of the whole, in seconds.
        until: the last stage.

    Raises:
        ConfigError: the client's section cannot be read.
    """
    client = client_side(replace(cluster, tunnel=None))
    # The far end of the tunnel dials what the cluster itself names.
    client.login_to.update(broker.local for broker in brokers)

    async def run() -> list[EndpointProbe]:
        deadline = asyncio.get_running_loop().time() + timeout
        prober = Prober(client, min(_STEP, timeout), deadline, asyncio.Semaphore(_PARALLEL), Shared(), connections=1)
        return await asyncio.gather(
            *(prober.probe(each.local, each.advertised.host, each.node_id, until=until) for each in brokers)
        )

    return asyncio.run(run())


def contradiction(broker: ForwardedBroker, seen: EndpointProbe, cluster_id: str | None) -> str | None:
    """What proves that the forward leads elsewhere; None where nothing does."""
    if seen.answers and cluster_id is not None and seen.cluster_id not in (None, cluster_id):
        return f"cluster {printable(str(seen.cluster_id))} answers, not {printable(cluster_id)}"
    identity = seen.identity
    if identity is None or identity.node_id is None or broker.node_id is None:
        return None
    if identity.node_id != broker.node_id:
        return f"node {identity.node_id} answers ({identity.method}, {identity.confidence})"
    if identity.others:
        return f"different nodes answer: {', '.join(map(str, (identity.node_id, *identity.others)))}"
    return None


def silence(seen: EndpointProbe) -> str | None:
    """What keeps a client from the broker, None where it gets through."""
    if seen.answers:
        return None
    failed = seen.failed
    if failed is None:
        return "no answer in time"
    result = getattr(seen, failed)
    detail = f" ({printable(result.detail)})" if getattr(result, "detail", "") else ""
    return f"{_STAGES[failed]}: {result.outcome}{detail}"


_STAGES = {
    "resolve": "name",
    "connect": "connection",
    "tls": "TLS handshake",
    "versions": "first request",
    "sasl": "login",
    "metadata": "metadata",
}
