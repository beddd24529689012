"""Which endpoints are probed, and how often."""

import asyncio
from types import SimpleNamespace
from typing import cast

import pytest
from tests.support.endpoint_probes import probed

from brokernat.address import AddressMap, Endpoint
from brokernat.clients.tls import TlsSide
from brokernat.doctor.credentials import ClientSide
from brokernat.doctor.evidence import Advertised, Attempt, BrokerPath, EndpointProbe, Identity, ListenerSeen
from brokernat.doctor.probes.collecting import _Dialling
from brokernat.doctor.probes.walk import Prober


class _Prober:
    def __init__(self) -> None:
        self.client = ClientSide()
        self.probed: list[Endpoint] = []

    async def probe(self, endpoint: Endpoint, name: str, expected: int) -> EndpointProbe:
        self.probed.append(endpoint)
        await asyncio.sleep(0)
        return probed(str(endpoint), name)


def test_nodes_that_advertise_one_endpoint_share_its_probe() -> None:
    """Each of them alone would cost the time of a black hole, one after the other."""
    prober = _Prober()
    brokers = [Advertised(node, "localhost", 9092) for node in (1, 2, 3)] + [Advertised(4, "localhost", 9093)]

    async def run() -> list[BrokerPath]:
        dialling = _Dialling(None, cast("Prober", prober), cast("Prober", prober))
        return await asyncio.gather(*map(dialling.path, brokers))

    paths = asyncio.run(run())
    assert [path.broker.node_id for path in paths] == [1, 2, 3, 4]
    assert prober.probed == [Endpoint("localhost", 9092), Endpoint("localhost", 9093)]


def test_a_bootstrap_server_that_a_broker_advertises_is_probed_once_unless_tls_is_told_another_name() -> None:
    """Twice would be two findings about one place."""
    here = Endpoint("127.0.0.1", 9093)
    for client, other_name in ((ClientSide(), 0), (ClientSide(tls=cast("TlsSide", SimpleNamespace(context=1))), 1)):
        prober = _Prober()
        prober.client = client
        dialling = _Dialling(None, cast("Prober", prober), cast("Prober", prober))
        dialling.known[dialling.place(here, "127.0.0.1")] = probed(str(here), "127.0.0.1")
        asyncio.run(dialling._probe(here, Advertised(1, "127.0.0.1", 9093)))
        assert prober.probed == []
        asyncio.run(dialling._probe(here, Advertised(1, "kafka-1", 9093)))
        assert len(prober.probed) == other_name


@pytest.mark.parametrize(
    ("second_answers", "expected"), [(True, ["in-1:1", "out-1:2"]), (False, ["in-1:1", "out-1:2", "out-2:2"])]
)
def test_another_listener_is_probed_at_every_broker_where_it_may_be_needed(
    second_answers: bool, expected: list[str]
) -> None:
    """It is advised in place of the one that fails, and one broker of it may fail, too."""
    inside, outside = (
        tuple(Advertised(node, f"{name}-{node}", port) for node in (1, 2)) for name, port in (("in", 1), ("out", 2))
    )
    settings = (
        ("advertised.listeners", "IN://in-1:1,OUT://out-1:2"),
        ("listener.security.protocol.map", "IN:PLAINTEXT,OUT:PLAINTEXT"),
    )

    class Outside(_Prober):
        async def touch(self, endpoint: Endpoint, tries: int = 1) -> EndpointProbe:
            return probed(str(endpoint), attempts=(Attempt("10.0.0.1", "connected"),))

        async def probe(self, endpoint: Endpoint, name: str, expected: int, until: str = "") -> EndpointProbe:
            return probed(str(endpoint), name, brokers=outside, attempts=(Attempt("10.0.0.1", "connected"),))

    first = probed("in-1:1", brokers=inside, identity=Identity(1, "describeconfigs"), settings=settings)
    second = probed("in-2:1", brokers=inside if second_answers else None)
    paths = [BrokerPath(broker, probe) for broker, probe in zip(inside, (first, second), strict=True)]
    prober = cast("Prober", Outside())
    seen = asyncio.run(_Dialling(None, prober, prober).listeners([first], paths, {1, 2}))
    assert [each.endpoint for each in seen] == expected


def test_a_listener_is_dialled_by_a_rule_with_the_id_of_its_node() -> None:
    class Closed(_Prober):
        async def touch(self, endpoint: Endpoint, tries: int = 1) -> EndpointProbe:
            return probed(str(endpoint))

    prober = cast("Prober", Closed())
    dialling = _Dialling(AddressMap.parse("*.hq:9092 = gateway:{9000+id}"), prober, prober)
    seen = asyncio.run(dialling._listener(ListenerSeen(2, "OUT", "kafka-2.hq:9092", None), "metadata"))
    assert seen is not None
    assert seen.endpoint == "gateway:9002"
