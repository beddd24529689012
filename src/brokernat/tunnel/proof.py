"""Proves the identity of the brokers behind forwards, with the doctor's probes, one connection each.

Without a proof, a forward to a wrong broker would be noticed only when records are in the wrong place. So the identity
of each node is requested through its forward. Only a contradiction is an error: another node or another cluster
answers. An unproven identity (a user without DESCRIBE_CONFIGS on brokers before 4.4) is accepted, because the far end
dialled the broker's advertised name. A broker without a response may be restarting.
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
    """A broker behind a forward: its advertised endpoint, the local endpoint, and its node id, if known."""

    advertised: Endpoint
    local: Endpoint
    node_id: int | None = None

    def __str__(self) -> str:
        return str(self.advertised) if self.node_id is None else f"node {self.node_id} at {self.advertised}"


def probe(
    cluster: Cluster, brokers: Sequence[ForwardedBroker], timeout: float, *, until: Stage = "identity"
) -> list[EndpointProbe]:
    """Probes each forward as a client of this cluster; the results are in the order of the forwards.

    Args:
        cluster: the cluster with the client properties.
        timeout: seconds for all probes.
        until: the last stage.

    Raises:
        ConfigError: the client properties cannot be used.
    """
    client = client_side(replace(cluster, tunnel=None))
    # The far end of the tunnel dials the cluster's own names.
    client.login_to.update(broker.local for broker in brokers)

    async def run() -> list[EndpointProbe]:
        deadline = asyncio.get_running_loop().time() + timeout
        prober = Prober(client, min(_STEP, timeout), deadline, asyncio.Semaphore(_PARALLEL), Shared(), connections=1)
        return await asyncio.gather(
            *(prober.probe(each.local, each.advertised.host, each.node_id, until=until) for each in brokers)
        )

    return asyncio.run(run())


def contradiction(broker: ForwardedBroker, result: EndpointProbe, cluster_id: str | None) -> str | None:
    """The evidence that the forward leads to another broker or cluster; None if there is none."""
    if result.answers and cluster_id is not None and result.cluster_id not in (None, cluster_id):
        return f"cluster {printable(str(result.cluster_id))} answers, not {printable(cluster_id)}"
    identity = result.identity
    if identity is not None and identity.other_clusters:
        met = (str(result.cluster_id), *identity.other_clusters)
        return f"several clusters answer: {', '.join(map(printable, met))}"
    if identity is None or identity.node_id is None or broker.node_id is None:
        return None
    if identity.node_id != broker.node_id:
        return f"node {identity.node_id} answers ({identity.method}, {identity.confidence})"
    if identity.others:
        return f"different nodes answer: {', '.join(map(str, (identity.node_id, *identity.others)))}"
    return None


def unreachable_reason(result: EndpointProbe) -> str | None:
    """The reason why a client cannot reach the broker, None if it can."""
    if result.answers:
        return None
    failed = result.failed
    if failed is None:
        return "no answer in time"
    if result.mechanisms:
        return f"the listener requires a login ({', '.join(map(printable, result.mechanisms))})"
    stage = getattr(result, failed)
    detail = f" ({printable(stage.detail)})" if getattr(stage, "detail", "") else ""
    return f"{_STAGES[failed]}: {stage.outcome}{detail}"


_STAGES = {
    "resolve": "name",
    "connect": "connection",
    "tls": "TLS handshake",
    "versions": "first request",
    "sasl": "login",
    "metadata": "metadata",
}
