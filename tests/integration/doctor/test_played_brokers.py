"""What Kafka's own brokers cannot be brought to show here, played in the real protocol; each heals with the cause.

A proxy that gives nodes ids of its own is no broker's doing, and a broker that offers Kerberos does not start without a
realm. What is played is what stands behind them: renumbered answers, a mechanism that is offered.
"""

from __future__ import annotations

import pytest
from tests.support.simulated_brokers import serving

from brokernat.address import AddressMap
from brokernat.config import Cluster
from brokernat.doctor.diagnosis import Diagnosis, diagnose
from brokernat.doctor.finding import Severity
from brokernat.doctor.probes.collecting import collect

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("patient_doctor")]

TIMEOUT = 60
OF_4_4, BEFORE_4_4 = 5, 4
KERBEROS = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI"}


def problems(diagnosis: Diagnosis) -> set[str]:
    return {each.code for each in diagnosis.findings if each.severity is not Severity.INFO}


def behind_a_proxy(renumbered: int, newest_api_versions: int, *, describes_configs: bool = True) -> Diagnosis:
    with serving(
        3, renumbered=renumbered, newest_api_versions=newest_api_versions, describes_configs=describes_configs
    ) as served:
        return diagnose(collect(Cluster("hq", tuple(served.reachable.values())), TIMEOUT))


@pytest.mark.parametrize(
    ("newest_api_versions", "describes_configs", "expected", "cause"),
    [
        (BEFORE_4_4, True, {"BN612"}, None),
        (OF_4_4, True, {"BN612", "BN611"}, "BN611"),
        # Leadership speaks of the proxy's ids too, so that brokers refuse clients is all that there is to see.
        (OF_4_4, False, {"BN611"}, "BN611"),
    ],
)
def test_a_proxy_that_renumbers(
    newest_api_versions: int, describes_configs: bool, expected: set[str], cause: str | None
) -> None:
    found = behind_a_proxy(1000, newest_api_versions, describes_configs=describes_configs)
    assert problems(found) == expected
    assert (found.cause.code if found.cause else None) == cause
    assert problems(behind_a_proxy(0, newest_api_versions, describes_configs=describes_configs)) == set()


def with_kerberos(rules: str) -> Diagnosis:
    with serving(1, mechanisms=("GSSAPI",)) as served:
        (here,) = served.reachable.values()
        client = Cluster("hq", (here,), AddressMap.parse(rules.format(here)), KERBEROS)
        return diagnose(collect(client, TIMEOUT))


def test_kerberos_is_asked_for_an_address_until_the_brokers_have_names() -> None:
    found = with_kerberos("192.168.1.23:9092={}")
    # That the login was not tried is a warning of its own.
    assert problems(found) == {"BN404", "BN406"}
    assert found.cause is None
    assert "kafka/192.168.1.23" in next(each.message for each in found.findings if each.code == "BN406")
    assert problems(with_kerberos("kafka-1.hq.internal:9092={}")) == {"BN404"}
