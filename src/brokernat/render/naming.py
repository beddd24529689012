"""Names of tables, chains and sections, made from a cluster's name: one cluster's file never replaces another's."""

from __future__ import annotations

import hashlib
import re

_LIMIT = 28
"""The longest name of an iptables chain; the others take more."""
_PREFIX = "brokernat_"
_DIGEST = 4


def identifier(cluster: str) -> str:
    """`brokernat_` and the cluster's name in letters, digits and `_`; a digest tells apart what that makes equal."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", cluster)
    room = _LIMIT - len(_PREFIX)
    if plain != cluster or len(plain) > room:
        digest = hashlib.sha256(cluster.encode()).hexdigest()[:_DIGEST]
        plain = f"{plain[: room - _DIGEST - 1]}_{digest}"
    return f"{_PREFIX}{plain}"
