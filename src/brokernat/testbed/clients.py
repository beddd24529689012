"""What a client of a testbed cluster is configured with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokernat.config import Secret
from brokernat.testbed.server_properties import STORE_PASSWORD
from brokernat.testbed.tls import TRUST_P12

if TYPE_CHECKING:
    from pathlib import Path

    from brokernat.testbed.topology import ClusterPlan


def client_properties(plan: ClusterPlan, folder: Path) -> dict[str, str | Secret]:
    """The `client` section of `brokernat.yaml` for the CLIENT listener; empty for PLAINTEXT."""
    options = plan.options
    properties: dict[str, str | Secret] = {}
    if options.protocol.tls or options.protocol.sasl:
        properties["security.protocol"] = options.protocol.value
    if options.protocol.sasl:
        properties |= {
            "sasl.mechanism": options.mechanism.value,
            "sasl.username": options.username,
            "sasl.password": Secret(options.password),
        }
    if options.protocol.tls:
        properties |= {
            "ssl.truststore.location": str(folder / TRUST_P12),
            "ssl.truststore.password": STORE_PASSWORD,
            "ssl.truststore.type": "PKCS12",
        }
    return properties
