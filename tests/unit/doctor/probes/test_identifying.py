"""Whom later connections meet, and what a certificate tells."""

import pytest

from brokernat.doctor.evidence import Advertised, Identity, Look, TlsSeen
from brokernat.doctor.probes.identifying import by_certificate, samples, settled

BROKERS = (Advertised(1, "b1.hq", 9092), Advertised(2, "b2.hq", 9092), Advertised(3, "10.0.0.3", 9092))


@pytest.mark.parametrize(
    ("method", "met", "node_id", "others"),
    [
        ("apiversions", [1, 1], 1, ()),
        ("apiversions", [None, None], 1, ()),
        ("describeconfigs", [2, 3], 1, (2, 3)),
        ("listoffsets", [1, None], 1, ()),
        ("listoffsets", [None, None], None, ()),
        ("listoffsets", [2, 2], 1, (2,)),
        ("certificate", [1, 2], 1, (2,)),
    ],
)
def test_what_only_fits_needs_a_second_connection(
    method: str, met: list[int | None], node_id: int | None, others: tuple[int, ...]
) -> None:
    found = settled(Identity(1, method, "why"), met)  # type: ignore[arg-type]
    assert (found.node_id, found.others, found.detail) == (node_id, others, "why")
    assert found.method == ("none" if node_id is None else method)


@pytest.mark.parametrize(
    ("names", "node_id"),
    [
        (("b2.hq",), 2),
        (("10.0.0.3", "gateway"), 3),
        (("b1.hq", "b2.hq"), None),
        (("*.hq",), None),
        (("gateway",), None),
        ((), None),
    ],
)
def test_a_certificate_tells_where_it_fits_one_broker_alone(names: tuple[str, ...], node_id: int | None) -> None:
    assert by_certificate(Look("gw:1", "gw", brokers=BROKERS), TlsSeen("ok", names)) == node_id


def test_without_tls_there_is_no_certificate() -> None:
    assert by_certificate(Look("gw:1", "gw", brokers=BROKERS), None) is None


@pytest.mark.parametrize(("brokers", "wanted"), [(0, 2), (1, 2), (2, 8), (3, 5), (5, 4), (14, 3), (15, 2), (200, 2)])
def test_the_fewer_brokers_the_more_connections_tell_a_balancer(brokers: int, wanted: int) -> None:
    assert samples(brokers) == wanted
    assert brokers < 2 or brokers**-wanted < 1 / 200
