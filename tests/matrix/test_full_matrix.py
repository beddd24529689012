"""Every client on every Java, with every loader, on every kind of listener: as many as the soak has time for."""

import itertools

import pytest
from tests.conftest import Soak
from tests.matrix.conftest import Clients
from tests.matrix.expectations import assert_dialled, assert_healthy, bootstrap_by_name
from tests.matrix.javas import java_binary
from tests.matrix.programs import Loader, Programs
from tests.versions import JAVAS, KAFKA_CLIENTS

from brokernat.testbed import LoopbackWorld

pytestmark = [pytest.mark.integration, pytest.mark.soak, pytest.mark.timeout(0)]

LOADERS = (Loader.JVM_MAP, Loader.CLIENT_MAP, Loader.REPORTER)
LISTENERS = ("plain", "sasl", "tls", "ipv6")
TOO_OLD_FOR_SASL_ON_25 = ("2.4.1", "2.8.2", "3.0.2", "3.4.1")

Combination = tuple[str, int, Loader, str]


def combinations() -> list[Combination]:
    return [
        (version, java, loader, listener)
        for version, java, loader, listener in itertools.product(KAFKA_CLIENTS, JAVAS, LOADERS, LISTENERS)
        if not (listener == "sasl" and java == 25 and version in TOO_OLD_FOR_SASL_ON_25)
        # The names are looked up before the reporter, and so the agent, is there.
        and not (listener == "tls" and loader is Loader.REPORTER)
    ]


def test_the_full_matrix(
    soak: Soak,
    plain: LoopbackWorld,
    strict: LoopbackWorld,
    programs: Programs,
    client_of: Clients,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clusters = {"plain": plain.hq, "sasl": plain.hq2, "tls": strict.hq2, "ipv6": strict.hq}
    wanted = combinations()
    soak.random("matrix").shuffle(wanted)
    done: list[Combination] = []
    for (version, java, loader, listener), _ in zip(wanted, soak.rounds(), strict=False):
        cluster = clusters[listener]
        client = client_of(cluster, changes=bootstrap_by_name(cluster) if listener == "tls" else {})
        launcher = programs.java if java == 17 else java_binary(java)
        outcome = programs.exercise(version, client, loader=loader, java=launcher)
        done.append((version, java, loader, listener))
        try:
            assert_healthy(outcome, cluster)
            assert_dialled(outcome, cluster)
        except AssertionError as failure:
            raise AssertionError(f"{done[-1]}, combination {len(done)} of seed {soak.seed}: {failure}") from failure
    with capsys.disabled():
        print(f"\n{len(done)} of {len(wanted)} combinations of seed {soak.seed}", end="")  # noqa: T201
