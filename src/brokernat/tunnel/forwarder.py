"""What a way to open forwards has to offer; `ssh.py` and `commands.py` have the ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from brokernat.address import Endpoint
from brokernat.errors import NothingReachableError


@dataclass(frozen=True, slots=True)
class Forward:
    """Connections to `local`, on this machine, end at `target`, as the far end of the tunnel dials it."""

    target: Endpoint
    local: Endpoint

    def __str__(self) -> str:
        return f"{self.target} at {self.local}"


class PortTakenError(Exception):
    """Another program listens at the forward's local port."""


class Forwarder(Protocol):
    """A way to open forwards. Whatever it starts is ended by its workspace."""

    def __str__(self) -> str:
        """The way, as people name it: `ssh user@bastion`."""

    def open(self, forward: Forward, *, ask: bool) -> None:
        """Open one forward, and before it what it rests on.

        Args:
            ask: whether a password or an unknown host key may be asked for at the terminal.

        Raises:
            PortTakenError: the local port.
            TunnelFailedError: anything else.
            MissingToolError: the program is not installed.
        """

    def alive(self, forward: Forward) -> bool:
        """Whether a forward still takes connections; never waits."""

    def renew(self, forward: Forward) -> None:
        """End a forward whose other end may be gone although it takes connections, so that it is opened again."""

    def unit(self, forward: Forward) -> object:
        """What ends together with the forward: equal for all that share one connection."""

    def reason(self, forward: Forward) -> str:
        """What the program has reported last about it; empty if nothing."""


class TunnelFailedError(NothingReachableError):
    """A forward cannot be opened, or what answers behind it is not what was asked for."""
