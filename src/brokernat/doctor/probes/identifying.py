"""Which node answers at an endpoint: the methods, by how much they prove, and whether later connections meet it again.

| method | confidence | what it takes |
|---|---|---|
| `apiversions` | proven | brokers from 4.4 on |
| `describeconfigs` | proven | DESCRIBE_CONFIGS on the cluster |
| `listoffsets` | likely | DESCRIBE on a topic that this node leads; two connections that agree |
| `certificate` | likely | TLS, and a certificate whose names fit one broker alone; two connections that agree |
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import ceil, log

from brokernat.doctor.evidence import Identity, Look, TlsSeen
from brokernat.doctor.probes.certificate_names import covers
from brokernat.doctor.probes.channel import Channel, ChannelError
from brokernat.doctor.probes.identity import who_answers, who_answers_again
from brokernat.doctor.probes.leadership import Leadership

_FEWEST, _UNSEEN = 2, 200


def samples(brokers: int) -> int:
    """How many later connections leave a chance of 1 in 200 that a balancer over these brokers is taken for one. Pure.

    Eight of two brokers, five of three, two from fifteen on: what is many anyway costs no more.
    """
    return _FEWEST if brokers <= 1 else max(_FEWEST, ceil(log(_UNSEEN, brokers)))


async def identify(channel: Channel, seen: Look, expected: int | None, leadership: Leadership) -> Identity:
    """Who answers; raises ChannelError.

    Args:
        seen: the look so far, with the brokers that are told here.
        expected: the node that should answer, asked for first.
        leadership: what is known of leaders.
    """
    nodes = sorted(_nodes(seen), key=lambda node: node != expected)
    own = await who_answers(channel, seen.newest("ApiVersions"), seen.cluster_id, nodes)
    if own.node_id is not None:
        return own
    try:
        leader = await leadership.leader_here(channel, seen.cluster_id or "")
    except ChannelError:
        leader = None
    if leader is not None:
        return Identity(leader, "listoffsets", own.detail)
    named = by_certificate(seen, seen.tls)
    return own if named is None else Identity(named, "certificate", own.detail)


async def identify_again(
    channel: Channel, seen: Look, first: Identity, tls: TlsSeen | None, leadership: Leadership
) -> int | None:
    """Who answers on a later connection, by the method that told the first one; raises ChannelError."""
    match first.method:
        case "listoffsets":
            return await leadership.leader_here(channel, seen.cluster_id or "")
        case "certificate":
            return by_certificate(seen, tls)
    return await who_answers_again(channel, first, seen.cluster_id, _nodes(seen))


def settled(first: Identity, met: Collection[int | None]) -> Identity:
    """The first one, held against whom later connections met; what only fits needs one of them to agree. Pure."""
    others = tuple(sorted({node for node in met if node is not None} - {first.node_id}))
    if first.confidence == "likely" and first.node_id not in met and not others:
        return Identity(None, "none", first.detail)
    return replace(first, others=others)


def by_certificate(seen: Look, tls: TlsSeen | None) -> int | None:
    """The one broker whose advertised host the certificate names, None where it names several or none. Pure."""
    names = () if tls is None else tls.names
    fitting = [each.node_id for each in seen.brokers or () if covers(names, each.host)]
    return fitting[0] if len(fitting) == 1 else None


def _nodes(seen: Look) -> list[int]:
    return [each.node_id for each in seen.brokers or ()]
