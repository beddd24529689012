"""Certificates that something is wrong with, for listeners that are named after it.

| listener | its certificate |
|---|---|
| EXPIRED | expired, signed by an authority that clients trust |
| ANCHOR | expired, and in the clients' trust store itself: that decides what Java makes of its time |
| MUTUAL | valid; clients must show one (`demanding_certificates` are the broker's settings for it) |

The renewal of an expired one is in `<store>-renewed.p12`, so that a test can heal a broker on the same listener.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from brokernat.config import Cluster, Secret
from brokernat.jvm import Java
from brokernat.testbed import RunningCluster
from brokernat.testbed.key_stores import TRUST_P12, KeyStore, Keytool, wanted_stores
from brokernat.testbed.running_cluster import key_store_properties
from brokernat.testbed.server_properties import STORE_PASSWORD
from brokernat.testbed.topology import ClusterPlan

EXPIRED, ANCHOR, MUTUAL = "EXPIRED", "ANCHOR", "MUTUAL"
RENEWED = "-renewed"
_AUTHORITY = KeyStore("authority", "authority", ("-validity", "30", "-ext", "bc:c"))
_CLIENT = KeyStore("client", "client")
_CLIENTS = "clients.p12"
_OVER = ("-startdate", "-30d", "-validity", "10")


def make_odd_stores(cluster: ClusterPlan, folder: Path, java: Java) -> None:
    """The `make_stores` of a cluster that has some of these listeners."""
    keytool = Keytool(folder, java)
    all_of = {name: _stores_of(cluster, name) for name in (EXPIRED, ANCHOR, MUTUAL)}
    stores = [replace(each, options=_OVER) if each.name in all_of[ANCHOR] else each for each in wanted_stores(cluster)]
    signed = [each for each in stores if each.name in all_of[EXPIRED]]
    clients = [_CLIENT] if all_of[MUTUAL] else []
    trusted = [each for each in stores if each not in signed] + ([_AUTHORITY] if signed else [])
    keytool.generate([*trusted, *signed, *clients])
    keytool.trust(trusted, TRUST_P12)
    keytool.trust(clients, _CLIENTS)
    keytool.trust_in_pem(trusted)
    for each in signed:
        _sign(keytool, each)


def demanding_certificates(cluster: str) -> dict[str, str]:
    """What makes the listener MUTUAL of this cluster demand a certificate."""
    # Brokers run in the folder of their world.
    store = {"location": f"{cluster}/{_CLIENTS}", "password": STORE_PASSWORD, "type": "PKCS12"}
    settings = {"ssl.client.auth": "required"} | {f"ssl.truststore.{name}": value for name, value in store.items()}
    return {f"listener.name.{MUTUAL.lower()}.{name}": value for name, value in settings.items()}


def with_certificate(running: RunningCluster) -> Cluster:
    """What a client of the listener MUTUAL is configured from, with the certificate that it demands."""
    plain = running.through(MUTUAL)
    store = key_store_properties("ssl.keystore", running.folder / f"{_CLIENT.name}.p12")
    return replace(plain, client={**plain.client, **store, "ssl.key.password": Secret(STORE_PASSWORD)})


def _stores_of(cluster: ClusterPlan, listener: str) -> set[str]:
    return {each.store(broker.node_id) for broker in cluster.brokers for each in broker.more if each.name == listener}


def _sign(keytool: Keytool, wanted: KeyStore) -> None:
    """Have the authority sign a key twice: for a time that is over, and again; a chain for each."""
    folder, store = keytool.folder, wanted.name
    keytool.run([["-certreq", "-alias", "broker", *keytool.store(f"{store}.p12"), *keytool.file(f"{store}.csr")]])
    shutil.copyfile(folder / f"{store}.p12", folder / f"{store}{RENEWED}.p12")
    for name, times in ((store, _OVER), (f"{store}{RENEWED}", ("-validity", "30"))):
        request = ["-infile", str(folder / f"{store}.csr"), "-outfile", str(folder / f"{name}.crt")]
        keytool.run(
            [
                ["-gencert", "-rfc", "-alias", "broker", *keytool.store(f"{_AUTHORITY.name}.p12"), *wanted.naming,
                 *times, *request]
            ]
        )  # fmt: skip
        with (folder / f"{name}.crt").open("a") as chain:
            chain.write((folder / f"{_AUTHORITY.name}.pem").read_text())
        keytool.run(
            [
                ["-importcert", "-noprompt", "-alias", "broker", *keytool.store(f"{name}.p12"),
                 *keytool.file(f"{name}.crt")]
            ]
        )  # fmt: skip
