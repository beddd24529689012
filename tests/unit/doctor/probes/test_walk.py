"""Later connections: a balancer that shows late is found, so is a name's other address; one that is met ends them."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, cycle

import pytest
from tests.support.simulated_brokers import Simulated

from brokernat.address import Endpoint
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import EndpointProbe, Identity, NameLookup
from brokernat.doctor.probes import walk
from brokernat.doctor.probes.walk import Prober, patience_of

NODES = (1, 2, 3)
TIMEOUT = 60


async def converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    answer: Callable[[bytes], bytes | None],
    requests: int | None = None,
) -> None:
    """One connection's requests are answered, all of them where `requests` is None; the others wait."""
    try:
        for _ in count() if requests is None else range(requests):
            (length,) = struct.unpack(">i", await reader.readexactly(4))
            writer.write(answer(await reader.readexactly(length)) or b"")
            await writer.drain()
        await reader.read()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def looked_at(
    behind: Sequence[int], newest_api_versions: int, *, answers: int | None = None, patience: float = 20.0
) -> tuple[EndpointProbe, int]:
    """A look at a balancer that leads each connection to the next of these nodes, and how many it took.

    Args:
        answers: how many requests of a connection are answered; all of them where it is None.
    """

    async def run() -> tuple[EndpointProbe, int]:
        taken, talks = 0, set[asyncio.Task[None] | None]()

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal taken
            talks.add(asyncio.current_task())
            node_id, taken = behind[taken % len(behind)], taken + 1
            await converse(reader, writer, partial(cluster.answer, node_id), answers)

        async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
            here = Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
            cluster = Simulated(dict.fromkeys(NODES, here), newest_api_versions)
            deadline = asyncio.get_running_loop().time() + TIMEOUT
            probe = await Prober(ClientSide(), patience, deadline, asyncio.Semaphore(1)).probe(here, expected=1)
            await asyncio.gather(*filter(None, talks), return_exceptions=True)
        return probe, taken

    return asyncio.run(run())


@pytest.mark.parametrize("newest_api_versions", [5, 4])
def test_three_connections_that_meet_one_node_are_not_enough(newest_api_versions: int) -> None:
    probe, taken = looked_at((1, 1, 1, 1, 1, 2), newest_api_versions)
    assert probe.identity is not None
    assert (probe.identity.node_id, probe.identity.others) == (1, (2,))
    assert taken == 6


def test_the_first_that_meets_another_node_is_the_last() -> None:
    probe, taken = looked_at((1, 2, 3), 5)
    assert probe.identity is not None
    assert probe.identity.others == (2, 3)
    assert taken == 3


def test_one_node_behind_it_is_no_balancer() -> None:
    probe, taken = looked_at((2,), 5)
    assert probe.identity is not None
    assert (probe.identity.node_id, probe.identity.others, taken) == (2, (), 6)


def gateway_met(
    monkeypatch: pytest.MonkeyPatch, behind: Mapping[str, tuple[Simulated, int] | Iterator[tuple[Simulated, int]]]
) -> tuple[Identity, set[str]]:
    """The identity behind a name with these addresses, each with the cluster and node there, or with those that its
    connections reach in turn; and the met addresses.
    """
    met: set[str] = set()

    async def resolved(_: str, __: int, ___: float, *, canonical: bool) -> NameLookup:
        return NameLookup("ok", tuple(behind))

    async def run() -> EndpointProbe:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            here: str = writer.get_extra_info("sockname")[0]
            there = behind[here]
            cluster, node_id = next(there) if isinstance(there, Iterator) else there

            def answer(packet: bytes) -> bytes | None:
                met.add(here)
                return cluster.answer(node_id, packet)

            await converse(reader, writer, answer)

        first, *others = behind
        async with await asyncio.start_server(talk, first, 0) as server:
            port = server.sockets[0].getsockname()[1]
            servers = [await asyncio.start_server(talk, each, port) for each in others]
            deadline = asyncio.get_running_loop().time() + TIMEOUT
            prober = Prober(ClientSide(), 20.0, deadline, asyncio.Semaphore(1))
            probe = await prober.probe(Endpoint("gateway.example", port))
            for each in servers:
                each.close()
        return probe

    monkeypatch.setattr(walk, "resolve", resolved)
    identity = asyncio.run(run()).identity
    assert identity is not None
    return identity, met


