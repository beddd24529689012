"""Certificates are for the original advertised host."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.testbed import Advertise, Certificate, ClusterOptions, Listener, Protocol
from brokernat.testbed.loopback_plan import loopback_plan
from brokernat.testbed.tls import Wanted, generate_arguments, wanted_stores


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Advertise.ADDRESS, "ip:127.17.1.24"), (Advertise.NAME, "dns:kafka-2.hq.invalid"), (Advertise.IPV6, "ip:::1")],
)
def test_the_certificate_names_what_is_advertised(kind: Advertise, name: str) -> None:
    (cluster,) = loopback_plan(17, hq=ClusterOptions(advertise=kind, protocol=Protocol.SSL)).clusters
    arguments = generate_arguments(list(wanted_stores(cluster))[1], Path("/stores"))
    assert f"san={name}" in arguments
    assert "/stores/node-2.p12" in arguments


def test_each_listener_with_tls_has_a_certificate_of_its_own() -> None:
    listeners = (
        Listener("OLD", Protocol.SSL, advertised="kafka.invalid", certificate=Certificate.EXPIRED),
        Listener("PLAIN", Protocol.PLAINTEXT),
    )
    (cluster,) = loopback_plan(17, hq=ClusterOptions(brokers=1, listeners=listeners)).clusters
    (wanted,) = wanted_stores(cluster)
    assert wanted == Wanted("node-1-old", "kafka.invalid", Certificate.EXPIRED)


@pytest.mark.parametrize("certificate", list(Certificate))
def test_only_what_is_its_own_anchor_gets_its_time_with_its_key(certificate: Certificate) -> None:
    arguments = generate_arguments(Wanted("node-1", "kafka.invalid", certificate), Path("/stores"))
    assert ("-startdate" in arguments) == (certificate is Certificate.EXPIRED_ANCHOR)
