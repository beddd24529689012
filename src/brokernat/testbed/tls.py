"""Key stores for a cluster that speaks TLS, made by the `keytool` that comes with every Java.

Each listener of a broker has a certificate of its own for its ORIGINAL advertised name or address and no other, so a
client that verifies host names passes only when it still thinks of the broker by that name. The certificates are their
own trust anchors, but for those of Certificate.EXPIRED, which the testbed's authority signs (authority.py): whether a
certificate is in the trust store itself decides what Java makes of its time. `trust.p12` (Java) and `trust.pem`
(everybody else) hold all anchors, `clients.p12` holds the client's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import MissingToolError
from brokernat.jvm import Java
from brokernat.testbed.authority import AUTHORITY, is_signed, sign_all
from brokernat.testbed.keytool import run_all, store
from brokernat.testbed.listeners import Certificate
from brokernat.testbed.server_properties import CLIENTS_P12
from brokernat.testbed.topology import ClusterPlan

TRUST_P12, TRUST_PEM, CLIENT_P12 = "trust.p12", "trust.pem", "client.p12"
_CLIENT = "client"
_VALID = ("-validity", "30")
_OVER = ("-startdate", "-30d", "-validity", "10")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A key and its certificate: the name of the store without its ending, and the host that the certificate names."""

    store: str
    host: str
    certificate: Certificate = Certificate.VALID


def wanted_stores(cluster: ClusterPlan) -> Iterator[Wanted]:
    """What the brokers of a cluster need; pure."""
    for broker in cluster.brokers:
        if cluster.options.protocol.tls:
            yield Wanted(f"node-{broker.node_id}", broker.advertised.host)
        for each in broker.more:
            if each.listener.protocol.tls:
                yield Wanted(each.store(broker.node_id), each.advertised.host, each.listener.certificate)


def make_stores(cluster: ClusterPlan, folder: Path, java: Java) -> None:
    """Write the key stores of the brokers, that of the client if one is demanded, and the trust stores into `folder`.

    Raises:
        MissingToolError: this Java has no keytool.
        WorldError: keytool failed; with what it said.
    """
    keytool = java.home / "bin" / "keytool"
    if not keytool.exists():
        raise MissingToolError(f"no {keytool}", hint="install openjdk-17-jdk (Debian, Ubuntu)")
    brokers = list(wanted_stores(cluster))
    signed = [each for each in brokers if is_signed(each.certificate)]
    authorities = [Wanted(AUTHORITY, AUTHORITY)] if signed else []
    clients = [Wanted(_CLIENT, _CLIENT)] if any(each.demands_certificate for each in cluster.options.listeners) else []
    run_all([[str(keytool), *generate_arguments(each, folder)] for each in (*brokers, *authorities, *clients)])
    trusted = [*(each for each in brokers if each not in signed), *authorities]
    run_all(
        [
            [str(keytool), "-exportcert", "-rfc", "-alias", "broker", *store(folder / f"{each.store}.p12"),
             "-file", str(folder / f"{each.store}.pem")]
            for each in (*trusted, *clients)
        ]
    )  # fmt: skip
    for each, trust in (*((each, TRUST_P12) for each in trusted), *((each, CLIENTS_P12) for each in clients)):
        # One after the other: they write one file.
        run_all(
            [
                [str(keytool), "-importcert", "-noprompt", "-alias", each.store, *store(folder / trust),
                 "-file", str(folder / f"{each.store}.pem")]
            ]
        )  # fmt: skip
    (folder / TRUST_PEM).write_text("".join((folder / f"{each.store}.pem").read_text() for each in trusted))
    sign_all({each.store: _name(each.host) for each in signed}, folder, keytool)


def generate_arguments(wanted: Wanted, folder: Path) -> list[str]:
    """keytool's arguments for a key and its certificate; pure."""
    # What is signed gets its time with its signature.
    validity = _OVER if wanted.certificate is Certificate.EXPIRED_ANCHOR else _VALID
    authority = ["-ext", "bc:c"] if wanted.store == AUTHORITY else []
    return [
        "-genkeypair", "-alias", "broker", "-keyalg", "EC", "-groupname", "secp256r1", *validity,
        "-dname", f"CN={wanted.store}", *_name(wanted.host), *authority,
        *store(folder / f"{wanted.store}.p12"),
    ]  # fmt: skip


def _name(host: str) -> list[str]:
    kind = "ip" if ":" in host or host.replace(".", "").isdigit() else "dns"
    return ["-ext", f"san={kind}:{host}"]
