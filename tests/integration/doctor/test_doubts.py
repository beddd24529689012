"""What real brokers show and what stops nobody: a warning or a note of its own, no root cause, and gone once healed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from tests.integration.doctor.cases import client, led
from tests.integration.doctor.looking import looked_at, problems
from tests.integration.doctor.scene import Scene

from brokernat.address import AddressMap, Unmapped
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import diagnose
from brokernat.doctor.finding import Severity

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]


@dataclass(frozen=True)
class Doubt:
    """A client about which one thing is said, and the same client healed."""

    code: str
    severity: Severity
    broken: Callable[[Scene], Cluster]
    healed: Callable[[Scene], Cluster]
    cause: str | None = None
    """The root cause beside it."""


def with_rule(cluster: Cluster, rule: str, unmapped: Unmapped = Unmapped.FAIL) -> Cluster:
    rules = () if cluster.address_map is None else cluster.address_map.rules
    return replace(cluster, address_map=AddressMap((*rules, *AddressMap.parse(rule).rules), unmapped))


DOUBTS = (
    # Every machine calls 127.0.0.1 `localhost`.
    Doubt(
        "BN106",
        Severity.WARNING,
        lambda it: client(it.at("FRED"), client_dns_lookup="resolve_canonical_bootstrap_servers_only"),
        lambda it: client(it.at("FRED"), client_dns_lookup="use_all_dns_ips"),
    ),
    Doubt(
        "BN607",
        Severity.WARNING,
        lambda it: with_rule(it.hq2.cluster, f"{it.hq2.advertised[1]}={it.hq2.reachable[2]}"),
        lambda it: it.hq2.cluster,
    ),
    Doubt(
        "BN609",
        Severity.WARNING,
        lambda it: with_rule(client(it.at("FRED")), "192.0.2.23:9092=192.0.2.40:9093", Unmapped.PASS),
        lambda it: client(it.at("FRED")),
    ),
    Doubt(
        "BN801",
        Severity.INFO,
        lambda it: led(it.hq2, {1: 1}),
        lambda it: led(it.hq2, {1: 1, 2: 2}),
        "BN605",
    ),
)


@pytest.mark.parametrize("doubt", DOUBTS, ids=lambda doubt: doubt.code)
def test_it_is_said_and_gone_when_healed(doubt: Doubt, doctor_scene: Scene) -> None:
    found = diagnose(looked_at(doubt.broken(doctor_scene)))
    assert (doubt.code, doubt.severity) in {(each.code, each.severity) for each in found.findings}
    assert (found.cause.code if found.cause else None) == doubt.cause
    if doubt.cause is None:
        assert {each.code for each in found.findings if each.severity is not Severity.INFO} == {doubt.code}
    healed = looked_at(doubt.healed(doctor_scene))
    assert doubt.code not in {each.code for each in diagnose(healed).findings}
    assert problems(healed) == set()
