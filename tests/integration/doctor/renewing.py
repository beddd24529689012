"""A broker is given another certificate on the same listener while it runs (KIP-226), as an administrator would."""

from __future__ import annotations

import socket
import ssl
from typing import Any

from confluent_kafka import admin as untyped

from brokernat.testbed import RunningCluster
from brokernat.testbed.place import wait_until

# What it exports it declares nowhere.
kafka: Any = untyped
TIMEOUT = 120


def show(cluster: RunningCluster, listener: str, store: str) -> None:
    """Have node 1 show the certificate of a key store, and wait until it does: brokers take settings up in their time.

    Args:
        cluster: of one broker.
        listener: whose certificate it is.
        store: the key store in the cluster's folder, without its ending; `<store>.crt` is the chain in it.
    """
    name = f"listener.name.{listener.lower()}.ssl.keystore.location"
    where = cluster.folder / f"{store}.p12"
    setting = kafka.ConfigEntry(name, str(where), incremental_operation=kafka.AlterConfigOpType.SET)
    resource = kafka.ConfigResource(kafka.ConfigResource.Type.BROKER, "1", incremental_configs=[setting])
    admin = kafka.AdminClient({"bootstrap.servers": ",".join(map(str, cluster.direct.bootstrap_servers))})
    for answer in admin.incremental_alter_configs([resource]).values():
        answer.result(TIMEOUT)
    first, _, _ = (cluster.folder / f"{store}.crt").read_text().partition("-----END")
    wanted = ssl.PEM_cert_to_DER_cert(f"{first}-----END CERTIFICATE-----\n")
    wait_until(lambda: _shown(cluster, listener) == wanted, f"{store} on {listener}", timeout=TIMEOUT)


def _shown(cluster: RunningCluster, listener: str) -> bytes | None:
    """The certificate that a new connection meets."""
    end = cluster.endpoints(listener)[1]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((end.host, end.port), timeout=TIMEOUT) as plain,
            context.wrap_socket(plain) as secured,
        ):
            return secured.getpeercert(binary_form=True)
    except OSError:
        return None
