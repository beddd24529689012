"""What is asked once for a cluster, on one connection to one bootstrap server: partitions and coordinators.

What a restart makes right by itself is looked at twice: partitions without a leader and missing coordinators count only
when they are still so after a pause.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from brokernat.address import Endpoint
from brokernat.doctor.evidence import Coordinator, Leaderless, Look
from brokernat.doctor.probes.channel import ChannelError
from brokernat.doctor.probes.coordinators import NOT_ANSWERED, PAUSE, coordinator
from brokernat.doctor.probes.look import Looker
from brokernat.doctor.probes.metadata import partitions


@dataclass(frozen=True, slots=True)
class Survey:
    """`replicas` is None where the partitions could not be read."""

    replicas: tuple[int, ...] | None = None
    leaderless: tuple[Leaderless, ...] = ()
    coordinators: tuple[Coordinator, ...] = ()


async def survey(looker: Looker, look: Look, wanted: Sequence[Coordinator]) -> Survey:
    """What was seen until the time ran out.

    Args:
        look: a bootstrap server that answers.
        wanted: whose coordinators are asked for.
    """
    found = Survey()
    try:
        async with (
            looker.parallel,
            asyncio.timeout_at(looker.deadline),
            looker.channel(look, Endpoint.parse(look.endpoint)) as (channel, _),
        ):
            if channel is not None:
                newest = look.newest("Metadata")
                seen = await partitions(channel, newest)
                found = Survey(seen.replicas)
                if seen.leaderless:
                    await asyncio.sleep(PAUSE)
                    still = (await partitions(channel, newest)).leaderless
                    both = {place: still[place] for place in seen.leaderless if place in still}
                    found = replace(found, leaderless=_summed(both))
                for each in wanted:
                    told = await coordinator(channel, each, seen.topics)
                    found = replace(found, coordinators=(*found.coordinators, told))
    except (TimeoutError, ChannelError):
        pass
    left = wanted[len(found.coordinators) :]
    return replace(found, coordinators=(*found.coordinators, *(replace(each, error=NOT_ANSWERED) for each in left)))


def _summed(places: Mapping[tuple[str, int], tuple[str, tuple[int, ...]]]) -> tuple[Leaderless, ...]:
    """One record for each error, with the first partition as its sample."""
    summed: dict[str, Leaderless] = {}
    for (topic, number), (error, nodes) in sorted(places.items()):
        before = summed.get(error, Leaderless(error, 0, f"{topic}-{number}"))
        together = tuple(sorted({*before.nodes, *nodes}))
        summed[error] = replace(before, count=before.count + 1, nodes=together)
    return tuple(summed.values())
