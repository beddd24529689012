"""Key stores for a cluster that speaks TLS, made by the `keytool` that comes with every Java.

Each listener of a broker has a certificate of its own for its ORIGINAL advertised name or address and no other, so a
client that verifies host names passes only when it still thinks of the broker by that name. The certificates are their
own trust anchors; `trust.p12` (Java) and `trust.pem` (everybody else) hold them all, `clients.p12` holds the client's.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brokernat.errors import MissingToolError, WorldError
from brokernat.testbed.listeners import Certificate
from brokernat.testbed.server_properties import CLIENTS_P12, STORE_PASSWORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from brokernat.jvm import Java
    from brokernat.testbed.topology import ClusterPlan

TRUST_P12, TRUST_PEM, CLIENT_P12 = "trust.p12", "trust.pem", "client.p12"
_TIMEOUT = 180
_CLIENT = "client"
_VALIDITY = {
    Certificate.VALID: ("-validity", "30"),
    Certificate.EXPIRED: ("-startdate", "-30d", "-validity", "10"),
}


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
    clients = [Wanted(_CLIENT, _CLIENT)] if any(each.demands_certificate for each in cluster.options.listeners) else []
    _run_all([[str(keytool), *generate_arguments(each, folder)] for each in (*brokers, *clients)])
    _run_all(
        [
            [str(keytool), "-exportcert", "-rfc", "-alias", "broker", *_store(folder / f"{each.store}.p12"),
             "-file", str(folder / f"{each.store}.pem")]
            for each in (*brokers, *clients)
        ]
    )  # fmt: skip
    for each, trust in (*((each, TRUST_P12) for each in brokers), *((each, CLIENTS_P12) for each in clients)):
        # One after the other: they write one file.
        _run_all(
            [
                [str(keytool), "-importcert", "-noprompt", "-alias", each.store, *_store(folder / trust),
                 "-file", str(folder / f"{each.store}.pem")]
            ]
        )  # fmt: skip
    (folder / TRUST_PEM).write_text("".join((folder / f"{each.store}.pem").read_text() for each in brokers))


def generate_arguments(wanted: Wanted, folder: Path) -> list[str]:
    """keytool's arguments for a key and its certificate; pure."""
    kind = "ip" if ":" in wanted.host or wanted.host.replace(".", "").isdigit() else "dns"
    return [
        "-genkeypair", "-alias", "broker", "-keyalg", "EC", "-groupname", "secp256r1", *_VALIDITY[wanted.certificate],
        "-dname", f"CN={wanted.store}", "-ext", f"san={kind}:{wanted.host}",
        *_store(folder / f"{wanted.store}.p12"),
    ]  # fmt: skip


def _store(file: Path) -> list[str]:
    return ["-keystore", str(file), "-storetype", "PKCS12", "-storepass", STORE_PASSWORD]


def _run_all(commands: Sequence[Sequence[str]]) -> None:
    started = [
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for command in commands
    ]
    for process in started:
        said, _ = process.communicate(timeout=_TIMEOUT)
        if process.returncode != 0:
            raise WorldError(f"keytool failed: {said.strip()}")
