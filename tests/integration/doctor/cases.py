"""The worlds: what a client is given, what the doctor must find there and nothing else, and the same client healed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tests.integration.doctor.renewing import show
from tests.integration.doctor.scene import Scene
from tests.support.odd_certificates import with_certificate

from brokernat.address import AddressMap, Endpoint
from brokernat.config import Cluster, Secret
from brokernat.testbed import RunningCluster

CANARY = "canary-77aa"
"""A password that is wrong."""


@dataclass(frozen=True)
class Case:
    """One world. `codes` are all errors and warnings, the root cause among them; the healed client has none."""

    name: str
    cause: str
    also: frozenset[str]
    broken: Callable[[Scene], Cluster]
    healed: Callable[[Scene], Cluster]

    @property
    def codes(self) -> set[str]:
        """Errors and warnings."""
        return {self.cause, *self.also}


def case(
    name: str,
    cause: str,
    broken: Callable[[Scene], Cluster],
    healed: Callable[[Scene], Cluster],
    also: frozenset[str] = frozenset(),
) -> Case:
    """A world whose findings are the cause's, and `also` those of others."""
    return Case(name, cause, also, broken, healed)


def client(*servers: Endpoint, **properties: str) -> Cluster:
    """A client without a map."""
    return Cluster("hq", servers, None, {name.replace("_", "."): value for name, value in properties.items()})


def without_map(cluster: Cluster) -> Cluster:
    return replace(cluster, address_map=None)


def at_the_address(scene: Scene, listener: str) -> Cluster:
    """Bootstrapped where the listener is bound, and not by the name that it advertises."""
    return replace(scene.local.through(listener), bootstrap_servers=(scene.at(listener),))


def changed(cluster: Cluster, **properties: str | Secret) -> Cluster:
    named = {name.replace("_", "."): value for name, value in properties.items()}
    return replace(cluster, client={**cluster.client, **named})


def less(cluster: Cluster, prefix: str) -> Cluster:
    return replace(
        cluster, client={name: value for name, value in cluster.client.items() if not name.startswith(prefix)}
    )


def with_the_certificate(scene: Scene, store: str) -> Cluster:
    """The listener whose certificate comes from an authority, showing one or its renewal."""
    show(scene.local, "EXPIRED", store)
    return scene.local.through("EXPIRED")


def led(cluster: RunningCluster, leads: Mapping[int, int]) -> Cluster:
    """A map that leads each node to the forward of another."""
    rules = ",".join(f"{cluster.advertised[node]}={cluster.reachable[to]}" for node, to in leads.items())
    return Cluster("hq", cluster.cluster.bootstrap_servers, AddressMap.parse(rules))


def mixed(scene: Scene) -> Cluster:
    """The list mixes ports: two servers of PLAINTEXT1 and one of PLAINTEXT2, which node 2 lacks."""
    one, two = scene.hq.endpoints("PLAINTEXT1"), scene.hq.endpoints("PLAINTEXT2")
    return client(one[1], one[2], two[3])


