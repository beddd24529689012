"""Two worlds for the whole matrix, started when first asked for, the compiled programs, and clients of both.

`plain` holds two headquarters that advertise the SAME dead 127.x addresses: one PLAINTEXT, one SASL_PLAINTEXT. `strict`
holds one that advertises dead IPv6 endpoints and one that advertises names nobody resolves, with TLS on the names.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest
from tests.matrix.expectations import ROLES, assert_healthy
from tests.matrix.programs import Client, Loader, Outcome, Programs

from brokernat.testbed import Advertise, ClusterOptions, LoopbackWorld, Protocol, RunningCluster

IMPATIENT = {
    "default.api.timeout.ms": "120000",
    "request.timeout.ms": "10000",
    "reconnect.backoff.ms": "50",
    "reconnect.backoff.max.ms": "500",
}
"""A client that has to go over to another broker shall do so in test time; a run that fails shall say so soon."""

HOPELESS = {
    "default.api.timeout.ms": "6000",
    "request.timeout.ms": "2500",
    # How long it takes to hear of the topic is not what it shall fail of.
    "max.block.ms": "60000",
    "delivery.timeout.ms": "6000",
    # An idempotent producer that reaches no broker asks for its id for ever, and expires nothing meanwhile.
    "enable.idempotence": "false",
}
"""A client that is expected to fail shall do so in seconds, but not before it has met the cause."""


class Clients:
    """Makes clients as a user of the cluster would write them, the map among their properties."""

    def __init__(self) -> None:
        self._numbers = itertools.count()

    def __call__(
        self,
        cluster: RunningCluster,
        roles: tuple[str, ...] = ROLES,
        *,
        topic: str | None = None,
        name: str = "client",
        changes: Mapping[str, str] | None = None,
    ) -> Client:
        return Client(
            cluster.cluster.kafka_properties() | IMPATIENT | dict(changes or {}), topic or self.topic(), roles, name
        )

    def topic(self) -> str:
        """A name that no other test uses."""
        return f"topic-{next(self._numbers)}"


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs.compile(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="session")
def client_of() -> Clients:
    return Clients()


@pytest.fixture(scope="package")
def plain() -> Iterator[LoopbackWorld]:
    sasl = ClusterOptions(protocol=Protocol.SASL_PLAINTEXT)
    with LoopbackWorld(hq=ClusterOptions(), second_hq=sasl, local=None) as world:
        yield world


@pytest.fixture(scope="package")
def well(plain: LoopbackWorld, programs: Programs, client_of: Clients) -> Callable[[str], Outcome]:
    """A healthy run of a version, the right map among its properties, on `plain.hq`: what a spoiled run of the same
    program complained of is gone. One run serves all who ask for that version."""

    @cache
    def run(version: str) -> Outcome:
        outcome = programs.exercise(version, client_of(plain.hq), loader=Loader.CLIENT_MAP)
        assert_healthy(outcome, plain.hq)
        return outcome

    return run


@pytest.fixture(scope="package")
def strict() -> Iterator[LoopbackWorld]:
    ipv6 = ClusterOptions(brokers=2, advertise=Advertise.IPV6)
    names = ClusterOptions(brokers=2, advertise=Advertise.NAME, protocol=Protocol.SSL)
    with LoopbackWorld(hq=ipv6, second_hq=names, local=None) as world:
        yield world
