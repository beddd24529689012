"""The canonical text of a map and its fingerprint: how a driver and its executors tell that they hold the same map.

The text has no blanks, because Spark and `JAVA_TOOL_OPTIONS` split on them. Rules that the reader of the text could not
decide are refused here, before they are sent anywhere. `unmapped` is no part of it: it travels as its own property.
"""

from __future__ import annotations

import hashlib

from brokernat.address.address_map import AddressMap
from brokernat.address.rules import needs_node_id


def canonical_text(address_map: AddressMap) -> str:
    """The rules joined by `,`.

    Raises:
        ConfigError: of kind `needs-node-id`, naming the first rule that a client cannot decide.
    """
    for rule in address_map.rules:
        if rule.needs_node_id:
            raise needs_node_id(rule)
    return str(address_map)


def fingerprint(address_map: AddressMap) -> str:
    """SHA-256 of the UTF-8 canonical text, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_text(address_map).encode()).hexdigest()