CASES = (
    case("nat-4.4.0", "BN302", lambda it: without_map(it.hq.cluster), lambda it: it.hq.cluster),
    case("nat-3.9.2", "BN302", lambda it: without_map(it.hq2.cluster), lambda it: it.hq2.cluster),
    case(
        "exchanged-rules",
        "BN601",
        lambda it: led(it.hq2, {1: 2, 2: 1}),
        lambda it: led(it.hq2, {1: 1, 2: 2}),
    ),
    case(
        "map-of-other-endpoints",
        "BN609",
        lambda it: replace(it.hq2.cluster, address_map=AddressMap.parse(f"192.0.2.23:9092={it.hq2.reachable[1]}")),
        lambda it: it.hq2.cluster,
        frozenset({"BN605"}),
    ),
    case("rule-missing", "BN605", lambda it: led(it.hq2, {1: 1}), lambda it: led(it.hq2, {1: 1, 2: 2})),
    case(
        "two-clusters",
        "BN501",
        lambda it: replace(
            it.hq2.cluster,
            bootstrap_servers=(*it.hq2.cluster.bootstrap_servers, it.hq.reachable[1]),
        ),
        lambda it: it.hq2.cluster,
        # The other cluster has a broker more, and the map is this one's.
        frozenset({"BN605"}),
    ),
    case(
        "listener-of-one-broker",
        "BN503",
        lambda it: client(*it.hq.endpoints("TEXT").values()),
        lambda it: client(*it.hq.endpoints("PLAINTEXT").values()),
    ),
    case(
        "bootstrap-list-mixes-listeners",
        "BN502",
        mixed,
        lambda it: client(*it.hq.endpoints("PLAINTEXT1").values()),
        frozenset({"BN503"}),
    ),
    case(
        "one-broker-unlike-its-peers",
        "BN505",
        lambda it: client(*it.hq.endpoints("ODD").values()),
        lambda it: client(*it.hq.endpoints("PLAINTEXT1").values()),
        frozenset({"BN301"}),
    ),
    case("bob", "BN301", lambda it: client(it.at("BOB")), lambda it: it.local.through("BOB"), frozenset({"BN203"})),
    case("alice", "BN301", lambda it: client(it.at("ALICE")), lambda it: it.local.through("ALICE")),
    case(
        "bob-and-fred",
        "BN502",
        lambda it: client(it.at("BOB"), it.at("FRED")),
        lambda it: client(it.at("FRED")),
        frozenset({"BN301", "BN203"}),
    ),
    case(
        "tls-to-plaintext",
        "BN401",
        lambda it: client(it.at("FRED"), security_protocol="SSL"),
        lambda it: client(it.at("FRED")),
    ),
    case("plaintext-to-tls", "BN401", lambda it: client(it.at("TLS")), lambda it: it.local.through("TLS")),
    case(
        "name-not-in-certificate",
        "BN402",
        lambda it: at_the_address(it, "TLS"),
        lambda it: it.local.through("TLS"),
    ),
    case(
        "certificate-expired",
        "BN403",
        lambda it: with_the_certificate(it, "node-1-expired"),
        lambda it: with_the_certificate(it, "node-1-expired-renewed"),
    ),
    case(
        "authority-unknown",
        "BN403",
        lambda it: less(it.local.through("TLS"), "ssl.truststore"),
        lambda it: it.local.through("TLS"),
    ),
    case(
        "tls-of-another-version",
        "BN407",
        lambda it: changed(it.local.through("TLS"), ssl_enabled_protocols="TLSv1.3"),
        lambda it: it.local.through("TLS"),
    ),
    case(
        "client-certificate-demanded",
        "BN405",
        lambda it: less(with_certificate(it.local), "ssl.key"),
        lambda it: with_certificate(it.local),
    ),
    case(
        "client-certificate-of-a-stranger",
        "BN405",
        lambda it: changed(with_certificate(it.local), ssl_keystore_location=str(it.local.folder / "node-1-tls.p12")),
        lambda it: with_certificate(it.local),
    ),
    case(
        "wrong-mechanism",
        "BN404",
        lambda it: changed(it.local.through("LOGIN"), sasl_mechanism="SCRAM-SHA-256"),
        lambda it: it.local.through("LOGIN"),
    ),
    case(
        "wrong-password",
        "BN404",
        lambda it: changed(it.local.through("LOGIN"), sasl_password=Secret(CANARY)),
        lambda it: it.local.through("LOGIN"),
    ),
    case("no-login", "BN404", lambda it: client(it.at("LOGIN")), lambda it: it.local.through("LOGIN")),
    case("controller-listener", "BN105", lambda it: client(it.controller), lambda it: client(it.at("FRED"))),
    case("http-server", "BN104", lambda it: client(it.http), lambda it: client(it.at("FRED"))),
    case("ssh-server", "BN104", lambda it: client(it.ssh), lambda it: client(it.at("FRED"))),
    case("silent-port", "BN309", lambda it: client(it.silent), lambda it: client(it.at("FRED"))),
    case("refused", "BN103", lambda it: client(it.refusing), lambda it: client(it.at("FRED"))),
    case(
        "unresolvable",
        "BN102",
        lambda it: client(Endpoint("kafka.invalid", 9092)),
        lambda it: client(it.at("FRED")),
    ),
)
