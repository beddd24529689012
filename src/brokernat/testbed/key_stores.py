"""Key stores for a cluster with TLS, made by the JDK's `keytool`.

Each listener of a broker has its own certificate, for its ORIGINAL advertised name or address only. So a client that
verifies host names connects only if it uses that name. The certificates are self-signed: `trust.p12` (for Java) and
`trust.pem` (for others) contain all of them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from brokernat.errors import MissingToolError, WorldError
from brokernat.jvm import Java
from brokernat.jvm.java import BRIEF
from brokernat.testbed.server_properties import STORE_PASSWORD
from brokernat.testbed.topology import ClusterPlan

TRUST_P12, TRUST_PEM = "trust.p12", "trust.pem"
_TIMEOUT = 180


@dataclass(frozen=True, slots=True)
class KeyStore:
    """A key and its certificate: the name of the store without its ending, and the host that the certificate names."""

    name: str
    host: str
    options: tuple[str, ...] = ("-validity", "30")
    """keytool's options for the certificate."""

    @property
    def naming(self) -> list[str]:
        """keytool's option for the host."""
        kind = "ip" if ":" in self.host or self.host.replace(".", "").isdigit() else "dns"
        return ["-ext", f"san={kind}:{self.host}"]


def wanted_stores(cluster: ClusterPlan) -> Iterator[KeyStore]:
    """The key stores that the brokers of a cluster need; pure."""
    for broker in cluster.brokers:
        if cluster.options.protocol.tls:
            yield KeyStore(f"node-{broker.node_id}", broker.advertised.host)
        for further in broker.more:
            if further.listener.protocol.tls:
                yield KeyStore(further.store(broker.node_id), further.advertised.host)


def make_stores(cluster: ClusterPlan, folder: Path, java: Java) -> None:
    """Write the key stores of the brokers and the trust stores of clients into `folder`.

    Raises:
        MissingToolError: this Java has no keytool.
        WorldError: keytool failed; the message has its output.
    """
    keytool, stores = Keytool(folder, java), list(wanted_stores(cluster))
    keytool.generate(stores)
    keytool.trust(stores, TRUST_P12)
    keytool.trust_in_pem(stores)


class Keytool:
    """Runs keytool in one folder."""

    def __init__(self, folder: Path, java: Java) -> None:
        """Raises MissingToolError if this Java has no keytool."""
        self.folder = folder
        self._program = java.home / "bin" / "keytool"
        if not self._program.exists():
            raise MissingToolError(f"no {self._program}", hint="install openjdk-17-jdk (Debian, Ubuntu)")

    def generate(self, stores: Iterable[KeyStore]) -> None:
        """Make the keys and their certificates, and `<name>.pem` of each certificate."""
        stores = list(stores)
        self.run(
            [
                "-genkeypair", "-alias", "broker", "-keyalg", "EC", "-groupname", "secp256r1", *each.options,
                "-dname", f"CN={each.name}", *each.naming, *self.store(f"{each.name}.p12"),
            ]
            for each in stores
        )  # fmt: skip
        self.run(
            ["-exportcert", "-rfc", "-alias", "broker", *self.store(f"{each.name}.p12"), *self.file(f"{each.name}.pem")]
            for each in stores
        )

    def trust(self, stores: Iterable[KeyStore], trust: str) -> None:
        """Add their certificates to a trust store, one after the other, because all write to one file."""
        for each in stores:
            self.run(
                [["-importcert", "-noprompt", "-alias", each.name, *self.store(trust), *self.file(f"{each.name}.pem")]]
            )

    def trust_in_pem(self, stores: Iterable[KeyStore]) -> None:
        """Write their certificates to one PEM file."""
        text = "".join((self.folder / f"{each.name}.pem").read_text() for each in stores)
        (self.folder / TRUST_PEM).write_text(text)

    def store(self, name: str) -> list[str]:
        """The arguments for a key store or trust store in the folder."""
        return ["-keystore", str(self.folder / name), "-storetype", "PKCS12", "-storepass", STORE_PASSWORD]

    def file(self, name: str) -> list[str]:
        """The arguments for a file in the folder."""
        return ["-file", str(self.folder / name)]

    def run(self, commands: Iterable[Sequence[str]]) -> None:
        """Run several commands in parallel.

        Raises:
            WorldError: a command failed; the message has its output.
        """
        started = [
            subprocess.Popen(
                [str(self._program), *(f"-J{option}" for option in BRIEF), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for arguments in commands
        ]
        for process in started:
            output, _ = process.communicate(timeout=_TIMEOUT)
            if process.returncode != 0:
                raise WorldError(f"keytool failed: {output.strip()}")
