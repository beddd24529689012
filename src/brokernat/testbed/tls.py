"""Key stores for a cluster that speaks TLS, made by the `keytool` that comes with every Java.

Each broker has a certificate of its own for its ORIGINAL advertised name or address and no other, so a client that
verifies host names passes only when it still thinks of the broker by that name. The certificates are their own trust
anchors; `trust.p12` (Java) and `trust.pem` (everybody else) hold them all.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from brokernat.errors import BrokernatError, MissingToolError
from brokernat.testbed.server_properties import STORE_PASSWORD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from brokernat.jvm import Java
    from brokernat.testbed.topology import BrokerPlan, ClusterPlan

TRUST_P12, TRUST_PEM = "trust.p12", "trust.pem"
_TIMEOUT = 60


def make_stores(cluster: ClusterPlan, folder: Path, java: Java) -> None:
    """Write `node-N.p12` for each broker and both trust stores into `folder`.

    Raises:
        MissingToolError: this Java has no keytool.
        BrokernatError: keytool failed; with what it said.
    """
    keytool = java.home / "bin" / "keytool"
    if not keytool.exists():
        raise MissingToolError(f"no {keytool}", hint="install openjdk-17-jdk (Debian, Ubuntu)")
    _run_all([[str(keytool), *generate_arguments(broker, folder)] for broker in cluster.brokers])
    certificates = [folder / f"node-{broker.node_id}.pem" for broker in cluster.brokers]
    _run_all(
        [
            [str(keytool), "-exportcert", "-rfc", "-alias", "broker", *_store(certificate.with_suffix(".p12")),
             "-file", str(certificate)]
            for certificate in certificates
        ]
    )  # fmt: skip
    for certificate in certificates:
        # One after the other: they write one file.
        _run_all(
            [
                [str(keytool), "-importcert", "-noprompt", "-alias", certificate.stem, *_store(folder / TRUST_P12),
                 "-file", str(certificate)]
            ]
        )  # fmt: skip
    (folder / TRUST_PEM).write_text("".join(certificate.read_text() for certificate in certificates))


def generate_arguments(broker: BrokerPlan, folder: Path) -> list[str]:
    """keytool's arguments for a broker's key and certificate; pure."""
    host = broker.advertised.host
    kind = "ip" if ":" in host or host.replace(".", "").isdigit() else "dns"
    return [
        "-genkeypair", "-alias", "broker", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", "30",
        "-dname", f"CN=node-{broker.node_id}", "-ext", f"san={kind}:{host}",
        *_store(folder / f"node-{broker.node_id}.p12"),
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
            raise BrokernatError(f"keytool failed: {said.strip()}")