CLUSTER = Simulated(dict.fromkeys(NODES, Endpoint("gateway.example", 9092)))
OLDER = replace(CLUSTER, newest_api_versions=4)


@pytest.mark.parametrize("other", [2, 7])
def test_each_address_of_a_name_is_met(monkeypatch: pytest.MonkeyPatch, other: int) -> None:
    """Clients take any of them, so the broker behind the last one counts as much as that behind the first."""
    behind = {f"127.0.0.{number}": (CLUSTER, 1) for number in range(1, 9)} | {f"127.0.0.{other + 1}": (CLUSTER, 2)}
    identity, met = gateway_met(monkeypatch, behind)
    assert (identity.node_id, identity.others) == (1, (2,))
    assert f"127.0.0.{other + 1}" in met


@pytest.mark.parametrize("releases", [(CLUSTER, OLDER), (OLDER, CLUSTER)], ids=["older-second", "older-first"])
def test_another_node_of_another_release_is_met(
    monkeypatch: pytest.MonkeyPatch, releases: tuple[Simulated, Simulated]
) -> None:
    identity, _ = gateway_met(monkeypatch, {"127.0.0.1": (releases[0], 1), "127.0.0.2": (releases[1], 2)})
    assert (identity.node_id, identity.others) == (1, (2,))


@pytest.mark.parametrize("release", [CLUSTER, OLDER], ids=["newest", "older"])
def test_the_node_of_the_same_id_in_another_cluster_is_a_stranger(
    monkeypatch: pytest.MonkeyPatch, release: Simulated
) -> None:
    elsewhere = replace(release, cluster_id="elsewhere-id")
    identity, _ = gateway_met(monkeypatch, {"127.0.0.1": (release, 1), "127.0.0.2": (elsewhere, 1)})
    assert (identity.node_id, identity.others) == (1, ())
    assert identity.strangers == (("127.0.0.2", "elsewhere-id"),)


@pytest.mark.parametrize("release", [CLUSTER, OLDER], ids=["newest", "older"])
def test_a_balancer_over_two_clusters_is_met_on_each_connection(
    monkeypatch: pytest.MonkeyPatch, release: Simulated
) -> None:
    elsewhere = replace(release, cluster_id="elsewhere-id")
    identity, _ = gateway_met(monkeypatch, {"127.0.0.1": cycle([(release, 1), (elsewhere, 1)])})
    assert (identity.node_id, identity.others) == (1, ())
    assert identity.strangers == (("127.0.0.1", "elsewhere-id"),)


def test_a_broker_that_greets_and_then_hangs_is_told_from_one_that_hangs_up() -> None:
    probe, taken = looked_at((1,), 5, answers=1, patience=3.0)
    assert (probe.speaks, probe.answers, probe.slow, taken) == ("kafka", False, True, 3)
    assert probe.failed == "metadata"
    tried = probe.tried("metadata")
    assert tried is not None
    assert (tried.made, tried.failed, tried.faults) == (3, 3, ("silent",) * 3)


@pytest.mark.parametrize("outcome", ["silent", "stalled"])
def test_who_did_not_finish_an_answer_gets_half_the_time_so_that_two_tries_fit(outcome: str) -> None:
    prober = Prober(ClientSide(), 4.0, 600.0, asyncio.Semaphore(1))
    looking = walk.Walk(prober, Endpoint("10.9.0.1", 9092), "10.9.0.1")
    assert looking._patience("versions") == 4.0
    looking.log["versions"].append((4.0, outcome))
    assert looking._patience("versions") == 2.0


@pytest.mark.parametrize(("timeout", "expected"), [(8, 2), (20, 5), (30, 5), (60, 10), (120, 20)])
def test_more_time_waits_longer_for_an_answer(timeout: float, expected: float) -> None:
    assert patience_of(timeout) == expected
