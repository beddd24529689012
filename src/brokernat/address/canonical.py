"""The canonical text of a map and its fingerprint, by which a driver and its executors compare their maps.

The text has no blanks, because Spark and `JAVA_TOOL_OPTIONS` split on them. A rule that no client can apply is refused
here, before it is sent. `unmapped` is not in the text: it is a property of its own.
"""

from __future__ import annotations

import hashlib

from brokernat.address.address_map import AddressMap
from brokernat.address.rules import needs_node_id


def canonical_text(address_map: AddressMap) -> str:
    """The rules joined by `,`.

    Raises:
        ConfigError: of kind `needs-node-id`: names the first rule that a client cannot apply.
    """
    for rule in address_map.rules:
        if rule.needs_node_id:
            raise needs_node_id(rule)
    return str(address_map)


def fingerprint(address_map: AddressMap) -> str:
    """SHA-256 of the UTF-8 canonical text, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_text(address_map).encode()).hexdigest()
