"""The line of this machine's hosts file that decides a name, if one does."""

from __future__ import annotations

from collections.abc import Container
from ipaddress import ip_address
from pathlib import Path

HOSTS = Path("/etc/hosts")


def deciding_line(host: str, addresses: Container[str]) -> str | None:
    """The line that has the name and one of the addresses that it was resolved to."""
    try:
        return line_for(HOSTS.read_text("utf-8", "replace"), host, addresses)
    except OSError:
        return None


def line_for(text: str, host: str, addresses: Container[str]) -> str | None:
    """The same in the text of a hosts file; a name's own machine, `localhost`, is no news."""
    name = host.lower().rstrip(".")
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        known = name in map(str.lower, names) and name != "localhost"
        if known and _canonical(address) in addresses:
            return " ".join((address, *names))
    return None


def _canonical(address: str) -> str:
    try:
        return str(ip_address(address))
    except ValueError:
        return "none"
