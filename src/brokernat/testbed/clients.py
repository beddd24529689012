"""What a client of a testbed cluster is configured with."""

from __future__ import annotations

from pathlib import Path

from brokernat.config import Secret
from brokernat.testbed.listeners import Listener
from brokernat.testbed.security import Protocol
from brokernat.testbed.server_properties import STORE_PASSWORD
from brokernat.testbed.tls import CLIENT_P12, TRUST_P12
from brokernat.testbed.topology import ClusterPlan


def client_properties(plan: ClusterPlan, folder: Path) -> dict[str, str | Secret]:
    """The `client` section of `brokernat.yaml` for the CLIENT listener; empty for PLAINTEXT."""
    return _properties(plan, folder, plan.options.protocol)


def listener_properties(plan: ClusterPlan, folder: Path, listener: Listener) -> dict[str, str | Secret]:
    """The same for a listener that was added, with a key store where the listener demands one."""
    properties = _properties(plan, folder, listener.protocol)
    if listener.demands_certificate:
        properties |= _store("ssl.keystore", folder / CLIENT_P12)
        properties["ssl.key.password"] = Secret(STORE_PASSWORD)
    return properties


def _properties(plan: ClusterPlan, folder: Path, protocol: Protocol) -> dict[str, str | Secret]:
    options = plan.options
    properties: dict[str, str | Secret] = {}
    if protocol.tls or protocol.sasl:
        properties["security.protocol"] = protocol.value
    if protocol.sasl:
        properties |= {
            "sasl.mechanism": options.mechanism.value,
            "sasl.username": options.username,
            "sasl.password": Secret(options.password),
        }
    if protocol.tls:
        properties |= _store("ssl.truststore", folder / TRUST_P12)
    return properties


def _store(prefix: str, file: Path) -> dict[str, str | Secret]:
    return {f"{prefix}.location": str(file), f"{prefix}.password": STORE_PASSWORD, f"{prefix}.type": "PKCS12"}
