"""Certificates are for the original advertised host."""

from __future__ import annotations

from pathlib import Path

import pytest

from brokernat.testbed import Advertise, ClusterOptions
from brokernat.testbed.loopback_plan import loopback_plan
from brokernat.testbed.tls import generate_arguments


@pytest.mark.parametrize(
    ("kind", "name"),
    [(Advertise.ADDRESS, "ip:127.17.1.24"), (Advertise.NAME, "dns:kafka-2.hq.invalid"), (Advertise.IPV6, "ip:::1")],
)
def test_the_certificate_names_what_is_advertised(kind: Advertise, name: str) -> None:
    (cluster,) = loopback_plan(17, hq=ClusterOptions(advertise=kind)).clusters
    arguments = generate_arguments(cluster.brokers[1], Path("/stores"))
    assert f"san={name}" in arguments
    assert "/stores/node-2.p12" in arguments
