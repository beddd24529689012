"""Faults of a network: packets from one place to an endpoint are dropped, refused or lost now and then, until healed.

They work on each packet, so connections that exist suffer as well: a drop is a cable that was pulled, not a closed
port.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from brokernat.address import Endpoint
from brokernat.testbed.namespaces import Namespace

_TABLE = "inet brokernat_faults"
_VERDICTS = re.compile(r"(numgen random mod 100 < \d+ )?counter (drop|reject with tcp reset)")
_COUNTED = re.compile(r"counter packets (\d+)")


class Faults:
    """The faults of what one namespace sends."""

    def __init__(self, place: Namespace) -> None:
        self._place = place

    @contextmanager
    def dropped(self, endpoint: Endpoint) -> Iterator[None]:
        """A black hole: nothing arrives, nothing is said."""
        with self._rule(endpoint, "counter drop"):
            yield

    @contextmanager
    def refused(self, endpoint: Endpoint) -> Iterator[None]:
        """Each packet is answered with a reset."""
        with self._rule(endpoint, "counter reject with tcp reset"):
            yield

    @contextmanager
    def lossy(self, endpoint: Endpoint, percent: int) -> Iterator[None]:
        """`percent` of the packets get lost, at random."""
        with self._rule(endpoint, f"numgen random mod 100 < {percent} counter drop"):
            yield

    def packets(self) -> int:
        """How many packets the faults in force have met so far; a test that is met by none proves nothing."""
        return sum(map(int, _COUNTED.findall(self._place.run("nft", "list", "table", *_TABLE.split()))))

    def heal(self) -> None:
        """End all faults of this place."""
        self._load(f"table {_TABLE}\ndelete table {_TABLE}\n")

    @contextmanager
    def _rule(self, endpoint: Endpoint, verdict: str) -> Iterator[None]:
        assert _VERDICTS.fullmatch(verdict), verdict
        self._load(_fault_rules(endpoint, verdict))
        try:
            yield
        finally:
            self.heal()

    def _load(self, rules: str) -> None:
        self._place.run("nft", "-f", "-", text=rules)


def _fault_rules(endpoint: Endpoint, verdict: str) -> str:
    """A file for `nft -f`: the verdict for what is sent to the endpoint."""
    family = "ip6" if ":" in endpoint.host else "ip"
    return f"""table {_TABLE} {{
    chain output {{
        type filter hook output priority filter; policy accept;
        {family} daddr {endpoint.host} tcp dport {endpoint.port} {verdict}
    }}
    chain forward {{
        type filter hook forward priority filter; policy accept;
        {family} daddr {endpoint.host} tcp dport {endpoint.port} {verdict}
    }}
}}
"""
